"""Shows one of several small declarations that share a chunk, with its own lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag_ls.model import Chunk, StoredChunk
from rag_ls.search.roles import is_data, is_docs
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern

_LINE = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
# How the lines of comments, attributes and decorators begin.
_ABOVE = lazy_pattern(r"\s*(?://|/\*|\*|#(?![a-z])|--|@|%|;|<!--)")


def is_small_part(chunk: Chunk, held: StoredSymbol) -> bool:
    """Whether a declaration that begins in a chunk is less than half of it."""
    return 2 * (min(held.end_line, chunk.end_line) - held.start_line + 1) < chunk.end_line - chunk.start_line + 1


def show_declaration(stored: StoredChunk, held: StoredSymbol) -> StoredChunk:
    """A chunk, narrowed to a declaration that begins in it and the comment right above it, under the chunk's id.

    Lines beyond the chunk's end are not shown.
    """
    chunk = stored.chunk
    lines = _LINE.findall(chunk.text)
    first = _find_first(lines, held.start_line - chunk.start_line)
    shown = lines[first : held.end_line - chunk.start_line + 1]
    text = "".join(shown)
    start = chunk.start_byte + _size("".join(lines[:first]))
    narrowed = replace(
        chunk, text=text, overlap="", start_byte=start, end_byte=start + _size(text),
        start_line=chunk.start_line + first, end_line=chunk.start_line + first + len(shown) - 1,
        symbol=held.symbol, node_type=held.kind, is_declaration=True, signature=held.signature, doc="",
    )  # fmt: skip
    return replace(stored, chunk=narrowed)


def _find_first(lines: Sequence[str], declared: int) -> int:
    """The first line of the comment and the attributes right above a declaration; both as indices."""
    first = declared
    while first > 0 and _ABOVE.match(lines[first - 1]):
        first -= 1
    return first


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


_LICENCE = lazy_pattern(r"copyright|licen[sc]e|spdx", re.I)
_COMMENT = lazy_pattern(r"\s*(?:#(?!\s*include)|//|/?\*|--|;|\"use )")
_IMPORT = lazy_pattern(
    r"\s*(?:(?:import|from|use|using|require|require_once|require_relative|include|package|namespace|pub use|extern crate)\b"
    r"|#\s*include|(?:const|let|var)\b.*\brequire\(|export\b.*\bfrom\b|<\?php|[)}\]])"
)
# A name or a path in a longer import.
_PART = lazy_pattern(
    r"\s*(?:(?:type )?[\w$.*:{}\\, ]+(?: as \w+)?,|[\w$]+(?: as \w+)?|[\w.]*\s*[\"'][^\"']*[\"'][,;]?)\s*$"
)
# More lines of comments, without a licence among them, say what a file is for.
_MAX_REMARKS = 2


def is_preamble(chunk: Chunk) -> bool:
    """Whether a chunk of code holds nothing but imports and a licence, or one of these."""
    if chunk.symbol or not _is_code(chunk):
        return False
    lines = [line for line in chunk.text.splitlines() if line.strip()]
    others = [line for line in lines if not _COMMENT.match(line)]
    if len(lines) - len(others) > _MAX_REMARKS and not _LICENCE.search(chunk.text):
        return False
    return (not others or bool(_IMPORT.match(others[0]))) and all(
        _IMPORT.match(line) or _PART.match(line) for line in others
    )


def is_import(line: str, chunk: Chunk) -> bool:
    """Whether a line of a chunk of code imports something: prose may begin so, too."""
    return _is_code(chunk) and _IMPORT.match(line) is not None


def _is_code(chunk: Chunk) -> bool:
    return not (is_docs(chunk.language) or is_data(chunk.language))
