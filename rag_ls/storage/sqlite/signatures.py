"""The signatures of documents in `index.db`, and all of them in memory for the next question."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from rag_ls.storage.passages import MAX_LINE, Passage, take_lines
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.index_rows import as_json, batches
from rag_ls.storage.trigrams import LINE_NUMBER, SIGNATURE_BYTES, Columns, Need, sign

MAX_TEXTS_BYTES = 64_000_000
"""About so much text of the documents that were looked into is kept in memory, until the project rests."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The signatures of one state of the index."""

    version: int
    rows: NDArray[np.int64]
    """The row in `signatures` of each block, of shape (blocks,)."""
    documents: NDArray[np.int64]
    """Its document, of shape (blocks,)."""
    first_lines: NDArray[np.int64]
    last_lines: NDArray[np.int64]
    """Its lines, both inclusive, of shape (blocks,) each."""
    columns: Columns


_NO_LINES = np.zeros(0, np.int64)
_NONE = _Loaded(
    version=-1,
    rows=_NO_LINES,
    documents=_NO_LINES,
    first_lines=_NO_LINES,
    last_lines=_NO_LINES,
    columns=np.zeros((SIGNATURE_BYTES, 0), np.uint8),
)


class Signatures:
    """Finds the lines that may hold a literal text. Safe from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._loaded = _NONE
        # Texts of the documents in `_loaded`, kept for the next question.
        self._texts: dict[int, tuple[Passage, bytes]] = {}
        self._texts_bytes = 0

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
            self._loaded = _NONE
            self._forget_texts(self._texts.keys())

    def find_passages(self, needs: Sequence[Need]) -> list[Passage]:
        """See `SearchedSignatures`."""
        loaded = self._load()
        if all(need.is_empty for need in needs):
            return [Passage(number) for number in self._database.column("SELECT id FROM documents ORDER BY id")]
        masks = [need.find_blocks(loaded.columns) for need in needs]
        if len(masks) == 1:
            return _join_blocks(loaded, np.flatnonzero(masks[0]))
        # The terms may be those of several lines, which may lie in several blocks.
        holders = [set(loaded.documents[mask].tolist()) for mask in masks]
        return [Passage(document) for document in sorted(set.intersection(*holders))]

    def read_passages(self, passages: Sequence[Passage]) -> list[tuple[Passage, bytes]]:
        """See `SearchedSignatures`."""
        with self._lock:
            loaded, is_kept = self._loaded, self._texts_bytes < MAX_TEXTS_BYTES
            found = {each.document_id: self._texts.get(each.document_id) for each in passages}
        missing = [each for each in passages if found[each.document_id] is None]
        read = self._read([Passage(each.document_id) for each in missing] if is_kept else missing)
        with self._lock:
            # Texts that were read before a document changed are not kept.
            if is_kept and self._loaded is loaded:
                self._forget_texts(self._texts.keys() & read.keys())
                self._texts |= read
                self._texts_bytes += sum(len(text) for _, text in read.values())
        return [held for each in passages if (held := found[each.document_id] or read.get(each.document_id))]

    def _read(self, passages: Sequence[Passage]) -> dict[int, tuple[Passage, bytes]]:
        """Passages of different documents, by document."""
        rows = self._database.rows(
            "WITH p (number, document, first, last) AS MATERIALIZED (SELECT key, json_extract(value, '$[0]'), "
            "json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(?)) "
            "SELECT p.number, c.ordinal, c.start_line, CAST(c.text AS BLOB) FROM p CROSS JOIN chunks c "
            "ON c.document_id = p.document AND c.end_line >= p.first AND c.start_line <= p.last",
            (as_json(passages),),
        )
        found = {}
        for at, chunks in groupby(sorted(rows), key=itemgetter(0)):
            (_, _, start_line, text), *others = chunks
            passage = passages[at]
            text += b"".join(text for *_, text in others)
            found[passage.document_id] = passage, take_lines(text, start_line, passage.first, passage.last)
        return found

    def _load(self) -> _Loaded:
        """All signatures as they are now; those that are in memory are not read again."""
        version = self._database.changes()
        with self._lock:
            if self._loaded.version != version:
                self._loaded = self._update(self._loaded, version)
            return self._loaded

    def _forget_texts(self, documents: Iterable[int]) -> None:
        self._texts_bytes -= sum(len(self._texts.pop(each)[1]) for each in list(documents))

    def _update(self, former: _Loaded, version: int) -> _Loaded:
        present = np.array(self._database.column("SELECT id FROM signatures"), dtype=np.int64)
        new = np.setdiff1d(present, former.rows)
        rows: list[int] = []
        documents: list[int] = []
        bits_of, first_lines, last_lines = [], [_NO_LINES], [_NO_LINES]
        for part in batches(new.tolist()):
            for row, document, bits, lines in self._database.rows(
                "SELECT id, document_id, bits, first_lines FROM signatures WHERE id IN (SELECT value FROM json_each(?))",
                (as_json(part),),
            ):
                blocks = len(bits) // SIGNATURE_BYTES
                rows += [row] * blocks
                documents += [document] * blocks
                bits_of.append(bits)
                first = np.frombuffer(lines, dtype=LINE_NUMBER).astype(np.int64)
                first_lines.append(first)
                last_lines.append(np.append(first[1:] - 1, MAX_LINE)[:blocks])
        kept = np.isin(former.rows, present)
        # If a document's row is still there, it has not changed since its text was read.
        self._forget_texts(self._texts.keys() - set(former.documents[kept].tolist()))
        added = np.frombuffer(b"".join(bits_of), dtype=np.uint8).reshape(-1, SIGNATURE_BYTES).T
        return _Loaded(
            version=version,
            rows=np.concatenate([former.rows[kept], np.array(rows, dtype=np.int64)]),
            documents=np.concatenate([former.documents[kept], np.array(documents, dtype=np.int64)]),
            first_lines=np.concatenate([former.first_lines[kept], *first_lines]),
            last_lines=np.concatenate([former.last_lines[kept], *last_lines]),
            columns=np.ascontiguousarray(np.concatenate([former.columns[:, kept], added], axis=1)),
        )


def _join_blocks(loaded: _Loaded, blocks: NDArray[np.int64]) -> list[Passage]:
    """One passage for each document, from the first of its blocks to the last: reading several costs more than what is between."""
    documents = loaded.documents[blocks]
    # The blocks of a document lie side by side.
    begins = np.flatnonzero(np.diff(documents, prepend=-1))
    ends = np.flatnonzero(np.diff(documents, append=-1))
    columns = (documents[begins], loaded.first_lines[blocks[begins]], loaded.last_lines[blocks[ends]])
    return sorted(map(Passage._make, zip(*(column.tolist() for column in columns), strict=True)))
