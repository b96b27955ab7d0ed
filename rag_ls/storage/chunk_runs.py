"""The consecutive chunks of one symbol."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.storage.records import ChunkRow


def run_around(rows: Sequence[ChunkRow], ordinal: int) -> list[ChunkRow]:
    """Of one symbol's chunks in order, the consecutive ones that include the one with this ordinal."""
    run: list[ChunkRow] = []
    for row in rows:
        if run and row.stored.chunk.ordinal != run[-1].stored.chunk.ordinal + 1:
            if any(item.stored.chunk.ordinal == ordinal for item in run):
                break
            run = []
        run.append(row)
    return run
