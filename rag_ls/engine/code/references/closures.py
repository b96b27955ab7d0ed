"""Finds what a block is given to: `carts.map { $0.size }`, `cart?.let { it.size }`. Its unnamed parameter comes from there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag_ls.engine.code.references.bindings import blank
from rag_ls.engine.code.references.expressions import read_chain_before

_OPENING = {")": "(", "]": "[", "}": "{"}
_CALLED = re.compile(r"[?!]?\.(\w+)\s*(?:\(\s*(?:\w+:\s*)?|\([^()]*\)\s*)?$")
_STATEMENT = re.compile(r"^\s*(?:\}\s*)?(?:else\s+)?(?:if|guard|while|for|switch|when)\b[^\n]*$")


class GivenBlock(NamedTuple):
    """The call that a block is an argument of."""

    receiver: str
    """The chain that the method is called on."""
    method: str


def find_blocks(text: str, name: str) -> Iterator[GivenBlock]:
    """The calls of the innermost blocks around each place of a name in the last line of a text."""
    text = blank(text)
    start = text.rfind("\n") + 1
    for match in re.finditer(rf"(?<![\w$.]){re.escape(name)}(?!\w)", text[start:]):
        if (block := _find_block(text[: start + match.start()])) is not None:
            yield block


def _find_block(text: str) -> GivenBlock | None:
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        mark = text[at]
        depth += (mark in _OPENING) - (mark in "([{")
        if depth < 0:
            depth = 0
            before = text[:at]
            line = before[before.rfind("\n") + 1 :]
            called = _CALLED.search(before) if mark == "{" and not _STATEMENT.match(line) else None
            if called:
                return GivenBlock(read_chain_before(f"{before[: called.start()]}."), called[1])
            if mark == "{" and re.search(r"(?:\w|\)|=)\s*$", before) and not _STATEMENT.match(line):
                # A block that something else is given: another parameter.
                return None
    return None
