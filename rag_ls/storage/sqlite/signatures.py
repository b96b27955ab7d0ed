"""The signatures of documents in `index.db`, all of them in memory for the next question."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rag_ls.storage.passages import Numbers
from rag_ls.storage.sqlite.block_texts import BlockTexts
from rag_ls.storage.sqlite.blocks import NO_BLOCKS, Blocks, load_blocks
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.trigrams import Need, sign


class Signatures:
    """Finds the lines that may hold a literal text. Safe from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._blocks = NO_BLOCKS
        self._texts = BlockTexts(database)

    def replace(self, connection: sqlite3.Connection, document_id: int, texts: Iterable[str]) -> None:
        """Sign a document anew, given the texts of its chunks. Call it inside a transaction."""
        connection.execute("DELETE FROM signatures WHERE document_id = ?", (document_id,))
        signed = sign("".join(texts))
        connection.execute(
            "INSERT INTO signatures (document_id, bits, first_lines) VALUES (?, ?, ?)",
            (document_id, signed.bits, signed.first_lines),
        )

    def forget(self) -> None:
        """Drop what is in memory."""
        with self._lock:
            self._blocks, self._texts = NO_BLOCKS, BlockTexts(self._database)

    def find_passages(self, needs: Sequence[Need]) -> BlockPassages:
        """See `SearchedSignatures`."""
        blocks, texts = self._load()
        found = [need.find_blocks(blocks.bits, blocks.present()) for need in needs]
        if len(found) == 1:
            return BlockPassages(blocks, texts, found[0], found[0])
        # The terms may be those of several lines, which may lie in several blocks.
        rows = np.unique(blocks.rows[found[0]])
        for each in found[1:]:
            rows = np.intersect1d(rows, blocks.rows[each])
        return BlockPassages(blocks, texts, *blocks.of_rows(rows))

    def _load(self) -> tuple[Blocks, BlockTexts]:
        """All signatures as they are now; those that are in memory are not read again."""
        version = self._database.changes()
        with self._lock:
            if self._blocks.version != version:
                self._blocks = load_blocks(self._database, self._blocks, version)
                self._texts.keep_present(self._blocks)
            return self._blocks, self._texts


@dataclass(frozen=True, slots=True)
class BlockPassages:
    """See `FoundPassages`: runs of blocks."""

    _blocks: Blocks
    _texts: BlockTexts
    _first: Numbers
    _last: Numbers
    """Inclusive."""

    @property
    def documents(self) -> Numbers:
        """See `FoundPassages`."""
        return self._blocks.documents[self._first]

    @property
    def first_lines(self) -> Numbers:
        """See `FoundPassages`."""
        return self._blocks.first_lines[self._first]

    @property
    def kilobytes(self) -> Numbers:
        """See `FoundPassages`."""
        return self._last - self._first + 1

    def read(self, passages: Numbers) -> list[bytes | None]:
        """See `FoundPassages`."""
        first = self._first[passages]
        return self._texts.read(self._blocks, first, first if self._last is self._first else self._last[passages])
