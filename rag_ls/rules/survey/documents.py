"""Writes ARCHITECTURE.yml and docs/patterns/*.md, a page for each topic, from a survey."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rag_ls.rules.survey.findings import MAX_EXAMPLES, SourceLine, SurveyFinding
from rag_ls.rules.survey.stacks import Stack
from rag_ls.rules.survey.survey import CodeExcerpt, Survey
from rag_ls.util.text import code_span, count_of, fence, fold

ARCHITECTURE = "ARCHITECTURE.yml"
FOLDER = "docs/patterns"
PAGES = {
    "layers": ("layers", "Layers"), "middleware": ("middleware", "Middleware"), "responses": ("responses", "Responses"),
    "imports": ("imports", "Imports"), "naming": ("naming", "Names of files"), "errors": ("error-handling", "Error handling"),
    "tests": ("testing", "Tests"),
}  # fmt: skip
"""The name and the title of the page of each topic; the topics are keys of ARCHITECTURE.yml, in this order."""
MAX_LISTED = 50
"""The number of endpoints, and of events, that a document names."""
_MAX_EXCEPTIONS = 10
_MAX_EXCERPTS = 3
_BELOW = ", below a prefix, where one is set elsewhere"
_FENCE_NAMES = {"csharp": "cs", "typescript": "ts"}
# Line ends, marks and halves of characters that JSON leaves as they are and YAML does not.
_SPECIAL = re.compile("[\\x7f-\\x9f\\u2028\\u2029\\ufeff\\ufffe\\uffff\\ud800-\\udfff]")

_HEADER = """\
# The architecture of this project. rag-ls wrote this file from the code: each claim says how often the code shows it
# (`count`, and `of` how many where there is a total; without one, the code may have more in forms that rag-ls does not read),
# and where (`examples`).
# Edit it: correct what is not meant so, remove what is chance, and add what the code cannot say.
# rag-ls does not write over it, unless you ask for that with `force`.
# The section `rules:` holds what a machine checks: `rag-ls check`, and the editor. Each rule is a note (`info`) so far, and
# names its known exceptions; write `error` for `info` where it is meant. docs/rules.md of rag-ls describes it.
"""


def architecture_yaml(found: Survey, name: str, *, with_pages: bool = False) -> str:
    """The text of ARCHITECTURE.yml; a key that would have no content is left out. With pages, rules name that of their topic."""
    sections: dict[str, Iterable[str]] = {"stacks": _write_stacks(found.stacks)}
    # The claims that a rule checks stand there.
    sections |= {topic: _write_claims(each for each in found.about(topic) if each.rule is None) for topic in PAGES}
    sections["endpoints"] = _write_endpoints(found)
    sections["events"] = _write_events(found)
    sections["rules"] = [line for each in ruled_findings(found) for line in rule_text(each, with_page=with_pages)]
    lines = [*_HEADER.splitlines(), "", *_write_project(found, name)]
    for key, section in sections.items():
        if content := list(section):
            lines += ["", f"{key}:", *content]
    return "\n".join(lines) + "\n"


def ruled_findings(found: Survey) -> list[SurveyFinding]:
    """The findings that a rule checks."""
    return [finding for finding in found.findings if finding.rule is not None]


def rule_text(finding: SurveyFinding, *, with_page: bool = False) -> Iterator[str]:
    """The lines of a finding's rule: what it rests on as a comment, and its known exceptions."""
    rule = dict(finding.rule or {})
    places = ", ".join(f"{place.path}:{place.line}" for place in finding.examples)
    yield "  " + write_comment(f"{finding.claim}: {finding.evidence()} ({places})")
    yield f"  - id: {quote_text(str(rule.pop('id')))}"
    for key, value in rule.items():
        yield f"    {key}: {_write_value(value)}"
    yield "    severity: info"
    if with_page:
        yield f"    see: {quote_text(f'{FOLDER}/{PAGES[finding.topic][0]}.md')}"
    if exceptions := dict.fromkeys(finding.exceptions):
        yield "    exceptions:"
        yield from (f"      - {quote_text(each)}" for each in exceptions)


def quote_text(text: str) -> str:
    """A string as a scalar of YAML, with everything escaped that YAML reads as something else."""
    return _SPECIAL.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def write_comment(text: str) -> str:
    """A line of YAML that is a comment, whatever the text holds."""
    return "# " + " ".join(text.split())


def _write_value(value: object) -> str:
    """A value on one line of YAML."""
    if isinstance(value, str):
        return quote_text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_write_value, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _write_project(found: Survey, name: str) -> Iterator[str]:
    yield "project:"
    yield f"  name: {quote_text(name)}"
    if found.frontend is not None:
        yield f"  frontend: {quote_text(found.frontend or '.')}"
    if found.backend is not None:
        yield f"  backend: {quote_text(found.backend or '.')}"
    yield f"  files_read: {found.files}"
    if found.unread:
        yield f"  files_not_read: {found.unread}  # too many to read all: claims, and exceptions of rules, are of those that were"
    if found.broken:
        more = f"  # and {len(found.broken) - MAX_LISTED} more" if len(found.broken) > MAX_LISTED else ""
        yield f"  files_that_do_not_parse: {_write_value(found.broken[:MAX_LISTED])}{more}"


