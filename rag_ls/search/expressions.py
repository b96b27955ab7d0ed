"""Regular expressions for single lines: read into parts, and written for RE2, with the literal texts that each match holds.

RE2 knows the letters of ASCII alone in `\\w`, `\\d`, `\\s` and `\\b`, so they are written out; of the boundaries of words, those at
the ends of an expression, beside a letter: they take the character beside the word.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import re2

from rag_ls.errors import InvalidRequest
from rag_ls.storage import Need
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

WORD = r"\p{L}\p{N}\p{M}_"
"""The members of a set that `\\w` stands for."""
# A byte order mark may stand before the first line.
LINE_BEGIN, LINE_END = r"(?:(?m:^)\x{feff}?)", "(?m:$)"
# The character before or after a word, if there is one.
NO_WORD_BEFORE, NO_WORD_AFTER = rf"(?:{LINE_BEGIN}|[^{WORD}])()", rf"(?:{LINE_END}|[^{WORD}])"
_SPACES = r"\t\n\v\f\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_CLASSES = {"w": WORD, "s": _SPACES, "d": r"\p{Nd}"}
# The same among the characters of ASCII, for which RE2 has less to compile.
_ASCII_CLASSES = ((WORD, "0-9A-Za-z_"), (_SPACES, r"\t\n\v\f\r "), (r"\p{Nd}", "0-9"))
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a"}
_ANCHORS = {"^": LINE_BEGIN, r"\A": LINE_BEGIN, "$": LINE_END, r"\z": LINE_END, r"\Z": LINE_END}
_SYNTAX = "RE2's syntax (https://github.com/google/re2/wiki/Syntax)"
_MAX_CHARACTERS = 10_000
_MAX_DEPTH = 100
_TOKEN = lazy_pattern(
    r"(?P<quoted>\\Q(?s:.*?)(?:\\E|$))"
    r"|(?P<code>\\(?:x\{[0-9a-fA-F]{1,6}\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}))"
    r"|(?P<other>\\[pP](?:\{\^?\w+\}|\w)|\\[0-9]+)"
    r"|(?P<escape>\\(?s:.))"
    r"|(?P<set>\[\^?\]?(?:\[:\^?\w+:\]|\\(?s:.)|[^\]\\])*\])"
    r"|(?P<flags>\(\?[a-zA-Z-]+\))"
    r"|(?P<open>\((?:\?(?:P?<\w+>|[a-zA-Z-]*:|P=|[^\w\s][=!]?))?)"
    r"|(?P<repeat>(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})[?+]?)"
    r"|(?P<letter>(?s:.))"
)
_IN_SET = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|(?s:(.)))")
_WORD_SET = lazy_pattern(r"\[(?:\\[wd]|[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|\w)+\]")
_CAPTURED = lazy_pattern(r"\((?:\?P?<\w+>)?")
# Constructs of other engines that RE2 does not take: a pattern of each, its name, and the remedy.
_REFUSED = (
    (lazy_pattern(r"\(\?<?[=!]"), "a look-around", "match what stands there as well, or leave it out"),
    (lazy_pattern(r"\\[1-9]|\\[gk]|\(\?P="), "a back reference", "write out what it refers to"),
    (lazy_pattern(r".*[*+?}]\+$"), "a possessive repetition", "leave out its last `+`"),
    (lazy_pattern(r"\(\?>"), "an atomic group", "write `(?:`"),
)
_MAX_SHOWN_CHARACTERS = 200


class _Part(NamedTuple):
    """A character, a set, an anchor or a group, with its repetition."""

    source: str
    """For RE2, without the repetition; the beginning of a group."""
    is_letter: bool = False
    """Whether it takes a letter, digit or `_`, and nothing else."""
    is_empty: bool = False
    """Whether it takes no character."""
    text: str = ""
    """The character, where it is one alone."""
    branches: tuple[tuple[_Part, ...], ...] = ()
    """Those of a group."""
    repeat: str = ""

    @property
    def is_needed(self) -> bool:
        """Whether each match holds it."""
        return not self.repeat.startswith(("*", "?", "{0"))


_Branches = tuple[tuple[_Part, ...], ...]


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression that has been read."""

    pattern: str
    ignores_case: bool
    """Whether it says so itself, of any of its parts."""
    spans_lines: bool
    """Whether it names the end of a line, or lets `.` stand for it."""
    _branches: _Branches

    @classmethod
    def read(cls, pattern: str) -> Expression:
        """Raises `InvalidRequest` where brackets do not match, or are too many; RE2 finds other faults."""
        if len(pattern) > _MAX_CHARACTERS:
            raise refuse(pattern, f"it has {len(pattern):,} characters, and {_MAX_CHARACTERS:,} are allowed")
        tokens = _tokenize(pattern)
        reader = _Reader(pattern, tokens)
        named = (text.partition("-")[0] for kind, text in tokens if kind in ("flags", "open") and "<" not in text)
        flags = "".join(named)
        is_long = "s" in flags or any(text in (r"\n", r"\r", "\n", "\r") for _, text in tokens)
        return cls(pattern, "i" in flags, is_long, reader.read_branches())

    def write(self, *, whole_words: bool) -> str:
        """The expression for RE2; an empty group stands where a match begins behind a character that it takes."""
        if whole_words:
            return f"{NO_WORD_BEFORE}(?:{_write(self._branches)}){NO_WORD_AFTER}"
        return "|".join(map(_write_branch, self._branches))

    def need(self) -> Need:
        """The literal texts that a line needs to match."""
        return _need_of(self._branches)


