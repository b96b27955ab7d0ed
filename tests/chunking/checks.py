"""What must hold for the chunks of any document."""

from __future__ import annotations

import re

import numpy as np

from rag_ls.chunking import Budget, approximate_token_offsets, cut
from rag_ls.model import Chunk, Outline

SMALL = Budget(max_tokens=24, min_tokens=6, overlap_tokens=5)
MEDIUM = Budget(max_tokens=100, min_tokens=20, overlap_tokens=12)


def joined(chunks: list[Chunk]) -> str:
    """The text that was cut into chunks."""
    return "".join(chunk.text for chunk in chunks)


def chunks_of(text: str, language: str | None, budget: Budget = SMALL, path: str = "a/file") -> list[Chunk]:
    """Chunks, after checking all that must hold for them and for the outline."""
    found = cut(text, path, language=language, budget=budget, token_offsets=approximate_token_offsets)
    chunks = found.chunks
    check_partition(text, chunks)
    check_lines(text, chunks)
    check_budget(text, chunks, budget)
    check_overlap(text, chunks, budget)
    check_outline(text, found.outline)
    return chunks


def outline_of(text: str, language: str | None, path: str = "a/file") -> Outline:
    """The outline alone."""
    return cut(text, path, language=language, budget=SMALL, token_offsets=approximate_token_offsets).outline


def check_outline(text: str, outline: Outline) -> None:
    last = len(re.findall(r"\r\n|\n|\r", text)) + 1
    for symbol in outline.symbols:
        assert 1 <= symbol.start_line <= symbol.end_line <= last
        assert symbol.name
        assert symbol.kind in ("function", "type", "value", "module", "section")
        assert "\n" not in symbol.name + symbol.signature + symbol.doc
    for found in outline.imports:
        assert 1 <= found.line <= last
        assert found.module
        assert all(found.names)
    for lines in ([symbol.start_line for symbol in outline.symbols], [found.line for found in outline.imports]):
        assert lines == sorted(lines)


def check_partition(text: str, chunks: list[Chunk]) -> None:
    data = text.encode("utf-8", "surrogatepass")
    assert "".join(chunk.text for chunk in chunks) == text
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    end = 0
    for chunk in chunks:
        assert chunk.start_byte == end
        assert chunk.end_byte > chunk.start_byte
        end = chunk.end_byte
        assert data[chunk.start_byte : end] == chunk.text.encode("utf-8", "surrogatepass")
        assert not (chunk.text.endswith("\r") and data[end : end + 1] == b"\n"), "a CRLF was parted"
    assert end == len(data)


def check_lines(text: str, chunks: list[Chunk]) -> None:
    """Line numbers against a count of our own: characters before, line ends before."""
    ends = [match.end() for match in re.finditer(r"\r\n|\n|\r", text)]
    position, passed = 0, 0
    for chunk in chunks:
        while passed < len(ends) and ends[passed] <= position:
            passed += 1
        assert chunk.start_line == passed + 1
        position += len(chunk.text)
        before_last = passed
        while before_last < len(ends) and ends[before_last] < position:
            before_last += 1
        assert chunk.end_line == before_last + 1


def check_budget(text: str, chunks: list[Chunk], budget: Budget) -> None:
    tokens = approximate_token_offsets(text)
    for chunk in chunks:
        if len(chunk.text) == 1 or chunk.text == "\r\n":
            continue
        first, last = np.searchsorted(tokens, (chunk.start_byte, chunk.end_byte))
        assert last - first <= budget.max_tokens
        assert chunk.end_byte - chunk.start_byte <= 16 * budget.max_tokens


def check_overlap(text: str, chunks: list[Chunk], budget: Budget) -> None:
    before = ""
    tokens = approximate_token_offsets(text)
    for chunk in chunks:
        assert before.endswith(chunk.overlap)
        size = len(chunk.overlap.encode("utf-8", "surrogatepass"))
        first, last = np.searchsorted(tokens, (chunk.start_byte - size, chunk.start_byte))
        assert last - first <= budget.overlap_tokens
        before = before[-4096:] + chunk.text
