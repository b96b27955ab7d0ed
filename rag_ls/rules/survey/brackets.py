"""Reads what stands between brackets: arguments, keys of an object, calls in a chain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.rules.survey.sources import SurveyedFile

_CHAINED = re.compile(r"\s*\.\s*(\w+)\s*\(")
_KEY = re.compile(r"""\s*(?:["']?([A-Za-z_$][\w$]*)["']?\s*(?::(?!:)|=>|=(?![=>])|,|$)|\.\.\.)""")
_NAME = re.compile(r"[A-Za-z_$][\w$.:]*")
_MAX_LITERAL = 3000


def arguments(source: SurveyedFile, opening: int, within: int = _MAX_LITERAL) -> list[tuple[int, str]]:
    """The offset and the text of each part between the brackets that open at an offset, apart at its commas."""
    end = source.closing(opening, within)
    parts: list[tuple[int, str]] = []
    depth, start = 0, opening + 1
    for index in range(opening + 1, end):
        mark = source.bare[index]
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif mark == "," and depth == 0:
            parts.append((start, source.code[start:index]))
            start = index + 1
    if source.code[start:end].strip():
        parts.append((start, source.code[start:end]))
    return parts


def keys(source: SurveyedFile, opening: int) -> tuple[str, ...]:
    """The keys of the object, map or array that opens at an offset, in order."""
    found: list[str] = []
    for _, part in arguments(source, opening):
        if (match := _KEY.match(part.strip())) and match[1]:
            found.append(match[1])
    return tuple(found)


def chain(source: SurveyedFile, offset: int, within: int = 4000) -> Iterator[tuple[str, int]]:
    """The calls that follow at an offset, `.get(h).post(h)`: each name with the offset of its bracket."""
    end = min(len(source.bare), offset + within)
    while match := _CHAINED.match(source.bare, offset, end):
        opening = match.end() - 1
        yield match[1], opening
        offset = source.closing(opening) + 1


def name_in(text: str) -> str:
    """The name that a value is known by: `cors` of `cors({...})`, `Auth` of `new Auth()`; "" for a function or literal."""
    text = re.sub(r"^\s*(?:new|await|&|::)\s*", "", text).strip()
    match = _NAME.match(text)
    if match is None or match[0] in ("function", "async", "func", "fn", "async_move", "true", "false", "null", "nil"):
        return ""
    rest = text[match.end() :].lstrip()
    return "" if rest.startswith("=>") else match[0].rstrip(".:")
