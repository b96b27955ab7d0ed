"""Checks the structure of code by ast-grep: its rule language, its grammars, its matching."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rag_ls.languages import by_alias, find_language, holds_language, languages_holding
from rag_ls.rules.checks.records import CheckedDocument, StructureCheck, TextRange
from rag_ls.util.patterns import lazy_pattern

if TYPE_CHECKING:
    from ast_grep_py import SgNode, SgRoot

    from rag_ls.indexing import Cutters

_log = logging.getLogger(__name__)

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
