"""The texts of a question that code may hold as they stand: names, quotations, headers, constants, options, messages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rag_ls.errors import InvalidRequest
from rag_ls.search import IN_CODE, TextPattern, TextQuery
from rag_ls.util.patterns import lazy_pattern

_MAX_CHARACTERS = 400
_MAX_LITERALS = 3
_QUOTED = lazy_pattern(r"""(?<![\w"'`])(["'`])(?P<text>[^"'`\n]{2,200})\1(?![\w"'`])""")
# Words that stand in code as a question writes them: a header (Retry-After), a constant or variable (MAX_RETRIES), an option (--dry-run).
_LITERAL = lazy_pattern(
    r"(?<![\w.-])(?:[A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z0-9]*)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|--[a-z][\w-]*\w)(?![\w-])"
)
_NAME = lazy_pattern(r"[\w$@#-]*[^\W\d][\w$@#-]*(?:(?:\.|::|->|/|\\|\?\.)[\w$@#-]+)*(?:\(\))?[!?]?")
# Marks of code: brackets with a name, operators, ends of statements.
_CODE = lazy_pattern(r"\w\(|::|->|=>|[{};=<>]|\w\.\w|\]\[|&&|\|\||^\W")
_REGEX = lazy_pattern(r"\\[sSwWdDbB.()\[\]{}|+*?^$]|\.[*+]|\[[^\]]*\w-\w[^\]]*\]|\]\s*[+*]|\)[+*?]|^\^|\w\$$|\w\|\w")
_WORD = lazy_pattern(r"\w+")
_MAX_WORDS = 80
# Of a message with values in it, so many words in a row are the program's; of words that may be a question, half of them must be.
_MIN_WORDS_OF_MESSAGE, _MIN_TELLING_OF_MESSAGE = 3, 2
_MIN_WORDS, _MIN_TELLING, _MIN_SHARE = 4, 3, 0.5


def find_literal_queries(query: str) -> tuple[TextQuery, ...]:
    """The texts and expressions that a query may mean besides a question in words, the likeliest first."""
    text = query.strip()
    if not text or len(text) > _MAX_CHARACTERS:
        return ()
    # A trace quotes files.
    quoted = [found["text"] for found in _QUOTED.finditer(text)] if "\n" not in text else []
    if quoted and len(quoted[0]) + 2 == len(text):
        return (TextQuery(quoted[0]), TextQuery(text))
    if is_name(text):
        return (TextQuery(text), *((TextQuery(text.removesuffix("()")),) if text.endswith("()") else ()))
    if _REGEX.search(text) and _is_regex(text):
        return (TextQuery(text), TextQuery(text, is_regex=True))
    if quoted:
        return tuple(map(TextQuery, quoted[:1]))
    return (TextQuery(text),) if _CODE.search(text) else ()


def find_literals(query: str) -> list[tuple[TextQuery, ...]]:
    """The headers, constants and options in a question, each in the forms in which code may write it."""
    if len(query) > _MAX_CHARACTERS or is_name(query.strip()):
        return []
    literals = list(dict.fromkeys(_LITERAL.findall(query)))[:_MAX_LITERALS]
    return [
        (TextQuery(literal), *((TextQuery(literal.lower()),) if "-" in literal and not literal.startswith("-") else ()))
        for literal in literals
    ]


def find_verbatim(query: str, texts: Iterable[str], *, is_message: bool) -> str:
    """The longest part of a pasted message that one of the texts holds word for word; empty where none is a message of theirs."""
    words = list(_WORD.finditer(query))[:_MAX_WORDS]
    if len(words) < _MIN_TELLING_OF_MESSAGE or is_name(query.strip()):
        return ""
    longest = (0, 0)
    for text in texts:
        longest = max(longest, _find_longest(query, words, text), key=lambda run: run[1] - run[0])
    run = words[slice(*longest)]
    telling = sum(word[0].lower() not in IN_CODE for word in run)
    is_part = len(run) >= _MIN_WORDS_OF_MESSAGE and is_message
    is_most = len(run) >= _MIN_WORDS and len(run) >= len(words) * _MIN_SHARE and telling >= _MIN_TELLING
    if telling < _MIN_TELLING_OF_MESSAGE or not (is_part or is_most or len(run) == len(words)):
        return ""
    return query[run[0].start() : run[-1].end()]


def _find_longest(query: str, words: list[re.Match[str]], text: str) -> tuple[int, int]:
    """The longest run of words (half-open) that stands in a text as it does in the query."""
    best = (0, 0)
    start = 0
    for end in range(1, len(words) + 1):
        while start < end and query[words[start].start() : words[end - 1].end()] not in text:
            start += 1
        if end - start > best[1] - best[0]:
            best = (start, end)
    return best


def is_name(text: str) -> bool:
    """Whether a text is one name, qualified or not."""
    return _NAME.fullmatch(text) is not None


def is_part_of(pattern: str, query: str) -> bool:
    """Whether a text is one word or quotation of a longer question."""
    return pattern.lower() in query.lower() and len(pattern) + len("()") < len(query.strip())


def _is_regex(text: str) -> bool:
    try:
        TextPattern(TextQuery(text, is_regex=True))
    except InvalidRequest:
        return False
    return True
