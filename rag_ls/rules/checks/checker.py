"""Checks one document against a project's rules. A pure function of the document, the rules and the import graph.

Comments suppress a rule at a line: `rag-ls: ignore[rule-id] the reason`. They are checked too.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from rag_ls.languages import find_language
from rag_ls.rules.checks import contracts
from rag_ls.rules.checks.contracts import ImportGraph
from rag_ls.rules.checks.records import (
    CheckedDocument,
    CheckRule,
    CyclesCheck,
    FileNameCheck,
    ImportCheck,
    LayersCheck,
    PlaceCheck,
    RuleSet,
    Severity,
    StructureCheck,
    SymbolNameCheck,
    TextRange,
    Violation,
)
from rag_ls.rules.checks.structure import Match, Structures, language_to_match, structures_here
from rag_ls.util.path_globs import matches_any
from rag_ls.util.records import dataclass
from rag_ls.util.text import lines_of

_log = logging.getLogger(__name__)
_GRAPH_CHECKS = (ImportCheck, LayersCheck, CyclesCheck)


def violations(
    document: CheckedDocument,
    rules: RuleSet,
    graph: ImportGraph,
    known: Collection[str] = (),
    *,
    structures: Structures = structures_here,
) -> list[Violation]:
    """The places that break a rule in a document, in order of lines, without those that its comments suppress.

    `known` are the ids of more rules, which comments may name too. `structures` parses the document: in this process,
    or in one that may die.
    """
    mine = [rule for rule in rules.rules if applies(rule, document.path)]
    matched = _match_structures(document, mine, structures)
    found = (
        each for rule, matches in zip(mine, matched, strict=True) for each in _of_rule(document, rule, graph, matches)
    )
    kept = drop_suppressed(document, found, {*known, *(rule.id for rule in rules.rules)})
    return sorted(kept, key=lambda each: (each.place.line, each.place.column, each.rule))


def applies(rule: CheckRule, path: str) -> bool:
    """Whether a rule is for the file at a path."""
    if rule.files and not matches_any(rule.files, path):
        return False
    return not matches_any(rule.not_files, path) and not matches_any(rule.exceptions, path)


def needs_imports(rules: RuleSet) -> bool:
    """Whether some rule looks at imports."""
    return any(isinstance(rule.check, _GRAPH_CHECKS) for rule in rules.rules)


def needs_chains(rules: RuleSet) -> bool:
    """Whether some rule looks at imports of other documents, too."""
    return any(
        isinstance(rule.check, CyclesCheck) or (isinstance(rule.check, _GRAPH_CHECKS) and rule.check.indirect)
        for rule in rules.rules
    )


def needs_symbols(rules: RuleSet) -> bool:
    """Whether some rule looks at declarations."""
    return any(isinstance(rule.check, SymbolNameCheck) for rule in rules.rules)


def _match_structures(
    document: CheckedDocument, rules: Sequence[CheckRule], structures: Structures
) -> list[tuple[Match, ...]]:
    """The matches of each rule that looks at the structure; nothing for the others."""
    asked = [rule.check for rule in rules if isinstance(rule.check, StructureCheck)]
    checks = tuple(check for check in asked if language_to_match(check.languages, document.language, document.path))
    matched = dict(zip(map(id, checks), structures(document, checks) if checks else (), strict=True))
    return [matched.get(id(rule.check), ()) for rule in rules]


def _of_rule(
    document: CheckedDocument, rule: CheckRule, graph: ImportGraph, matches: Sequence[Match]
) -> Iterator[Violation]:
    violation = partial(_violation, document, rule)
    try:
        yield from (replace(violation(place, said), fix=fix) for place, said, fix in matches)
        yield from (violation(place, said) for place, said in _places(document, rule, graph.without(rule.exceptions)))
    except contracts.PatternTooSlow as error:
        yield violation(contracts.first_line(document), str(error))
    except re.error as error:
        # `$1` stood for more text than a pattern may have.
        yield violation(
            contracts.first_line(document), f"the regular expression is wrong: {error}; this rule is not checked"
        )
    except Exception:
        # One rule that fails must not stop the others.
        _log.exception("rule %s failed on %s", rule.id, document.path)


def _places(document: CheckedDocument, rule: CheckRule, graph: ImportGraph) -> Iterator[tuple[TextRange, str]]:
    match rule.check:
        case ImportCheck() as check:
            yield from contracts.check_imports(document, check, graph)
        case LayersCheck() as check:
            yield from contracts.check_layers(document, check, graph)
        case CyclesCheck():
            yield from contracts.check_cycles(document, graph)
        case FileNameCheck() as check:
            yield from contracts.check_file_name(document, check)
        case SymbolNameCheck() as check:
            yield from contracts.check_symbol_names(document, check)
        case PlaceCheck() as check:
            yield from contracts.check_place(document, check)


def _violation(document: CheckedDocument, rule: CheckRule, place: TextRange, said: str) -> Violation:
    # A structural rule found code that the reader sees at the place; only a contract's finding needs words.
    message = rule.message or rule.id
    if not isinstance(rule.check, StructureCheck):
        message = f"{rule.message} ({said})" if rule.message else said
    return Violation(
        rule=rule.id,
        message=message,
        severity=rule.severity,
        path=document.path,
        place=place,
        see=rule.see,
        stated_at=f"{rule.path}:{rule.line}" if rule.path else "",
    )


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
