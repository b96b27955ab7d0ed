"""Finds how errors are declared, raised and passed on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rag_ls.languages import family_of, find_language
from rag_ls.languages.patterns import compile_lines
from rag_ls.rules.survey.findings import MIN_COUNT, SourceLine, SurveyFinding, Tally
from rag_ls.rules.survey.naming import title_of_files
from rag_ls.rules.survey.sources import SurveyedFile
from rag_ls.rules.survey.traces import Trace, Traces

TOPIC = "errors"

_ERROR_NAME = re.compile(r"(?:Error|Exception|Fault|Failure)$")
# Built-in errors that code raises or derives from if it has no base class of its own.
_BUILT_IN = re.compile(
    r"(?:\w+[.\\])*(?:Error|Exception|BaseException|Throwable|StandardError|\w*(?:Runtime|Value|Type|Key|Range|Syntax|NotImplemented"
    r"|Argument)Error|\w*(?:Runtime|IllegalArgument|IllegalState|NullPointer|UnsupportedOperation|Argument|ArgumentNull"
    r"|InvalidOperation|NotImplemented|NotSupported|InvalidArgument|Logic|HTTP|Http|Domain|UnexpectedValue)Exception)"
)
_GO_CHECK = re.compile(r"\bif\s[^\n{]*\berr\s*!=\s*nil\s*\{")
_GO_PLAIN = "return the error as it is"
_GO_WAYS = (
    ("wrap the error with `fmt.Errorf` and `%w`", re.compile(r"fmt\.Errorf\([^\n]*%w")),
    ("wrap the error with `errors.Wrap`", re.compile(r"\b(?:errors|xerrors)\.(?:Wrap|Wrapf|WithMessage|WithStack)\(")),
    (_GO_PLAIN, re.compile(r"\breturn\b[^\n(]*\berr\s*$", re.MULTILINE)),
    ("make a new error with `fmt.Errorf`, without `%w`", re.compile(r"fmt\.Errorf\(")),
)
_RUST_RESULT = re.compile(r"\bfn\s+\w+[^{};]{0,600}?->\s*((?:[\w:]+::)?Result)\s*<")
_RUST_LAST = re.compile(r",\s*([\w:]+(?:<[^<>]*>)?)\s*$")


def error_traces(source: SurveyedFile) -> Iterator[Trace]:
    """The classes of a file, the errors that it raises, and how it passes on those of others."""
    family, syntax = family_of(source.language), find_language(source.language).errors
    if syntax is not None:
        for match in source.find(compile_lines(syntax.declared), "class"):
            bases = tuple(re.split(r"[.:\\]+", base.strip())[-1] for base in match[2].split(","))
            yield Trace("class", family, match[1], source.place(match).line, bases)
        for match in source.find(compile_lines(syntax.raised), syntax.raise_word):
            # `raise error` only passes on a caught error.
            if match[1].split(".")[-1][:1].isupper():
                yield Trace("raised", family, match[1].lstrip("\\"), source.place(match).line)
    if source.language == "go":
        for match in source.find(_GO_CHECK, "!= nil"):
            body = source.code[match.end() : source.closing(match.end() - 1, 1000)]
            way = next((name for name, pattern in _GO_WAYS if pattern.search(body)), "")
            yield Trace("passed on", family, way, source.place(match).line)
    elif source.language == "rust":
        for match in source.find(_RUST_RESULT):
            yield Trace("result", family, f"{match[1]}<_, {_rust_error(source, match)}>", source.place(match).line)


def error_findings(traces: Traces, languages: Mapping[str, str]) -> Iterator[SurveyFinding]:
    """The conventions that nearly all errors of a language follow."""
    for family, classes in sorted(traces.classes.items()):
        yield from _class_findings(title_of_files(family, (languages[place.path] for _, place in classes)), classes)
    for family, raised in traces.of("raised"):
        if (name := raised.convention()) and not _BUILT_IN.fullmatch(name):
            title = title_of_files(family, (languages[path] for path in raised.files[name]))
            yield raised.finding(TOPIC, f"{title} code raises `{name}`", name)
    for _, ways in traces.of("passed on"):
        if (way := ways.convention()) and way != _GO_PLAIN:
            yield ways.finding(TOPIC, f"Checks of `err != nil` {way}", way)
    for _, results in traces.of("result"):
        if (name := results.convention()) and ", >" not in name:
            yield results.finding(TOPIC, f"Rust functions that can fail return `{name}`", name)


def _class_findings(title: str, classes: Sequence[tuple[Trace, SourceLine]]) -> Iterator[SurveyFinding]:
    """The base that the project's own errors share: directly, or through another of its own."""
    base_of = _error_bases([trace for trace, _ in classes])
    highest = {name: _highest_base(name, base_of) for name in base_of}
    tally = Tally()
    for trace, place in classes:
        # The base of the others does not derive from itself.
        if trace.name in base_of and trace.name not in highest.values():
            tally.add(highest[trace.name], place)
    if len(base_of) >= MIN_COUNT and (base := tally.convention()) and not _BUILT_IN.fullmatch(base):
        yield tally.finding(TOPIC, f"{title} error classes of the project derive from `{base}`", base)


def _highest_base(name: str, base_of: Mapping[str, str]) -> str:
    """The highest base of a class that the project declares; its base from outside, where that is the only one."""
    base, seen = base_of[name], {name}
    while base_of.get(base, "") in base_of and base not in seen:
        seen.add(base)
        base = base_of[base]
    return base


def _error_bases(classes: Sequence[Trace]) -> dict[str, str]:
    """The base of each class that is an error: by the name of its base, or because its base is one."""
    found: dict[str, str] = {}
    grown = True
    while grown:
        grown = False
        for trace in classes:
            base = next((base for base in trace.bases if base in found or _ERROR_NAME.search(base)), "")
            if base and base != trace.name and trace.name not in found:
                found[trace.name] = base
                grown = True
    return found


def _rust_error(source: SurveyedFile, match: re.Match[str]) -> str:
    """The second type of a `Result`; "" for an alias with one."""
    depth = 0
    for index in range(match.end() - 1, min(len(source.bare), match.end() + 400)):
        mark = source.bare[index]
        depth += (mark in "<([") - (mark in ")]" or (mark == ">" and source.bare[index - 1] != "-"))
        if depth == 0:
            inner = source.bare[match.end() : index]
            last = _RUST_LAST.search(inner)
            return last[1] if last and inner.count("(") == inner.count(")") and _is_outer(inner, last.start()) else ""
    return ""


def _is_outer(inner: str, comma: int) -> bool:
    """Whether a comma separates the types of the `Result` itself."""
    before = inner[:comma]
    return all(before.count(a) == before.count(b) for a, b in ("<>", "()", "[]"))
