"""Writes docs/patterns/*.md from a survey: one document for each topic that has a pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rag_ls.rules.survey.findings import MAX_EXAMPLES, MIN_COUNT, SourceLine, SurveyFinding
from rag_ls.rules.survey.survey import CodeExcerpt, Survey
from rag_ls.util.text import code_span, count_of, fence, fold

_EVENTS = "WebSocket events"
FOLDER = "docs/patterns"
_MAX_EXCERPTS = 3
_MAX_FILES = 20
_MAX_EVENTS = 50
_FENCE_NAMES = {"csharp": "cs", "typescript": "ts"}


def pattern_documents(found: Survey) -> dict[str, str]:
    """The documents by path; a topic without a pattern has none."""
    topics: tuple[tuple[str, str, tuple[SurveyFinding, ...], list[str]], ...] = (
        ("api-endpoints", "API endpoints", found.endpoint_patterns, list(_endpoint_files(found))),
        ("error-handling", "Error handling", found.error_handling, []),
        ("testing", "Tests", found.tests, []),
        ("imports", "Imports", found.import_conventions, []),
        ("middleware", "Middleware", found.middleware, []),
        ("responses", "Responses", found.response_formats, []),
        ("naming", "Names of files", found.naming, []),
        ("layers", "Layers", found.layers, []),
        ("events", _EVENTS, (), list(_events(found))),
    )
    return {
        f"{FOLDER}/{name}.md": _document(title, word_counts(name, found), findings, more, found)
        for name, title, findings, more in topics
        if findings or more
    }


def word_counts(name: str, found: Survey) -> str:
    """The things that were counted, in a sentence."""
    if name == "testing":
        return "rag-ls counted this in the test files of the project."
    left_out = "tests, examples, vendored and generated files do not count"
    what = {
        "api-endpoints": count_of(len(found.endpoints), "endpoint") if found.endpoints else "this",
        "events": count_of(
            len(found.events), "place that emits or handles an event", "places that emit or handle an event"
        ),
        "layers": "the imports between the folders",
    }.get(name, "this")
    return f"rag-ls counted {what} in {found.describe_files('source file')} of the product; {left_out}."


def _document(title: str, sentence: str, findings: tuple[SurveyFinding, ...], more: list[str], found: Survey) -> str:
    lines = [f"# {title}", "", sentence, ""]
    lines += [_item(finding) for finding in findings]
    if findings and more:
        lines.append("")
    lines += more
    places = [finding.examples[0] for finding in findings if finding.examples]
    if not places and more:
        places = _first_places(found, title)
    by_place = {excerpt.place: excerpt for excerpt in found.excerpts}
    for place in [place for place in dict.fromkeys(places) if place in by_place][:_MAX_EXCERPTS]:
        lines += ["", *_fence_excerpt(by_place[place])]
    return "\n".join(lines).rstrip() + "\n"


def _first_places(found: Survey, title: str) -> list[SourceLine]:
    if title == _EVENTS:
        return [SourceLine(path, event.line) for path, event in found.events[:1]]
    return [SourceLine(path, endpoint.line) for path, endpoint in found.endpoints[:1]]


def _item(finding: SurveyFinding) -> str:
    places = ", ".join(code_span(f"{place.path}:{place.line}") for place in finding.examples)
    return f"- {fold(finding.claim)}: {finding.evidence()}" + (f" ({places})." if places else ".")


def _fence_excerpt(excerpt: CodeExcerpt) -> Iterator[str]:
    """The lines in a fence that they do not end."""
    yield code_span(f"{excerpt.place.path}:{excerpt.place.line}")
    yield ""
    yield from fence(excerpt.text, _FENCE_NAMES.get(excerpt.language, excerpt.language)).split("\n")


def _endpoint_files(found: Survey) -> Iterator[str]:
    """The files with the most endpoints, where there are enough to speak of a pattern."""
    if len(found.endpoints) < MIN_COUNT:
        return
    first = {path: endpoint.line for path, endpoint in reversed(found.endpoints)}
    counts = Counter(path for path, _ in found.endpoints)
    methods = Counter(endpoint.method for _, endpoint in found.endpoints)
    by_method = ", ".join(f"{count} {method}" for method, count in methods.most_common())
    yield f"The {len(found.endpoints)} endpoints by method: {by_method}. By file:"
    yield ""
    for path, count in counts.most_common(_MAX_FILES):
        at = code_span(f"{path}:{first[path]}")
        yield f"- {code_span(path)} answers {count} of {len(found.endpoints)} (the first at {at})."
    if len(counts) > _MAX_FILES:
        more = count_of(len(counts) - _MAX_FILES, "more file answers", "more files answer")
        yield f"- {more} endpoints."


def _events(found: Survey) -> Iterator[str]:
    """The events by name."""
    places: dict[tuple[str, str], list[SourceLine]] = {}
    for path, event in found.events:
        places.setdefault((event.name, event.direction), []).append(SourceLine(path, event.line))
    for (name, direction), where in list(places.items())[:_MAX_EVENTS]:
        shown = ", ".join(
            code_span(f"{place.path}:{place.line}") for place in list(dict.fromkeys(where))[:MAX_EXAMPLES]
        )
        # No count: an event of a name that code makes is not found.
        yield f"- {code_span(name)} is {direction} ({shown})."
    if len(places) > _MAX_EVENTS:
        yield f"- {len(places) - _MAX_EVENTS} more."
