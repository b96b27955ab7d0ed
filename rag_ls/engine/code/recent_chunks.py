"""Remembers the places of recently returned chunks, because an id leads nowhere once its text was edited."""

from __future__ import annotations

import threading
from collections import OrderedDict

from rag_ls.model import StoredChunk
from rag_ls.util.records import dataclass

_MAX_KEPT = 4096


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """The place of a chunk when it was given out."""

    path: str
    symbol: str
    line: int
    content_hash: str


class RecentChunks:
    """The last few thousand chunks that were given out, by id. Safe from several threads."""

    def __init__(self, kept: int = _MAX_KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._places: OrderedDict[str, ChunkPlace] = OrderedDict()

    def note(self, stored: StoredChunk) -> None:
        """Remember where a chunk is now."""
        chunk = stored.chunk
        with self._lock:
            self._places[stored.id] = ChunkPlace(chunk.path, chunk.symbol, chunk.start_line, stored.content_hash)
            self._places.move_to_end(stored.id)
            while len(self._places) > self._kept:
                self._places.popitem(last=False)

    def place(self, chunk_id: str) -> ChunkPlace | None:
        """The place of a chunk when it was last given out, or None."""
        with self._lock:
            return self._places.get(chunk_id)
