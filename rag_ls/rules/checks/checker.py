"""Checks one document against a project's rules. A pure function of the document, the rules and the import graph.

Comments suppress a rule at a line: `rag-ls: ignore[rule-id] the reason`. They are checked too.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from rag_ls.languages import by_alias, find_language, holds_language, languages_holding
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
from rag_ls.util.path_globs import matches_any
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass
from rag_ls.util.text import lines_of

if TYPE_CHECKING:
    from ast_grep_py import SgNode, SgRoot

    from rag_ls.indexing import Cutters


MAX_CHARACTERS = 2_000_000
# The matches of a rule that matches everything are counted up to this; a file that people wrote has fewer nodes.
_MAX_MATCHES = 100_000
# An editor offers the fixes of the places that it shows; there are fewer of them.
_MAX_FIXES = 1_000
_MAX_SHOWN_CHARACTERS = 60
_VARIABLE = re.compile(r"\$\$\$([A-Z_][A-Z0-9_]*)|\$([A-Z_][A-Z0-9_]*)")
_NAMELESS = re.compile(r"\$\$\$(?![A-Z])")
# JSX stands in files of TypeScript that its own grammar cannot read.
_READ_AS_ITSELF = frozenset({"tsx"})
_SCRIPT = lazy_pattern(r"(?is)<script\b([^>]*+)>(.*?)</script\s*>")
_SCRIPT_LANGUAGE = lazy_pattern(r"""(?i)\blang\s*=\s*["']?([\w-]+)""")
_NOT_A_LINE_END = lazy_pattern(r"[^\r\n]")


Match = tuple[TextRange, str, str | None]
"""A place that breaks a structural rule, what stands there, and what the rule's `fix` puts there; None without one."""
Structures = Callable[[CheckedDocument, tuple[StructureCheck, ...]], list[tuple[Match, ...]]]
"""The matches of each of some rules in a document."""


def structures_here(document: CheckedDocument, checks: tuple[StructureCheck, ...]) -> list[tuple[Match, ...]]:
    """The places of a document that break each rule, found in this process, which a parser may crash."""
    return [tuple(_matches(document, check)) for check in checks]


def structures_apart(
    cutters: Cutters, document: CheckedDocument, checks: tuple[StructureCheck, ...]
) -> list[tuple[Match, ...]]:
    """As `structures_here`, in a process that may die."""
    lost = f"{document.path} is not checked against structural rules"
    return cutters.call_or([() for _ in checks], lost, structures_here, document, checks)


def _matches(document: CheckedDocument, check: StructureCheck) -> Iterator[Match]:
    """None in languages that the rule is not for, and where the rule fails: it must take no other with it."""
    try:
        yield from _structure(document, check)
    except Exception:
        _log.exception("a structural rule failed on %s", document.path)


def _structure(document: CheckedDocument, check: StructureCheck) -> Iterator[Match]:
    fixes = 0
    for node in _find(document, check):
        if check.required is None or not node.matches(**check.required):
            has_fix = bool(check.fix) and fixes < _MAX_FIXES
            fixes += has_fix
            yield _place(node), _shorten_text(node.text()), _mend(node, check.fix, document.text) if has_fix else None


def _find(document: CheckedDocument, check: StructureCheck) -> list[SgNode]:
    language = language_to_match(check.languages, document.language, document.path)
    if not language or len(document.text) > MAX_CHARACTERS:
        return []
    root = _parse_tree(code_to_match(document, language), language).root()
    return root.find_all(_config(check.match))[:_MAX_MATCHES]


def problem_of(check: StructureCheck) -> str:
    """The words of ast-grep on a rule that it cannot use; empty if it can."""
    for language in check.languages:
        try:
            root = _parse_tree("", language).root()
            root.find_all(_config(check.match))
            if check.required is not None:
                root.matches(**check.required)
        except BaseException as error:  # a panic of ast-grep is no `Exception`
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            return _word_error(error)
    return ""


def is_nameless(fix: str) -> bool:
    """Whether a fix repeats what a `$$$` without a name matched, which keeps no text."""
    return _NAMELESS.search(fix) is not None


def _mend(node: SgNode, fix: str, whole: str) -> str | None:
    """The text that a `fix` makes of a match, later lines indented as it; None where it names what was not matched.

    `whole` is the document's text: ast-grep would copy it for each match.
    """
    texts: list[str | None] = [None] if is_nameless(fix) else []

    def fill(found: re.Match[str]) -> str:
        if found[1]:
            several = node.get_multiple_matches(found[1])
            return whole[several[0].range().start.index : several[-1].range().end.index] if several else ""
        one = node.get_match(found[2])
        texts.append(one.text() if one is not None else None)
        return texts[-1] or ""

    start = node.range().start.index
    first = whole[whole.rfind("\n", 0, start) + 1 : start]
    indent = first[: len(first) - len(first.lstrip())]
    made = _VARIABLE.sub(fill, fix.rstrip("\n").replace("\n", f"\n{indent}"))
    return None if None in texts else made


def _config(match: Any) -> Any:
    """A configuration of ast-grep; it takes no keys that it does not know."""
    return {key: match[key] for key in ("rule", "constraints", "utils") if key in match}


@lru_cache(maxsize=8)
def _parse_tree(text: str, language: str) -> SgRoot:
    """A text's tree; several rules look at one text."""
    # Imported here: most projects have no such rules, and importing takes a while.
    from ast_grep_py import SgRoot

    return SgRoot(text, language)


def _place(node: SgNode) -> TextRange:
    found = node.range()
    return TextRange(found.start.line + 1, found.start.column, found.end.line + 1, found.end.column)


def _shorten_text(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SHOWN_CHARACTERS else line[: _MAX_SHOWN_CHARACTERS - 1] + "…"


def _word_error(error: BaseException) -> str:
    """An error's own words, without the trace that ast-grep adds."""
    said = str(error).split("Stack backtrace")[0]
    parts = [line.split(":", 1)[-1].strip() for line in said.splitlines() if line.strip() and "Caused by" not in line]
    return "; ".join(dict.fromkeys(part.rstrip(".") for part in parts if part))


def is_matched(language: str) -> bool:
    """Return whether ast-grep has a grammar for a language; its names are ours."""
    return find_language(language).is_matched


def matched_language(name: str) -> str:
    """Our name of a language that a rule is for, by any of its names; the name itself where ast-grep does not know it."""
    language = by_alias(name) or ""
    return language if is_matched(language) else name.lower()


def language_to_match(languages: Sequence[str], language: str, path: str) -> str:
    """The language in which a rule for `languages` reads a document; empty where the rule is not for it."""
    if language in languages:
        return language
    wanted = next((each for each in languages if holds_language(each, language, path)), "")
    is_readable = find_language(language).is_matched or find_language(language).is_markup
    return "" if not is_readable else language if wanted and language in _READ_AS_ITSELF else wanted


def code_to_match(document: CheckedDocument, language: str) -> str:
    """The text of a document; of a component, its scripts in the language alone, each at its place."""
    if document.language == language or not find_language(document.language).is_markup:
        return document.text
    kept, end = [], 0
    for script in _SCRIPT.finditer(document.text):
        named = _SCRIPT_LANGUAGE.search(script[1])
        if (by_alias(named[1]) if named else "javascript") in languages_holding(language):
            kept += [_blank(document.text[end : script.start(2)]), script[2]]
            end = script.end(2)
    return "".join([*kept, _blank(document.text[end:])])


def _blank(text: str) -> str:
    return _NOT_A_LINE_END.sub(" ", text)


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
