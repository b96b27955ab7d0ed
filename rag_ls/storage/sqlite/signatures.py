"""The signatures of documents in `index.db`, all of them in memory for the next question, and the texts of their blocks.

`storage.terms` signs the blocks. The texts are read from the chunks of the documents, and kept for the next question.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np

from rag_ls.storage.api import Numbers
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.statements import as_json
from rag_ls.storage.terms import LINE_NUMBER, SIGNATURE_BYTES, BlockBits, Need, sign
from rag_ls.util.records import dataclass
from rag_ls.util.text import end_lines_in_lf

MAX_TEXTS_BYTES = 64_000_000
"""About so much text of the documents that were looked into is kept in memory, until the project rests."""
KILOBYTES_AT_ONCE = 8000
"""Documents of about so many kilobytes are read at once: a few of their blocks may be wanted of a thousand long ones."""
_LF_BYTE = 10


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of one state of the index; those of a document lie side by side."""

    version: int
    rows: Numbers
    """The row in `signatures` of each, ascending, of shape (blocks,). A document that changes gets another row."""
    documents: Numbers
    """Its document, of shape (blocks,)."""
    first_lines: Numbers
    """Its first line, of shape (blocks,)."""
    bits: BlockBits
    """Its signature."""

    def of_rows(self, rows: Numbers) -> tuple[Numbers, Numbers]:
        """The first and the last block of some rows of `signatures`."""
        return np.searchsorted(self.rows, rows), np.searchsorted(self.rows, rows, side="right") - 1


_NO_NUMBERS = np.zeros(0, np.int64)
NO_BLOCKS = Blocks(-1, _NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS, np.zeros((0, SIGNATURE_BYTES), np.uint8))


def load_blocks(database: Database, former: Blocks, version: int) -> Blocks:
    """The blocks as they are now, given those of a former state."""
    last = int(former.rows[-1]) if len(former.rows) else 0
    with database.reading() as connection:
        # Ids only grow.
        new = connection.execute(
            "SELECT id, document_id, bits, first_lines FROM signatures WHERE id > ? ORDER BY id", (last,)
        ).fetchall()
        kept = ~np.isin(former.documents, [row[1] for row in new])
        count = connection.execute("SELECT count(*) FROM signatures").fetchone()[0]
        if np.count_nonzero(np.diff(former.rows[kept], prepend=0)) + len(new) != count:
            rows = connection.execute("SELECT id FROM signatures WHERE id <= ?", (last,)).fetchall()
            kept = np.isin(former.rows, np.array(rows, np.int64))
    # A text without trigrams is a block that no text of three letters is in.
    added = np.frombuffer(b"".join(bits or bytes(SIGNATURE_BYTES) for *_, bits, _ in new), np.uint8)
    lines = [np.frombuffer(lines, LINE_NUMBER) if lines else np.ones(1, LINE_NUMBER) for *_, lines in new]
    numbers = np.array([row[:2] for row in new], np.int64).reshape(-1, 2).repeat(list(map(len, lines)), axis=0)
    return Blocks(
        version=version,
        rows=np.concatenate([former.rows[kept], numbers[:, 0]]),
        documents=np.concatenate([former.documents[kept], numbers[:, 1]]),
        first_lines=np.concatenate([former.first_lines[kept], *lines]),
        bits=np.concatenate([former.bits[kept], added.reshape(-1, SIGNATURE_BYTES)]),
    )


class BlockTexts:
    """Reads blocks, each in UTF-8, its lines ended by LF. Safe from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        # The texts of the blocks of a document, by its row in `signatures`.
        self._kept: dict[int, list[bytes]] = {}
        self._kept_bytes = 0

    def keep_present(self, blocks: Blocks) -> None:
        """Forget the texts of documents that changed or are gone."""
        with self._lock:
            for row in self._kept.keys() - set(np.unique(blocks.rows).tolist()):
                self._kept_bytes -= sum(map(len, self._kept.pop(row)))

    def read(self, blocks: Blocks, first: Numbers, last: Numbers) -> list[bytes | None]:
        """The texts of runs of blocks, each of one document; None where it changed meanwhile."""
        rows = blocks.rows[first]
        # The first run of each document: those of one document are read at once.
        heads = np.flatnonzero(np.diff(rows, prepend=0))
        begins, ends = blocks.of_rows(rows[heads])
        sizes = ends - begins + 1
        batches = np.flatnonzero(np.diff((np.cumsum(sizes) - sizes) // KILOBYTES_AT_ONCE)) + 1
        before = begins.repeat(np.diff(heads, append=len(rows)))
        runs = list(zip((first - before).tolist(), (last - before + 1).tolist(), strict=True))
        bounds = [*heads.tolist(), len(rows)]
        texts: list[bytes | None] = []
        for batch in np.split(np.arange(len(heads)), batches):
            held = self._read_documents(blocks, rows[heads[batch]].tolist())
            for at, parts in zip(batch.tolist(), held, strict=True):
                of_document = runs[bounds[at] : bounds[at + 1]]
                if parts is None:
                    texts += [None] * len(of_document)
                else:
                    texts += [parts[a] if b == a + 1 else b"".join(parts[a:b]) for a, b in of_document]
        return texts

    def _read_documents(self, blocks: Blocks, rows: Sequence[int]) -> list[list[bytes] | None]:
        """The texts of the blocks of some documents; they are kept while there is room for more."""
        with self._lock:
            held = [self._kept.get(row) for row in rows]
            keeps = self._kept_bytes < MAX_TEXTS_BYTES
        missing = [row for row, parts in zip(rows, held, strict=True) if parts is None]
        if not missing:
            return held
        found = self._database.rows(
            "SELECT s.id, c.ordinal, CAST(c.text AS BLOB) FROM json_each(?) w CROSS JOIN signatures s ON s.id = w.value "
            "LEFT JOIN chunks c ON c.document_id = s.document_id",
            (as_json(missing),),
        )
        read = {}
        for row, chunks in groupby(sorted(found, key=itemgetter(0, 1)), key=itemgetter(0)):
            first, last = blocks.of_rows(np.array(row))
            text = end_lines_in_lf(b"".join(text or b"" for *_, text in chunks))
            read[row] = _cut(text, blocks.first_lines[first : last + 1])
        with self._lock:
            if keeps:
                self._kept_bytes += sum(len(part) for row in read.keys() - self._kept for part in read[row])
                self._kept |= read
        return [parts or read.get(row) for row, parts in zip(rows, held, strict=True)]


def _cut(text: bytes, first_lines: Numbers) -> list[bytes]:
    """The blocks of a document that begin in some lines, the first of them in line 1."""
    begins = np.append(0, np.flatnonzero(np.frombuffer(text, np.uint8) == _LF_BYTE) + 1)
    bounds = [*begins[first_lines - 1].tolist(), len(text)]
    return [text[start:end] for start, end in pairwise(bounds)]


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
        blocks, texts = self._load()
        found = [need.find_blocks(blocks.bits, np.arange(len(blocks.rows))) for need in needs]
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
        return self._blocks.documents[self._first]

    @property
    def first_lines(self) -> Numbers:
        return self._blocks.first_lines[self._first]

    @property
    def kilobytes(self) -> Numbers:
        return self._last - self._first + 1

    def read(self, passages: Numbers) -> list[bytes | None]:
        return self._texts.read(self._blocks, self._first[passages], self._last[passages])
