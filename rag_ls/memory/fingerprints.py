"""Fingerprints of code: whether two versions of a declaration are the same but for comments and formatting, and how alike they are."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from functools import cache

import numpy as np

from rag_ls.languages import find_language
from rag_ls.util.records import dataclass

# Bottom-k sketch (Cohen and Kaplan, "Summarizing Data using Bottom-k Sketches", 2007): exact for short code.
_SKETCH_SIZE = 48
_SHINGLE_TOKENS = 2
_NAME = "\0name"

_OPEN, _CLOSED = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class CodeFingerprint:
    """The fingerprints of a declaration's code. They are empty for code without any token."""

    exact: str
    """Equal for the same code, however it is formatted and commented."""
    body: str
    """The same without the declaration's own name: equal after a rename."""
    sketch: str
    """For `similarity`."""


def fingerprint_code(text: str, language: str, name: str = "") -> CodeFingerprint:
    """The fingerprint of a declaration's text; `name` is its own name (the last part of its symbol)."""
    tokens = list(code_tokens(text, language))
    unnamed = [_NAME if token == name else token for token in tokens]
    return CodeFingerprint(_digest(tokens), _digest(unnamed), _sketch(unnamed))


def similarity(one: str, other: str) -> float:
    """The likeness of two sketched bodies, 0 to 1: the estimated share of token pairs that they have in common."""
    left, right = _hashes(one), _hashes(other)
    if not len(left) or not len(right):
        return 0.0
    least = np.union1d(left, right)[:_SKETCH_SIZE]
    return float(np.isin(least, np.intersect1d(left, right)).mean())


def code_tokens(text: str, language: str) -> Iterator[str]:
    """The tokens of some code without comments and formatting; in Python and the like, also where blocks begin and end."""
    depth = 0
    indents = [_indent_of(text)] if find_language(language).is_indented else []
    is_line_start = False
    found = list(_pattern(language).finditer(text.replace("\\\n", " ")))
    for number, match in enumerate(found):
        token = match[0]
        if match.lastgroup == "comment":
            continue
        if match.lastgroup == "line":
            is_line_start = bool(indents) and not depth
            continue
        if is_line_start:
            yield from _blocks(indents, match)
        is_line_start = False
        depth = max(0, depth + (token in _OPEN) - (token in _CLOSED)) if len(token) == 1 else depth
        if token == "," and _ends_list(found, number):
            continue
        yield f'"{token[1:-1]}' if match.lastgroup == "string" and len(token) > 1 else token


def fingerprint_line(text: str, language: str) -> str:
    """The fingerprint of a single line; empty if it holds no code."""
    return _digest(list(code_tokens(text.strip(), language)))


@cache
def _pattern(language: str) -> re.Pattern[str]:
    known = find_language(language)
    comment = known.comments.pattern
    # Each character can match in one way only; otherwise an unclosed string would take exponential time.
    triple = r'"""(?:\\.|[^\\])*?"""|' + r"'''(?:\\.|[^\\])*?'''"
    quotes = r'"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`'
    if known.has_single_quotes:
        quotes += r"|'(?:\\.|[^'\\\n])*'"
    return re.compile(
        rf"(?P<line>\n)|(?P<text>{triple})|(?P<comment>{comment})|(?P<string>{quotes})|(?P<word>\w+)|(?P<mark>[^\w\s])",
        re.DOTALL,
    )


def _blocks(indents: list[int], match: re.Match[str]) -> Iterator[str]:
    """The tokens for blocks that end or begin before a line's first token."""
    column = match.start() - (match.string.rfind("\n", 0, match.start()) + 1)
    while len(indents) > 1 and column < indents[-1]:
        indents.pop()
        yield "\0dedent"
    if column > indents[-1]:
        indents.append(column)
        yield "\0indent"


def _indent_of(text: str) -> int:
    first = text.lstrip("\n")
    return len(first) - len(first.lstrip())


def _ends_list(found: list[re.Match[str]], number: int) -> bool:
    """Whether a comma is the optional one that formatters put before a closing bracket on a line of its own."""
    breaks = False
    for at in range(number + 1, len(found)):
        match = found[at]
        if match.lastgroup == "line":
            breaks = True
        elif match.lastgroup != "comment":
            return breaks and match[0] in _CLOSED
    return False


def _digest(tokens: list[str]) -> str:
    return hashlib.sha256("\x1f".join(tokens).encode("utf-8", "surrogatepass")).hexdigest()[:24] if tokens else ""


def _sketch(tokens: list[str]) -> str:
    shingles = {
        "\x1f".join(tokens[at : at + _SHINGLE_TOKENS]) for at in range(max(1, len(tokens) - _SHINGLE_TOKENS + 1))
    }
    hashes = sorted(
        int.from_bytes(hashlib.blake2b(each.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little")
        for each in shingles
    )
    least = np.array(hashes[:_SKETCH_SIZE], np.uint32)
    return base64.b85encode(least.tobytes()).decode() if tokens else ""


def _hashes(sketch: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.frombuffer(base64.b85decode(sketch), np.uint32)