def _write_stacks(stacks: Iterable[Stack]) -> Iterator[str]:
    for stack in stacks:
        yield f"  - folder: {quote_text(stack.folder or '.')}"
        yield f"    role: {stack.role}"
        yield f"    language: {quote_text(stack.language)}"
        yield f"    manifest: {quote_text(stack.manifest)}"
        if stack.frameworks:
            yield f"    frameworks: {_write_value(stack.frameworks)}"


def _write_claims(findings: Iterable[SurveyFinding]) -> Iterator[str]:
    for each in findings:
        yield from _write_claim(each.claim, each.count, each.total, each.examples, each.exceptions)


def _write_claim(
    claim: str, count: int, total: int, examples: Iterable[SourceLine], exceptions: Sequence[str] = ()
) -> Iterator[str]:
    yield f"  - claim: {quote_text(claim)}"
    yield f"    count: {count}"
    if total:
        yield f"    of: {total}"
    if shown := list(dict.fromkeys(f"{place.path}:{place.line}" for place in examples)):
        yield f"    examples: {_write_value(shown[:MAX_EXAMPLES])}"
    if exceptions:
        yield f"    exceptions: {_write_value(exceptions[:_MAX_EXCEPTIONS])}"


def _write_endpoints(found: Survey) -> Iterator[str]:
    below = {path for path, each in found.endpoints if each.is_mounted}
    things = [(path, f"{each.method} {each.route}", each.line) for path, each in found.endpoints]
    yield from _write_inventory(things, "routes", "endpoint", dict.fromkeys(below, _BELOW))


def _write_events(found: Survey) -> Iterator[str]:
    things = [(path, f"{each.name} ({each.direction})", each.line) for path, each in found.events]
    yield from _write_inventory(things, "events", "event", {})


def _write_inventory(
    things: Sequence[tuple[str, str, int]], key: str, noun: str, notes: Mapping[str, str]
) -> Iterator[str]:
    """The things that each file declares, with its path and their lines; past the limit only how many more there are."""
    counts = Counter(path for path, _, _ in things)
    shown: dict[str, list[tuple[str, int]]] = {}
    for path, text, line in things[:MAX_LISTED]:
        shown.setdefault(path, []).append((text, line))
    for path, of_file in shown.items():
        claim = f"`{path}` writes out {count_of(counts[path], noun)}{notes.get(path, '')}"
        yield from _write_claim(claim, counts[path], len(things), [SourceLine(path, line) for _, line in of_file])
        yield f"    {key}:"
        yield from (f"      - {quote_text(text)}" for text, _ in of_file)
    if len(things) > MAX_LISTED:
        yield "  " + write_comment(f"and {len(things) - MAX_LISTED} more")


def pattern_pages(found: Survey) -> dict[str, tuple[str, str]]:
    """The text of each page by its path, with what it holds in short; a topic without a claim has no page."""
    return {
        f"{FOLDER}/{name}.md": (_write_page(topic, title, found), count_of(len(found.about(topic)), "claim"))
        for topic, (name, title) in PAGES.items()
        if found.about(topic)
    }


def _write_page(topic: str, title: str, found: Survey) -> str:
    findings = found.about(topic)
    lines = [f"# {title}", "", _describe_files(topic, found), "", *map(_write_item, findings)]
    excerpts = {each.place: each for each in found.excerpts}
    places = dict.fromkeys(each.examples[0] for each in findings if each.examples)
    for place in [place for place in places if place in excerpts][:_MAX_EXCERPTS]:
        lines += ["", *_fence_excerpt(excerpts[place])]
    return "\n".join(lines).rstrip() + "\n"


def _describe_files(topic: str, found: Survey) -> str:
    """The files that a page's claims are about, in a sentence."""
    if topic == "tests":
        return "rag-ls counted this in the test files of the project."
    left_out = "tests, examples, vendored and generated files do not count"
    return f"rag-ls counted this in {found.describe_files('source file')} of the product; {left_out}."


def _write_item(finding: SurveyFinding) -> str:
    places = ", ".join(code_span(f"{place.path}:{place.line}") for place in finding.examples)
    return f"- {fold(finding.claim)}: {finding.evidence()}" + (f" ({places})." if places else ".")


def _fence_excerpt(excerpt: CodeExcerpt) -> Iterator[str]:
    """The lines in a fence that they do not end."""
    yield code_span(f"{excerpt.place.path}:{excerpt.place.line}")
    yield ""
    yield from fence(excerpt.text, _FENCE_NAMES.get(excerpt.language, excerpt.language)).split("\n")
