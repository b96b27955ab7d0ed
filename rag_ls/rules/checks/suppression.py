"""Reads the comments that suppress a rule at a line: `rag-ls: ignore[rule-id] the reason`. They are checked too."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from rag_ls.languages import find_language
from rag_ls.rules.checks.records import CheckedDocument, Severity, TextRange, Violation
from rag_ls.util.records import dataclass
from rag_ls.util.text import lines_of

NO_REASON, UNKNOWN_RULE, UNUSED = "suppression-without-reason", "suppression-of-unknown-rule", "unused-suppression"

_COMMENT = re.compile(
    r"(?P<mark>#{1,9}|/{2,9}|-{2,9}|/\*{1,9}|<!--|;{1,9}|%{1,9}|!{1,9}|\(\*{1,9})\s*rag-ls:\s*ignore\[(?P<rules>[\w./,\s-]*)\](?P<reason>[^\n]*)"
)
_END = re.compile(r"(?:\*/|-->|\*\))\s*$")


@dataclass(frozen=True, slots=True)
class Suppression:
    """A comment that suppresses rules, on its own line and on the one below if it stands alone."""

    rules: tuple[str, ...]
    reason: str
    place: TextRange
    lines: tuple[int, ...]
    """The lines that it is for."""


def find_suppressions(text: str) -> list[Suppression]:
    """The suppressing comments of a text."""
    if "rag-ls:" not in text:
        return []
    found = []
    for number, line in enumerate(lines_of(text), 1):
        if match := _COMMENT.search(line):
            rules = tuple(each.strip() for each in match["rules"].split(",") if each.strip())
            reason = _END.sub("", match["reason"]).strip().strip(" :-—")
            lines = (number,) if line[: match.start()].strip() else (number, number + 1)
            found.append(Suppression(rules, reason, TextRange(number, match.start(), number, len(line)), lines))
    return found


def format_suppression(language: str, rule: str, reason: str) -> str:
    """The comment that suppresses a rule in a language."""
    comments = find_language(language).comments
    return f"{comments.start}rag-ls: ignore[{rule}] {reason}{comments.end}"


def drop_suppressed(
    document: CheckedDocument, violations: Iterable[Violation], known: Collection[str]
) -> Iterator[Violation]:
    """The violations that no comment suppresses, and what is wrong with the comments."""
    comments = find_suppressions(document.text)
    used: set[tuple[int, str]] = set()
    for violation in violations:
        by = [
            each
            for each in comments
            if violation.rule in each.rules and violation.place.line in each.lines and each.reason
        ]
        used.update((each.place.line, violation.rule) for each in by)
        if not by:
            yield violation
    for each in comments:
        yield from _of_comment(document.path, each, known, used)


def _of_comment(
    path: str, found: Suppression, known: Collection[str], used: Collection[tuple[int, str]]
) -> Iterator[Violation]:
    if not found.reason:
        message = "a suppression needs a reason: rag-ls: ignore[rule] why this place is an exception"
        yield Violation(NO_REASON, message, Severity.ERROR, path, found.place)
        return
    for rule in found.rules:
        if rule not in known:
            yield Violation(UNKNOWN_RULE, f"no rule is called {rule}", Severity.WARNING, path, found.place)
        elif (found.place.line, rule) not in used:
            yield Violation(UNUSED, f"nothing here breaks {rule}: the comment can go", Severity.INFO, path, found.place)
