"""Finds how errors are declared, raised, handled and passed on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_ls.languages import family_of, find_language
from rag_ls.languages.conventions import ErrorSyntax
from rag_ls.languages.patterns import compile_lines
from rag_ls.rules.survey.findings import MIN_COUNT, SourceLine, SurveyFinding, Tally, shares
from rag_ls.rules.survey.naming import title_of
from rag_ls.rules.survey.sources import SurveyedFile

TOPIC = "errors"
_MIN_OTHER_SHARE = 0.15

_ERROR_NAME = re.compile(r"(?:Error|Exception|Fault|Failure)$")
_LOGS = re.compile(
    r"\b(?:log|logger|logging|_logger|LOG|LOGGER|Log|Rails\.logger)\b[\w.:]*[.:>]+\s*\w+\s*\(?|\bconsole\.(?:error|warn|log)\("
)
_ACTIONS = (
    ("log the error", _LOGS),
    ("raise an error again", re.compile(r"\braise\b|\bthrow\b")),
    ("pass the error to `next`", re.compile(r"\bnext\s*\(\s*\w")),
)  # fmt: skip
_MAX_HANDLER_LINES = 5

_GO_CHECK = re.compile(r"\bif\s[^\n{]*\berr\s*!=\s*nil\s*\{")
_GO_WAYS = (
    ("wrap the error with `fmt.Errorf` and `%w`", re.compile(r"fmt\.Errorf\([^\n]*%w")),
    ("wrap the error with `errors.Wrap`", re.compile(r"\b(?:errors|xerrors)\.(?:Wrap|Wrapf|WithMessage|WithStack)\(")),
    ("return the error as it is", re.compile(r"\breturn\b[^\n(]*\berr\s*$", re.MULTILINE)),
    ("make a new error with `fmt.Errorf`, without `%w`", re.compile(r"fmt\.Errorf\(")),
    ("log the error", re.compile(r"\b(?:\w*[lL]ogger|log|slog|logrus|zap|klog|glog)(?:\(\))?\.\w+\(")),
)
_GO_SENTINEL = re.compile(r"^[ \t]*(?:var\s+)?(Err[A-Z]\w*)\s*=\s*(?:errors\.New|fmt\.Errorf)\(", re.MULTILINE)
_RUST_RESULT = re.compile(r"\bfn\s+\w+[^{};]{0,600}?->\s*((?:[\w:]+::)?Result)\s*<")
_RUST_LAST = re.compile(r",\s*([\w:]+(?:<[^<>]*>)?)\s*$")


_Class = tuple[str, list[str], SourceLine]
"""A class, the last part of each of its bases, and its place."""


@dataclass(slots=True)
class Errors:
    """Gathers the handling of errors of all files, by language."""

    classes: dict[str, list[_Class]] = field(default_factory=dict)
    """All classes; which are errors is known once all are."""
    raised: dict[str, Tally] = field(default_factory=dict)
    handled: dict[str, Tally] = field(default_factory=dict)
    handlers: dict[str, int] = field(default_factory=dict)
    go: Tally = field(default_factory=Tally)
    go_checks: int = 0
    sentinels: Tally = field(default_factory=Tally)
    results: Tally = field(default_factory=Tally)

    def read(self, source: SurveyedFile) -> None:
        family, syntax = family_of(source.language), find_language(source.language).errors
        if syntax is not None:
            self._classes(source, syntax, family)
            self._raises(source, syntax, family)
            self._handlers(source, syntax, family)
        if source.language == "go":
            self._go(source)
        elif source.language == "rust":
            self._rust(source)

    def _classes(self, source: SurveyedFile, syntax: ErrorSyntax, family: str) -> None:
        for match in source.find(compile_lines(syntax.declared), "class"):
            bases = [re.split(r"[.:\\]+", base.strip())[-1] for base in match[2].split(",")]
            self.classes.setdefault(family, []).append((match[1], bases, source.place(match)))

    def _raises(self, source: SurveyedFile, syntax: ErrorSyntax, family: str) -> None:
        for match in source.find(compile_lines(syntax.raised), syntax.raise_word):
            # `raise error` hands on what was caught.
            if match[1].split(".")[-1][:1].isupper():
                self.raised.setdefault(family, Tally()).add(match[1].lstrip("\\"), source.place(match))

    def _handlers(self, source: SurveyedFile, syntax: ErrorSyntax, family: str) -> None:
        for match in source.find(compile_lines(syntax.handled), syntax.handle_word):
            self.handlers[family] = self.handlers.get(family, 0) + 1
            body = _body(source, match)
            for action, what in _ACTIONS:
                if what.search(body):
                    self.handled.setdefault(family, Tally()).add(action, source.place(match))

    def _go(self, source: SurveyedFile) -> None:
        for match in source.find(_GO_SENTINEL, "Err"):
            self.sentinels.add("sentinels", source.place(match))
        for match in source.find(_GO_CHECK, "!= nil"):
            self.go_checks += 1
            body = source.code[match.end() : source.closing(match.end() - 1, 1000)]
            if way := next((name for name, pattern in _GO_WAYS if pattern.search(body)), ""):
                self.go.add(way, source.place(match))

    def _rust(self, source: SurveyedFile) -> None:
        for match in source.find(_RUST_RESULT):
            error = _rust_error(source, match)
            self.results.add(f"{match[1]}<_, {error}>" if error else f"{match[1]}<_>", source.place(match))

    def findings(self) -> Iterator[SurveyFinding]:
        for family, classes in sorted(self.classes.items()):
            yield from _class_findings(family, classes)
        for family, raised in sorted(self.raised.items()):
            for name in list(shares(raised, _MIN_OTHER_SHARE))[:3]:
                yield raised.finding(TOPIC, f"{title_of(family)} code raises `{name}`", name)
        for family, handled in sorted(self.handled.items()):
            for action in handled.most_common():
                if handled.count(action) >= _MIN_OTHER_SHARE * self.handlers[family]:
                    yield handled.finding(TOPIC, f"{title_of(family)} handlers {action}", action, self.handlers[family])
        for way in self.go.most_common():
            if self.go.count(way) < _MIN_OTHER_SHARE * self.go_checks:
                continue
            yield self.go.finding(TOPIC, f"Checks of `err != nil` {way}", way, self.go_checks)
        for name in self.sentinels.most_common():
            yield self.sentinels.finding(TOPIC, "Go packages declare errors as variables named `Err...`", name, 0)
        for name in shares(self.results, _MIN_OTHER_SHARE):
            yield self.results.finding(TOPIC, f"Rust functions that can fail return `{name}`", name)


def _class_findings(family: str, classes: list[_Class]) -> Iterator[SurveyFinding]:
    """The base that the project's own errors share: directly, or through another of its own."""
    base_of = _error_bases(classes)
    if len(base_of) < MIN_COUNT:
        return
    tally = Tally()
    for name, _, place in classes:
        if name not in base_of:
            continue
        base, seen = base_of[name], {name}
        # The highest base of the project's own counts; below a base from outside there is none.
        while base_of.get(base, "") in base_of and base not in seen:
            seen.add(base)
            base = base_of[base]
        tally.add(base, place)
    for base in shares(tally, _MIN_OTHER_SHARE):
        claim = f"{title_of(family)} error classes of the project derive from `{base}`"
        yield tally.finding(TOPIC, claim, base)


def _error_bases(classes: list[_Class]) -> dict[str, str]:
    """The base of each class that is an error: by the name of its base, or because its base is one."""
    found: dict[str, str] = {}
    grown = True
    while grown:
        grown = False
        for name, bases, _ in classes:
            base = next((base for base in bases if base in found or _ERROR_NAME.search(base)), "")
            if base and base != name and name not in found:
                found[name] = base
                grown = True
    return found


def _body(source: SurveyedFile, match: re.Match[str]) -> str:
    """The block of a handler: in braces, or the lines that are indented below it."""
    if match[0].endswith("{"):
        return source.bare[match.end() : source.closing(match.end() - 1, 3000)]
    place = source.place(match)
    start = source.ends[place.line - 1] + 1 if place.line <= len(source.ends) else len(source.bare)
    lines = source.bare[start : start + 2000].split("\n")[:_MAX_HANDLER_LINES]
    indent = len(match[0]) - len(match[0].lstrip())
    body: list[str] = []
    for line in lines:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        body.append(line)
    return "\n".join(body)


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
