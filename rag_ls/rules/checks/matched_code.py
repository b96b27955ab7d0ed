"""The code of a document that a structural rule looks at, and the language that ast-grep reads it in."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.languages import by_alias, find_language, holds_language, languages_holding
from rag_ls.rules.checks.records import CheckedDocument
from rag_ls.util.patterns import lazy_pattern


def is_matched(language: str) -> bool:
    """Return whether ast-grep has a grammar for a language; its names are ours."""
    return find_language(language).is_matched


# JSX stands in files of TypeScript that its own grammar cannot read.
_READ_AS_ITSELF = frozenset({"tsx"})
_SCRIPT = lazy_pattern(r"(?is)<script\b([^>]*+)>(.*?)</script\s*>")
_SCRIPT_LANGUAGE = lazy_pattern(r"""(?i)\blang\s*=\s*["']?([\w-]+)""")
_NOT_A_LINE_END = lazy_pattern(r"[^\r\n]")


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
