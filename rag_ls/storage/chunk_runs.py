"""The consecutive chunks of one symbol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from rag_ls.storage.records import ChunkRow


def find_runs(found: Iterable[tuple[int, ChunkRow]]) -> dict[int, list[ChunkRow]]:
    """The consecutive chunks around each wanted one: `found` has the wanted row with each chunk of its symbol, in order."""
    return {
        row: _take_run([chunk for _, chunk in chunks], row) for row, chunks in groupby(found, key=lambda item: item[0])
    }


def _take_run(chunks: Sequence[ChunkRow], row: int) -> list[ChunkRow]:
    """Of one symbol's chunks in order, the consecutive ones that include this row."""
    run: list[ChunkRow] = []
    for chunk in chunks:
        if run and chunk.stored.chunk.ordinal != run[-1].stored.chunk.ordinal + 1:
            if any(item.row == row for item in run):
                break
            run = []
        run.append(chunk)
    return run
