"""Writes ARCHITECTURE.yml from a survey."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rag_ls.rules.survey.findings import MAX_EXAMPLES, SourceLine, SurveyFinding
from rag_ls.rules.survey.patterns import pattern_documents
from rag_ls.rules.survey.stacks import Stack
from rag_ls.rules.survey.survey import Survey
from rag_ls.rules.survey.yaml_text import comment, flow_list, quote

__all__ = ["architecture_yaml", "pattern_documents"]

MAX_LISTED = 50
"""The number of endpoints, and of events, that the document names."""

_HEADER = """\
# The architecture of this project. rag-ls wrote this file from the code: each claim says how often the code shows it
# (`count`, and `of` how many where there is a total), and where (`examples`).
# Edit it: correct what is not meant so, remove what is chance, and add what the code cannot say.
# rag-ls does not write over it, unless you ask for that with `force`.
# A section `rules:` may hold rules that a machine checks; docs/rules.md describes it.
"""


def architecture_yaml(found: Survey, name: str) -> str:
    """The text of ARCHITECTURE.yml; a key that would have no content is left out."""
    lines = [*_HEADER.splitlines(), "", *_project(found, name)]
    sections = (
        ("stacks", _stacks(found.stacks)),
        ("layers", _claims(found.layers)),
        ("middleware", _claims(found.middleware)),
        ("decorators", _claims(found.decorators)),
        ("responses", _claims(found.response_formats)),
        ("imports", _claims(found.import_conventions)),
        ("naming", _claims(found.naming)),
        ("errors", _claims(found.error_handling)),
        ("tests", _claims(found.tests)),
        ("endpoints", [*_claims(found.endpoint_patterns), *_endpoints(found)]),
        ("events", _events(found)),
    )
    for key, content in sections:
        if content := list(content):
            lines += ["", f"{key}:", *content]
    return "\n".join(lines) + "\n"


def _project(found: Survey, name: str) -> Iterator[str]:
    yield "project:"
    yield f"  name: {quote(name)}"
    if found.frontend is not None:
        yield f"  frontend: {quote(found.frontend or '.')}"
    if found.backend is not None:
        yield f"  backend: {quote(found.backend or '.')}"
    yield f"  files_read: {found.files}"


def _stacks(stacks: Iterable[Stack]) -> Iterator[str]:
    for stack in stacks:
        yield f"  - folder: {quote(stack.folder or '.')}"
        yield f"    role: {stack.role}"
        yield f"    language: {quote(stack.language)}"
        yield f"    manifest: {quote(stack.manifest)}"
        if stack.frameworks:
            yield f"    frameworks: {flow_list(stack.frameworks)}"


def _claims(findings: Iterable[SurveyFinding]) -> Iterator[str]:
    for finding in findings:
        yield from _entry(finding.claim, finding.count, finding.total, finding.examples)


def _entry(claim: str, count: int, total: int, examples: Iterable[SourceLine]) -> Iterator[str]:
    yield f"  - claim: {quote(claim)}"
    yield f"    count: {count}"
    if total:
        yield f"    of: {total}"
    if shown := list(dict.fromkeys(f"{place.path}:{place.line}" for place in examples)):
        yield f"    examples: {flow_list(shown)}"


def _endpoints(found: Survey) -> Iterator[str]:
    """One entry for each file, with the routes that it declares."""
    by_file: dict[str, list[tuple[str, int]]] = {}
    for path, endpoint in found.endpoints:
        by_file.setdefault(path, []).append((f"{endpoint.method} {endpoint.route}", endpoint.line))
    yield from _inventory(by_file, "routes", "endpoint", len(found.endpoints))


def _events(found: Survey) -> Iterator[str]:
    by_file: dict[str, list[tuple[str, int]]] = {}
    for path, event in found.events:
        by_file.setdefault(path, []).append((f"{event.name} ({event.direction})", event.line))
    yield from _inventory(by_file, "events", "event", len(found.events))


def _inventory(by_file: dict[str, list[tuple[str, int]]], key: str, what: str, total: int) -> Iterator[str]:
    """The things that each file declares; past the limit only how many more there are."""
    left = MAX_LISTED
    for path, things in by_file.items():
        if left <= 0:
            break
        shown = things[:left]
        left -= len(shown)
        claim = f"`{path}` declares {len(things)} {what}{'s' if len(things) > 1 else ''}"
        yield from _entry(
            claim,
            len(things),
            total,
            [SourceLine(path, line) for line in list(dict.fromkeys(line for _, line in shown))[:MAX_EXAMPLES]],
        )
        yield f"    {key}:"
        yield from (f"      - {quote(text)}" for text, _ in shown)
    if total > MAX_LISTED:
        yield "  " + comment(f"and {total - MAX_LISTED} more")
