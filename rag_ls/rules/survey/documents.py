"""Writes ARCHITECTURE.yml from a survey."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rag_ls.rules.other_tools import SECTIONS
from rag_ls.rules.survey.findings import MAX_EXAMPLES, SourceLine, SurveyFinding
from rag_ls.rules.survey.stacks import Stack
from rag_ls.rules.survey.survey import Survey
from rag_ls.rules.survey.yaml_text import comment, flow_list, quote

NO_PAGES: Mapping[str, str] = {}
_MAX_EXCEPTIONS = 10
MAX_LISTED = 50
"""The number of endpoints, and of events, that the document names."""
_BELOW = ", below a prefix, where another file mounts it"

_HEADER = """\
# The architecture of this project. rag-ls wrote this file from the code: each claim says how often the code shows it
# (`count`, and `of` how many where there is a total; without one, the code may have more in forms that rag-ls does not read),
# and where (`examples`).
# Edit it: correct what is not meant so, remove what is chance, and add what the code cannot say.
# rag-ls does not write over it, unless you ask for that with `force`.
# The section `rules:` holds what a machine checks: `rag-ls check`, and the editor. Each rule is a note (`info`) so far, and
# names its known exceptions; write `error` for `info` where it is meant. docs/rules.md of rag-ls describes it.
"""


def architecture_yaml(found: Survey, name: str, pages: Mapping[str, str] = NO_PAGES) -> str:
    """The text of ARCHITECTURE.yml; a key that would have no content is left out. `pages` has the document of each topic."""
    lines = [*_HEADER.splitlines(), "", *_project(found, name)]
    sections = dict(zip(SECTIONS, _sections(found), strict=True))
    for key, section in sections.items():
        if content := list(section):
            lines += ["", f"{key}:", *content]
    if rules := [
        line for finding in ruled_findings(found) for line in rule_text(finding, pages.get(finding.topic, ""))
    ]:
        lines += ["", "rules:", *rules]
    return "\n".join(lines) + "\n"


def _sections(found: Survey) -> Iterator[Iterable[str]]:
    yield from (
        _stacks(found.stacks), _claims(found.layers), _claims(found.middleware),
        _claims(found.response_formats), _claims(found.import_conventions), _claims(found.naming),
        _claims(found.error_handling), _claims(found.tests), [*_claims(found.endpoint_patterns), *_endpoints(found)],
        _events(found),
    )  # fmt: skip


def every_finding(found: Survey) -> list[SurveyFinding]:
    """The findings of all topics."""
    topics = (
        found.layers, found.middleware, found.response_formats, found.import_conventions, found.naming,
        found.error_handling, found.tests, found.endpoint_patterns,
    )  # fmt: skip
    return [finding for topic in topics for finding in topic]


def ruled_findings(found: Survey) -> list[SurveyFinding]:
    """The findings that a rule checks."""
    return [finding for finding in every_finding(found) if finding.rule is not None]


def rule_text(finding: SurveyFinding, page: str = "") -> Iterator[str]:
    """The lines of a finding's rule: what it rests on as a comment, and its known exceptions."""
    rule = dict(finding.rule or {})
    places = ", ".join(f"{place.path}:{place.line}" for place in finding.examples)
    yield "  " + comment(f"{finding.claim}: {finding.evidence()} ({places})")
    yield f"  - id: {quote(str(rule.pop('id')))}"
    message = rule.pop("message", "")
    for key, value in rule.items():
        yield f"    {key}: {_flow(value)}"
    yield f"    message: {quote(str(message))}"
    yield "    severity: info"
    if page:
        yield f"    see: {quote(page)}"
    if exceptions := dict.fromkeys(finding.exceptions):
        yield "    exceptions:"
        yield from (f"      - {quote(each)}" for each in exceptions)


def _flow(value: object) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _project(found: Survey, name: str) -> Iterator[str]:
    yield "project:"
    yield f"  name: {quote(name)}"
    if found.frontend is not None:
        yield f"  frontend: {quote(found.frontend or '.')}"
    if found.backend is not None:
        yield f"  backend: {quote(found.backend or '.')}"
    yield f"  files_read: {found.files}"
    if found.unread:
        yield f"  files_not_read: {found.unread}  # too many to read all: claims, and exceptions of rules, are of those that were"
    if found.broken:
        more = f"  # and {len(found.broken) - MAX_LISTED} more" if len(found.broken) > MAX_LISTED else ""
        yield f"  files_that_do_not_parse: {flow_list(found.broken[:MAX_LISTED])}{more}"


def _stacks(stacks: Iterable[Stack]) -> Iterator[str]:
    for stack in stacks:
        yield f"  - folder: {quote(stack.folder or '.')}"
        yield f"    role: {stack.role}"
        yield f"    language: {quote(stack.language)}"
        yield f"    manifest: {quote(stack.manifest)}"
        if stack.frameworks:
            yield f"    frameworks: {flow_list(stack.frameworks)}"


def _claims(findings: Iterable[SurveyFinding]) -> Iterator[str]:
    """The claims that no rule checks: the others stand at their rules."""
    for finding in findings:
        if finding.rule is None:
            yield from _entry(finding.claim, finding.count, finding.total, finding.examples, finding.exceptions)


def _entry(
    claim: str, count: int, total: int, examples: Iterable[SourceLine], exceptions: Sequence[str] = ()
) -> Iterator[str]:
    yield f"  - claim: {quote(claim)}"
    yield f"    count: {count}"
    if total:
        yield f"    of: {total}"
    if shown := list(dict.fromkeys(f"{place.path}:{place.line}" for place in examples)):
        yield f"    examples: {flow_list(shown)}"
    if exceptions:
        yield f"    exceptions: {flow_list(tuple(exceptions[:_MAX_EXCEPTIONS]))}"


def _endpoints(found: Survey) -> Iterator[str]:
    """One entry for each file, with the routes that it declares."""
    by_file: dict[str, list[tuple[str, int]]] = {}
    for path, endpoint in found.endpoints:
        by_file.setdefault(path, []).append((f"{endpoint.method} {endpoint.route}", endpoint.line))
    below = frozenset(path for path, each in found.endpoints if each.is_mounted)
    yield from _inventory(by_file, "routes", "endpoint", len(found.endpoints), below)


def _events(found: Survey) -> Iterator[str]:
    by_file: dict[str, list[tuple[str, int]]] = {}
    for path, event in found.events:
        by_file.setdefault(path, []).append((f"{event.name} ({event.direction})", event.line))
    yield from _inventory(by_file, "events", "event", len(found.events))


def _inventory(
    by_file: dict[str, list[tuple[str, int]]], key: str, what: str, total: int, below: Collection[str] = ()
) -> Iterator[str]:
    """Write the things that each file declares; past the limit only how many more there are.

    `below` are the files whose routes others may put below a prefix.
    """
    left = MAX_LISTED
    for path, things in by_file.items():
        if left <= 0:
            break
        shown = things[:left]
        left -= len(shown)
        claim = (
            f"`{path}` writes out {len(things)} {what}{'s' if len(things) > 1 else ''}{_BELOW if path in below else ''}"
        )
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
