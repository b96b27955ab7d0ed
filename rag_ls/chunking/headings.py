"""The outline of texts without a grammar: their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from rag_ls.chunking.document import Document
from rag_ls.languages import find_language
from rag_ls.model import Outline, Symbol
from rag_ls.util.patterns import lazy_pattern

MAX_TITLE = 100
# Code spans come first: tags within them are text.
_MARKUP = lazy_pattern(
    r"(?P<code>`+[^`]*`+)|</?[A-Za-z][^<>]*>|<!--.*?-->|(?<!\w):[a-z][a-z0-9_+-]{1,40}:(?!\w)"
    r"|!?\[(?P<label>[^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)"
)

Heading = tuple[int, int, str]
"""(level, byte offset, title)"""


def clean_title(title: str) -> str:
    """A heading of Markdown without tags, targets of links and names of emoji; as it is if it holds nothing else."""
    cleaned = _MARKUP.sub(lambda found: found["code"] or found["label"] or "", title)
    return " ".join(cleaned.split()) or title


def outline_of_text(document: Document, language: str) -> Outline:
    """The sections of a text, by its headings: reStructuredText, AsciiDoc, Org, MDX, Textile, LaTeX.

    Nothing for any other language.
    """
    headings = list(_headings(document.data, language))
    return Outline(tuple(sections(document, headings)))


def _headings(data: bytes, language: str) -> Iterator[Heading]:
    pattern = find_language(language).heading
    if not pattern:
        return
    headings = _compile(pattern)
    if "over" in headings.groupindex:
        yield from _find_underlined(headings, data)
        return
    for match in headings.finditer(data):
        yield _level(match["mark"]), match.start("title"), _title(match["title"])


@cache
def _compile(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.MULTILINE)


def _level(mark: bytes) -> int:
    if mark.isdigit():
        return int(mark)
    if mark.endswith(b"section"):
        return 1 + mark.count(b"sub")
    return 0 if mark == b"chapter" else len(mark)


def _title(title: bytes) -> str:
    return " ".join(title.decode("utf-8", "replace").split())[:MAX_TITLE]


def _find_underlined(headings: re.Pattern[bytes], data: bytes) -> Iterator[Heading]:
    """Underlined headings; the first style of underline in the text is the highest level, and so on."""
    styles: list[tuple[bool, bytes]] = []
    for match in headings.finditer(data):
        title, mark = match["title"].rstrip(), match["mark"]
        if len(mark) < len(title.decode("utf-8", "replace")):
            continue
        style = (match["over"] is not None, mark[:1])
        if style not in styles:
            styles.append(style)
        yield styles.index(style), match.start("title"), _title(title)


def sections(document: Document, headings: list[Heading]) -> Iterator[Symbol]:
    """The sections that begin with these headings, in order; a section ends before the next one of its level or above."""
    path: list[tuple[int, str]] = []
    last = document.line(max(0, len(document.data) - 1))
    ends = _ends(document, headings, last)
    for (level, offset, title), end in zip(headings, ends, strict=True):
        while path and path[-1][0] >= level:
            path.pop()
        path.append((level, title))
        start = document.line(offset)
        name = " > ".join(name for _, name in path)
        yield Symbol(
            name=name,
            kind="section",
            start_line=start,
            end_line=max(start, end),
            signature=title,
            doc="",
            exported=True,
        )


def _ends(document: Document, headings: list[Heading], last: int) -> list[int]:
    """The last line of each section, in one pass from the end."""
    ends = [last] * len(headings)
    following: list[tuple[int, int]] = []
    for index in range(len(headings) - 1, -1, -1):
        level, offset, _ = headings[index]
        while following and following[-1][0] > level:
            following.pop()
        if following:
            ends[index] = following[-1][1] - 1
        following.append((level, document.line(offset)))
    return ends
