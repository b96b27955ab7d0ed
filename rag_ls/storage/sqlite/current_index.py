"""Keeps the `VectorIndex` that is in use, and builds its snapshot in the background."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from rag_ls.errors import StoreError
from rag_ls.storage.records import Hnsw
from rag_ls.storage.sqlite.vector_index import EXACT_LIMIT, VectorIndex, VectorRows

_log = logging.getLogger(__name__)


class CurrentIndex:
    """The `VectorIndex` of the model that was asked for last. Safe from several threads."""

    def __init__(
        self, rows: VectorRows, folder: Path | None, hnsw: Hnsw | None, exact_limit: int = EXACT_LIMIT, *, name: str
    ) -> None:
        """`folder` is the folder of snapshots, whose files begin with `name`; None keeps everything in memory."""
        self._rows = rows
        self._folder = folder
        self._hnsw = hnsw or Hnsw()
        self._exact_limit = exact_limit
        self._name = name
        self._lock = threading.Lock()
        self._index: VectorIndex | None = None
        self._building: threading.Thread | None = None

    def of_model(self, model: str) -> VectorIndex:
        """The index of a model, in place of another one's."""
        with self._lock:
            if self._index is None or self._index.model != model:
                self._index = VectorIndex(
                    self._rows, model, self._folder, exact_limit=self._exact_limit, hnsw=self._hnsw, name=self._name
                )
            return self._index

    def build_if_long(self) -> None:
        """Build a snapshot in the background if many vectors are in none, unless one is being built."""
        with self._lock:
            index = self._index
            if index is None or self._folder is None or self._is_building or not index.tail_is_long:
                return
            self._building = threading.Thread(target=self._build, args=(index,), name=self._name, daemon=True)
            self._building.start()

    def let_go(self) -> bool:
        """Drop what was read into memory, unless a snapshot is being built; the next search reads it again."""
        with self._lock:
            index = self._index
            if index is None or self._is_building:
                return False
            self._index = None
        index.close()
        return True

    def close(self) -> None:
        """Stop background work."""
        with self._lock:
            index = self._index
        if index is not None:
            index.close()

    @property
    def _is_building(self) -> bool:
        return self._building is not None and self._building.is_alive()

    def _build(self, index: VectorIndex) -> None:
        try:
            index.build_snapshot()
        except (StoreError, OSError) as error:
            _log.info("no snapshot of %s was made: %s", self._name, error)
