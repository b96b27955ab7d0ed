"""The signatures of documents in `index.db`, and all of them in memory for the next question."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.guard import guarded
from rag_ls.storage.sqlite.index_rows import as_json, batches
from rag_ls.storage.trigrams import SIGNATURE_BYTES, Columns, Need, sign


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The signatures of one state of the index."""

    version: int
    rows: NDArray[np.int64]
    """The row in `signatures` of each block, of shape (blocks,)."""
    documents: NDArray[np.int64]
    """Its document, of shape (blocks,)."""
    columns: Columns


_NONE = _Loaded(-1, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((SIGNATURE_BYTES, 0), np.uint8))


@guarded
class Signatures:
    """Finds the documents that may hold a literal text. Safe from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._loaded = _NONE

    def replace(self, connection: sqlite3.Connection, document_id: int, texts: Iterable[str]) -> None:
        """Sign a document anew, given the texts of its chunks. Call it inside a transaction."""
        connection.execute("DELETE FROM signatures WHERE document_id = ?", (document_id,))
        connection.execute(
            "INSERT INTO signatures (document_id, bits) VALUES (?, ?)", (document_id, sign("".join(texts)))
        )

    def forget(self) -> None:
        """Drop what is in memory."""
        with self._lock:
            self._loaded = _NONE

    def find_documents(self, needs: Sequence[Need]) -> list[int]:
        """The documents that may have, for each need, a line that meets it."""
        if all(need.is_empty for need in needs):
            return [row[0] for row in self._database.connection.execute("SELECT id FROM documents")]
        loaded = self._load()
        found: set[int] | None = None
        for need in needs:
            holders = set(map(int, np.unique(loaded.documents[need.find_blocks(loaded.columns)])))
            found = holders if found is None else found & holders
        return sorted(found or ())

    def read_texts(self, documents: Collection[int]) -> list[tuple[int, str]]:
        """Some documents with their whole texts, without documents that were deleted meanwhile."""
        texts: dict[int, list[str]] = {}
        for document, text in self._database.connection.execute(
            "SELECT document_id, text FROM chunks WHERE document_id IN (SELECT value FROM json_each(?)) "
            "ORDER BY document_id, ordinal",
            (as_json(documents),),
        ):
            texts.setdefault(document, []).append(text)
        return [(document, "".join(parts)) for document, parts in texts.items()]

    def _load(self) -> _Loaded:
        """All signatures as they are now; those that are in memory are not read again."""
        version = self._database.changes()
        with self._lock:
            if self._loaded.version != version:
                self._loaded = self._update(self._loaded, version)
            return self._loaded

    def _update(self, former: _Loaded, version: int) -> _Loaded:
        connection = self._database.connection
        present = np.array([row[0] for row in connection.execute("SELECT id FROM signatures")], dtype=np.int64)
        new = np.setdiff1d(present, former.rows)
        rows, documents, parts = [], [], []
        for part in batches([int(row) for row in new]):
            for row, document, bits in connection.execute(
                "SELECT id, document_id, bits FROM signatures WHERE id IN (SELECT value FROM json_each(?))",
                (as_json(part),),
            ):
                blocks = len(bits) // SIGNATURE_BYTES
                rows += [row] * blocks
                documents += [document] * blocks
                parts.append(bits)
        kept = np.isin(former.rows, present)
        added = np.frombuffer(b"".join(parts), dtype=np.uint8).reshape(-1, SIGNATURE_BYTES).T
        return _Loaded(
            version,
            np.concatenate([former.rows[kept], np.array(rows, dtype=np.int64)]),
            np.concatenate([former.documents[kept], np.array(documents, dtype=np.int64)]),
            np.ascontiguousarray(np.concatenate([former.columns[:, kept], added], axis=1)),
        )