def keep_ascii(source: str) -> str:
    """An expression that finds the same in texts of ASCII as a written one."""
    for members, of_ascii in _ASCII_CLASSES:
        source = source.replace(members, of_ascii)
    return source


def refuse(pattern: str, error: str) -> InvalidRequest:
    """The error that names what RE2 does not take, and the remedy."""
    for _, token in _tokenize(pattern):
        for construct, name, remedy in _REFUSED:
            if construct.match(token):
                return InvalidRequest(
                    f"{shorten(pattern)!r} has {name}, {token!r}, which {_SYNTAX} does not know: {remedy}, or search for a "
                    "literal text"
                )
    return InvalidRequest(
        f"{shorten(pattern)!r} is no regular expression in {_SYNTAX}: {error}; put \\ before brackets and marks that stand for "
        "themselves, or search for it as a literal text"
    )


def shorten(pattern: str) -> str:
    """A pattern as errors show it."""
    return pattern if len(pattern) <= _MAX_SHOWN_CHARACTERS else pattern[:_MAX_SHOWN_CHARACTERS] + "…"


def _tokenize(pattern: str) -> list[tuple[str, str]]:
    """The parts of an expression with their kinds."""
    return [(found.lastgroup or "", found[0]) for found in _TOKEN.finditer(pattern)]


class _Reader:
    """Reads the tokens of an expression, one after the other."""

    def __init__(self, pattern: str, tokens: Sequence[tuple[str, str]]) -> None:
        self._pattern = pattern
        self._tokens = iter(tokens)

    def read_branches(self, depth: int = 0) -> _Branches:
        """The branches up to the end of a group. Raises `InvalidRequest`."""
        if depth > _MAX_DEPTH:
            raise refuse(self._pattern, "it is nested too deeply, use fewer brackets")
        branches: list[list[_Part]] = [[]]
        for kind, text in self._tokens:
            parts = branches[-1]
            if (kind, text) == ("letter", "|"):
                branches.append([])
            elif (kind, text) == ("letter", ")"):
                if not depth:
                    raise refuse(self._pattern, "a ) has no (")
                break
            elif kind == "open":
                # Only the groups that mark the beginning of a match are captured.
                opening = "(?:" if _CAPTURED.fullmatch(text) else text
                parts.append(_Part(opening, branches=self.read_branches(depth + 1)))
            elif kind == "repeat" and parts:
                parts[-1] = parts[-1]._replace(repeat=parts[-1].repeat + text.replace("{,", "{0,"))
            elif kind == "quoted":
                parts += map(_make_letter, text[2:].removesuffix(r"\E"))
            else:
                parts.append(_read_part(kind, text))
        else:
            if depth:
                raise refuse(self._pattern, "a ( has no )")
        return tuple(map(tuple, branches))


