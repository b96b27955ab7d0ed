"""Conditional compilation, for grammars that read one text: what is left where one branch of each condition is compiled."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rag_ls.languages.patterns import COMMON_LEXIS
from rag_ls.languages.syntax import Variant
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, field

_NOISE = lazy_pattern(f"{COMMON_LEXIS.comments}|{COMMON_LEXIS.strings}".encode(), re.DOTALL)
_DIRECTIVE = lazy_pattern(rb"^[ \t]*#[ \t]*(\w+)((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_DEFINED = lazy_pattern(rb"(!?)\s*defined\s*\(?\s*(\w+)\s*\)?")
# `G_BEGIN_DECLS`, `SHOP_NAMESPACE_END(v2)`: the grammar takes it for the type of what follows.
_BLOCK_MACRO = lazy_pattern(rb"^[A-Z_][A-Z0-9_]*(?:BEGIN|END)[A-Z0-9_]*(?:\([^()\n]*\))?(?=[ \t]*\r?$)", re.MULTILINE)
_BRACKET = lazy_pattern(rb"[{}()]")
_OPENING = {b"{": (b"{", 1), b"}": (b"{", -1), b"(": (b"(", 1), b")": (b"(", -1)}
_NO_LINE_END = lazy_pattern(rb"[^\r\n]")
_ALWAYS: Mapping[bytes, bool] = {b"": True, b"1": True, b"0": False}


class _Branch(NamedTuple):
    start: int
    """The start of its directive."""
    end: int
    """The end of its directive."""
    condition: bytes
    is_negated: bool


def choose_branches(data: bytes) -> tuple[Variant, Variant]:
    """The text where all conditions hold, and where none does.

    Only conditions count one of whose branches opens a bracket that it does not close, or closes one that it does not open.
    """
    return _choose(data, holds=True), _choose(data, holds=False)


@dataclass(slots=True)
class _Text:
    """A text whose branches are chosen, the innermost first."""

    data: bytearray
    code: bytearray
    """The same without comments, texts in quotes and directives."""
    holds: bool
    known: dict[bytes, bool] = field(default_factory=lambda: dict(_ALWAYS))
    left_out: list[tuple[int, int]] = field(default_factory=list)

    def choose(self, branches: Sequence[_Branch], end: re.Match[bytes]) -> None:
        """Leave one branch of a condition at most, if one of them is uneven."""
        starts = [*(branch.start for branch in branches[1:]), end.start()]
        spans = [(branch.end, start) for branch, start in zip(branches, starts, strict=True)]
        if all(_is_even(self.code[start:stop]) for start, stop in spans):
            return
        chosen = next((at for at, branch in enumerate(branches) if self._is_compiled(branch)), -1)
        others = [span for at, span in enumerate(spans) if at != chosen]
        for start, stop in (*others, *((branch.start, branch.end) for branch in branches), end.span()):
            self.data[start:stop] = _blank(self.data[start:stop])
            self.code[start:stop] = _blank(self.code[start:stop])
        self.left_out += others

    def _is_compiled(self, branch: _Branch) -> bool:
        return self.known.setdefault(branch.condition, self.holds != branch.is_negated) != branch.is_negated


def _choose(data: bytes, *, holds: bool) -> Variant:
    data = _BLOCK_MACRO.sub(lambda found: _blank(found[0]), data)
    code = _NOISE.sub(lambda found: _blank(found[0]), data)
    text = _Text(bytearray(data), bytearray(_DIRECTIVE.sub(lambda found: _blank(found[0]), code)), holds)
    opened: list[list[_Branch]] = []
    for directive in _DIRECTIVE.finditer(code):
        word = directive[1]
        branch = _Branch(*directive.span(), *_read_condition(word, b" ".join(directive[2].split())))
        if word in (b"if", b"ifdef", b"ifndef"):
            opened.append([branch])
        elif opened and word.startswith(b"el"):
            opened[-1].append(branch)
        elif opened and word == b"endif":
            text.choose(opened.pop(), directive)
    return Variant(bytes(text.data), text.left_out)


def _read_condition(word: bytes, rest: bytes) -> tuple[bytes, bool]:
    """A condition, and whether it is negated; `ifndef NAME`, `if !defined(NAME)` and `ifdef NAME` name one condition."""
    if word.endswith(b"def"):
        return rest, word.endswith(b"ndef")
    defined = _DEFINED.fullmatch(rest)
    return (defined[2], bool(defined[1])) if defined else (rest, False)


def _is_even(code: bytes | bytearray) -> bool:
    """Whether each bracket is closed in the text, and none that is opened before it."""
    open_now = {b"{": 0, b"(": 0}
    for bracket in _BRACKET.findall(code):
        kind, step = _OPENING[bracket]
        open_now[kind] += step
        if open_now[kind] < 0:
            return False
    return not any(open_now.values())


def _blank(text: bytes | bytearray) -> bytes:
    return _NO_LINE_END.sub(b" ", bytes(text))
