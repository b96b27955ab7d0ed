"""The parts that the readers of routes share: the endpoint itself, and how prefixes and routes are joined."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rag_ls.rules.survey.sources import SurveyedFile

ANY = "ANY"
QUOTED = r"""["'`]([^"'`\n]*)["'`]"""
_STRING = re.compile(QUOTED)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route that the code answers."""

    method: str
    """In upper case; "ANY" where the framework says none."""
    route: str
    """With a slash at its start, and the prefixes that stand in the same file."""
    line: int
    """1-based."""


def join_routes(*parts: str) -> str:
    """A route from its prefixes and its own part."""
    inner = "/".join(part.strip("/") for part in parts if part.strip("/"))
    last = parts[-1] if parts else ""
    return f"/{inner}/" if inner and last.endswith("/") and last != "/" else f"/{inner}"


def first_string(text: str) -> str | None:
    """The string that a text begins with."""
    match = _STRING.match(text.lstrip().removeprefix("r").removeprefix("@"))
    return match[1] if match else None


def strings(text: str) -> list[str]:
    """All strings of a text."""
    return [match[1] for match in _STRING.finditer(text)]


def methods_of(words: Iterable[str]) -> list[str]:
    """HTTP methods in upper case; ANY where there are none."""
    return [word.upper() for word in words] or [ANY]


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file in which routes have a prefix."""

    start: int
    end: int
    prefix: str


def prefix_at(spans: Iterable[Span], offset: int) -> str:
    """The prefixes of all spans around an offset, the outermost first."""
    around = sorted((span for span in spans if span.start < offset < span.end), key=lambda span: span.start)
    return join_routes(*(span.prefix for span in around)) if around else ""


def body_after(source: SurveyedFile, offset: int, within: int = 400) -> tuple[int, int] | None:
    """The block in braces that follows an offset."""
    opening = source.bare.find("{", offset, offset + within)
    return None if opening < 0 else (opening, source.closing(opening, 200_000))
