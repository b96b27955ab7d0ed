"""Checks one document against a project's rules. A pure function of the document, the rules and the import graph."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from rag_ls.rules.checks import contracts
from rag_ls.rules.checks.graph import ImportGraph
from rag_ls.rules.checks.records import (
    CheckedDocument,
    CheckRule,
    CyclesCheck,
    FileNameCheck,
    ImportCheck,
    LayersCheck,
    PlaceCheck,
    RuleSet,
    StructureCheck,
    SymbolNameCheck,
    TextRange,
    Violation,
)
from rag_ls.rules.checks.structure import Match, Structures, language_to_match, structures_here
from rag_ls.rules.checks.suppression import drop_suppressed
from rag_ls.util.path_globs import matches_any

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