def _read_part(kind: str, text: str) -> _Part:
    if text in _ANCHORS or kind == "flags" or text in (r"\b", r"\B"):
        return _Part(_ANCHORS.get(text, text), is_empty=True)
    if kind == "set":
        return _Part(_write_set(text), bool(_WORD_SET.fullmatch(text)))
    if kind == "letter":
        return _Part(text) if text in ".[\\" else _make_letter(text)
    if kind == "code" and (code := int(text[2:].strip("{}"), 16)) <= sys.maxunicode:
        return _make_letter(chr(code))
    return _read_escape(text) if kind == "escape" else _Part(text)


def _read_escape(text: str) -> _Part:
    letter = text[1:]
    if letter in _CONTROLS:
        return _make_letter(_CONTROLS[letter])
    if members := _CLASSES.get(letter.lower()):
        return _Part(f"[{'^' * letter.isupper()}{members}]", letter in "wd")
    if not (letter.isascii() and letter.isalnum()):
        return _make_letter(letter)
    # `\C` is a byte, which may be that of another line.
    return _Part("." if letter == "C" else text)


def _make_letter(letter: str) -> _Part:
    is_letter = letter == "_" or unicodedata.category(letter)[0] in "LNM"
    return _Part(re.escape(letter), is_letter, text=letter)


def _write_set(text: str) -> str:
    """A set for RE2."""

    def write_member(found: re.Match[str]) -> str:
        code, letter = found.groups()
        if code:
            return rf"\x{{{code}}}"
        if letter == "D":
            return r"\P{Nd}"
        members = _CLASSES.get(letter.lower(), "")
        if not members:
            return found[0] if letter.isascii() else str(letter)
        return members if letter.islower() else _complement(members)

    return _IN_SET.sub(write_member, text)


@cache
def _complement(members: str) -> str:
    """All characters but some, as ranges: a set of RE2 holds no complement of several classes."""
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1))))
    runs = (found[0] for found in re2.finditer(f"[^{members}]+", every))
    return "".join(rf"\x{{{ord(run[0]):x}}}-\x{{{ord(run[-1]):x}}}" for run in runs)


def _write(branches: _Branches) -> str:
    """Branches for RE2."""
    return "|".join("".join(map(_write_part, parts)) for parts in branches)


def _write_part(part: _Part) -> str:
    return part.source + (_write(part.branches) + ")" if part.branches else "") + part.repeat


def _write_branch(parts: Sequence[_Part]) -> str:
    """A whole expression, or a branch of one, with the boundaries of words at its ends."""
    written = list(map(_write_part, parts))
    if len(parts) > 1 and written[0] == r"\b" and _takes_letter(parts[1:], 0):
        written[0] = NO_WORD_BEFORE
    if len(parts) > 1 and written[-1] == r"\b" and _takes_letter(parts[:-1], -1):
        written[-1] = NO_WORD_AFTER
    return "".join(written)


def _takes_letter(parts: Sequence[_Part], at: int) -> bool:
    """Whether each match of some parts has a letter at their beginning (`at` 0) or end (-1)."""
    if not parts or not parts[at].is_needed:
        return False
    branches = parts[at].branches
    return parts[at].is_letter or (bool(branches) and all(_takes_letter(branch, at) for branch in branches))


def _need_of(branches: _Branches) -> Need:
    if len(branches) > 1:
        return Need(either=(tuple(_need_of((parts,)) for parts in branches),), any_case=True)
    literals: list[str] = [""]
    either: list[tuple[Need, ...]] = []
    for part in _flatten(branches[0]):
        if part.text and not part.repeat:
            literals[-1] += part.text
        elif not part.is_empty:
            inner = _need_of(part.branches) if part.is_needed and part.branches else Need((part.text,) * part.is_needed)
            literals += (*inner.literals, "")
            either += inner.either
    return Need(tuple(filter(None, literals)), tuple(either), any_case=True)


def _flatten(parts: Iterable[_Part]) -> Iterator[_Part]:
    """Some parts, those of groups among them."""
    for part in parts:
        if len(part.branches) == 1 and not part.repeat:
            yield from _flatten(part.branches[0])
        else:
            yield part
