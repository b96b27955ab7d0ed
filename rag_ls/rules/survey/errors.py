"""Finds how errors are declared, raised and passed on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rag_ls.languages import family_of, find_language
from rag_ls.languages.patterns import compile_lines
from rag_ls.rules.survey.file_facts import Trace, Traces
from rag_ls.rules.survey.findings import SourceLine, SurveyFinding, Tally
from rag_ls.rules.survey.layout import title_of_files

_ERROR_NAME = re.compile(r"(?:Error|Exception|Fault|Failure)$")
# Built-in errors that code raises or derives from if it has no base class of its own.
_BUILT_IN = re.compile(
    r"(?:\w+[.\\])*(?:Error|Exception|BaseException|Throwable|StandardError|\w*(?:Runtime|Value|Type|Key|Range|Syntax|NotImplemented"
    r"|Argument)Error|\w*(?:Runtime|IllegalArgument|IllegalState|NullPointer|UnsupportedOperation|Argument|ArgumentNull"
    r"|InvalidOperation|NotImplemented|NotSupported|InvalidArgument|Logic|HTTP|Http|Domain|UnexpectedValue)Exception)"
)
_COMMENTED = re.compile(r"^\s*(?://|#|\*|--)|//")
_GO_CHECK = re.compile(r"\bif\s[^\n{]*\berr\s*!=\s*nil\s*\{([^}]{0,1000})")
_GO_WRAPS = {
    "wrap the error with `fmt.Errorf` and `%w`": re.compile(r"fmt\.Errorf\([^\n]*%w"),
    "wrap the error with `errors.Wrap`": re.compile(r"\b(?:errors|xerrors)\.(?:Wrap|Wrapf|WithMessage|WithStack)\("),
}
_RUST_RESULT = re.compile(r"\bfn\s+\w+[^{};]{0,600}?->\s*(?:[\w:]+::)?Result<[^{;]*,\s*([\w:]+)>\s*(?:where\b|\{)")


def find_error_traces(language: str, text: str) -> Iterator[Trace]:
    """The classes of a file, the errors that it raises, and how it passes on those of others."""
    family, syntax = family_of(language), find_language(language).errors
    if syntax is not None:
        for match, line in _find(compile_lines(syntax.declared), text, "class"):
            bases = tuple(re.split(r"[.:\\]+", base.strip())[-1] for base in match[2].split(","))
            yield Trace("class", family, match[1], line, bases)
        for match, line in _find(compile_lines(syntax.raised), text, syntax.raise_word):
            # `raise error` only passes on a caught error.
            if match[1].split(".")[-1][:1].isupper():
                yield Trace("raised", family, match[1].lstrip("\\"), line)
    if language == "go":
        for match, line in _find(_GO_CHECK, text, "err"):
            way = next((name for name, pattern in _GO_WRAPS.items() if pattern.search(match[1])), "")
            yield Trace("passed on", family, f"Checks of `err != nil` {way}" if way else "", line)
    if language == "rust":
        for match, line in _find(_RUST_RESULT, text, "Result<"):
            yield Trace("passed on", family, f"Rust functions that can fail return `Result<_, {match[1]}>`", line)


def _find(pattern: re.Pattern[str], text: str, mark: str) -> Iterator[tuple[re.Match[str], int]]:
    """The matches that stand in no comment, with their lines; to look for the mark that all hold first is much faster."""
    for match in pattern.finditer(text) if mark in text else ():
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        if not _COMMENTED.search(text[text.rfind("\n", 0, start) + 1 : start + 2]):
            yield match, text.count("\n", 0, start) + 1


def error_findings(traces: Traces, languages: Mapping[str, str]) -> Iterator[SurveyFinding]:
    """The conventions that nearly all errors of a language follow."""
    for family, classes in sorted(traces.classes.items()):
        yield from _class_findings(title_of_files(family, (languages[place.path] for _, place in classes)), classes)
    for family, raised in traces.of("raised"):
        if (name := raised.convention()) and not _BUILT_IN.fullmatch(name):
            title = title_of_files(family, (languages[path] for path in raised.files[name]))
            yield raised.finding("errors", f"{title} code raises `{name}`", name)
    for _, ways in traces.of("passed on"):
        if claim := ways.convention():
            yield ways.finding("errors", claim, claim)


def _class_findings(title: str, classes: Sequence[tuple[Trace, SourceLine]]) -> Iterator[SurveyFinding]:
    """The base that the project's own errors share."""
    named = {base for trace, _ in classes for base in trace.bases}
    tally = Tally()
    for trace, place in classes:
        base = next(filter(_ERROR_NAME.search, trace.bases), "")
        # The base of the others does not derive from itself.
        if base and not (trace.name in named and _BUILT_IN.fullmatch(base)):
            tally.add(base, place)
    if (base := tally.convention()) and not _BUILT_IN.fullmatch(base):
        yield tally.finding("errors", f"{title} error classes of the project derive from `{base}`", base)
