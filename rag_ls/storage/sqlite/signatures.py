"""The signatures of documents in `index.db`, all of them in memory for the next question, and the texts of their blocks.

`storage.trigrams` signs the blocks. The texts are read from the chunks of the documents, and kept for the next question.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np

from rag_ls.storage.passages import Numbers
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.index_rows import as_json
from rag_ls.storage.trigrams import LINE_NUMBER, SIGNATURE_BYTES, BlockBits, Need, sign
from rag_ls.util.records import dataclass
from rag_ls.util.text import end_lines_in_lf

# Room for so many more blocks is made at once: a change does not copy all signatures.
_SPARE_SHARE = 1 / 16
_MIN_SPARE_BLOCKS = 64
# Gaps are closed once this share of the blocks are former ones.
_MAX_FORMER_SHARE = 1 / 8
_NO_NUMBERS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of one state of the index; those of a document lie side by side. Later states keep their places, up to `epoch`."""

    version: int
    epoch: int
    """Another one where the places mean other blocks."""
    rows: Numbers
    """The row in `signatures` of each, ascending, of shape (blocks,)."""
    documents: Numbers
    """Its document, of shape (blocks,); 0 for one that changed or is gone."""
    first_lines: Numbers
    """Its first line, of shape (blocks,)."""
    bits: BlockBits
    """Its signature, with spare rows behind the last one."""

    def present(self) -> Numbers:
        """The blocks of documents as they are now."""
        return np.flatnonzero(self.documents)

    def of_rows(self, rows: Numbers) -> tuple[Numbers, Numbers]:
        """The first and the last block of some rows of `signatures`."""
        return np.searchsorted(self.rows, rows), np.searchsorted(self.rows, rows, side="right") - 1

    def end_lines(self, blocks: Numbers, after_last: int) -> Numbers:
        """The line after each of some blocks; `after_last` for a document's last one."""
        rows = np.append(self.rows, 0)
        is_last = rows[blocks + 1] != rows[blocks]
        return np.where(is_last, after_last, np.append(self.first_lines, 0)[blocks + 1])


NO_BLOCKS = Blocks(
    version=-1,
    epoch=0,
    rows=_NO_NUMBERS,
    documents=_NO_NUMBERS,
    first_lines=_NO_NUMBERS,
    bits=np.zeros((0, SIGNATURE_BYTES), np.uint8),
)


def load_blocks(database: Database, former: Blocks, version: int) -> Blocks:
    """The blocks as they are now, given those of a former state."""
    last = int(former.rows[-1]) if len(former.rows) else 0
    with database.reading() as connection:
        # Ids only grow, and a document that changes gets another one.
        new = connection.execute(
            "SELECT id, document_id, bits, first_lines FROM signatures WHERE id > ? ORDER BY id", (last,)
        ).fetchall()
        documents = np.where(np.isin(former.documents, [row[1] for row in new]), 0, former.documents)
        count = connection.execute("SELECT count(*) FROM signatures").fetchone()[0]
        if np.count_nonzero(np.diff(former.rows[documents > 0], prepend=0)) + len(new) != count:
            kept = connection.execute("SELECT document_id FROM signatures WHERE id <= ?", (last,)).fetchall()
            documents = np.where(np.isin(documents, np.array(kept, np.int64)), documents, 0)
    return _close_gaps(_append(former, documents, new, version))


def _append(former: Blocks, documents: Numbers, new: list[tuple[int, int, bytes, bytes]], version: int) -> Blocks:
    # A text without trigrams is a block that no text of three letters is in.
    added = np.frombuffer(b"".join(bits or bytes(SIGNATURE_BYTES) for *_, bits, _ in new), np.uint8)
    lines = [np.frombuffer(lines, LINE_NUMBER) if lines else np.ones(1, LINE_NUMBER) for *_, lines in new]
    counts = [len(each) for each in lines]
    start, end = len(documents), len(documents) + sum(counts)
    bits = former.bits
    if end > len(bits):
        bits = np.empty((end + int(end * _SPARE_SHARE) + _MIN_SPARE_BLOCKS, SIGNATURE_BYTES), np.uint8)
        bits[:start] = former.bits[:start]
    # Searches that still look at the former state do not look behind its last block.
    bits[start:end] = added.reshape(-1, SIGNATURE_BYTES)
    numbers = np.array([row[:2] for row in new], np.int64).reshape(-1, 2).repeat(counts, axis=0)
    return Blocks(
        version=version,
        epoch=former.epoch,
        rows=np.concatenate([former.rows, numbers[:, 0]]),
        documents=np.concatenate([documents, numbers[:, 1]]),
        first_lines=np.concatenate([former.first_lines, *lines]),
        bits=bits,
    )


def _close_gaps(blocks: Blocks) -> Blocks:
    present = blocks.present()
    former = len(blocks.documents) - len(present)
    if former <= max(_MIN_SPARE_BLOCKS, len(present) * _MAX_FORMER_SHARE):
        return blocks
    return Blocks(
        version=blocks.version,
        epoch=blocks.epoch + 1,
        rows=blocks.rows[present],
        documents=blocks.documents[present],
        first_lines=blocks.first_lines[present],
        bits=blocks.bits[present],
    )


MAX_TEXTS_BYTES = 64_000_000
"""About so much text of the documents that were looked into is kept in memory, until the project rests."""
KILOBYTES_AT_ONCE = 8000
"""Documents of about so many kilobytes are read at once: a few of their blocks may be wanted of a thousand long ones."""
# No document has more lines.
_MAX_LINE = 2**31 - 1
_LF_BYTE = 10


class BlockTexts:
    """Reads blocks, each in UTF-8, its lines ended by LF. Safe from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        # By place in `Blocks` of one epoch.
        self._kept: list[bytes | None] = []
        self._epoch = -1
        self._kept_bytes = 0

    def keep_present(self, blocks: Blocks) -> None:
        """Forget the texts of blocks that changed or are gone."""
        with self._lock:
            if self._epoch != blocks.epoch:
                self._kept, self._epoch, self._kept_bytes = [], blocks.epoch, 0
            for at in np.flatnonzero(blocks.documents[: len(self._kept)] == 0).tolist():
                self._kept_bytes -= len(self._kept[at] or b"")
                self._kept[at] = None
            self._kept += [None] * (len(blocks.documents) - len(self._kept))

    def read(self, blocks: Blocks, first: Numbers, last: Numbers) -> list[bytes | None]:
        """The texts of runs of blocks, each of one document; None where it changed meanwhile."""
        with self._lock:
            kept = self._kept if self._epoch == blocks.epoch else [None] * len(blocks.documents)
            if first is last:
                texts = [kept[at] for at in first.tolist()]
            else:
                texts = [_join(kept[begin : end + 1]) for begin, end in zip(first.tolist(), last.tolist(), strict=True)]
        missing = np.array([at for at, text in enumerate(texts) if text is None], np.int64)
        for part in _divide(blocks, first, missing):
            read = self._read_missing(blocks, first[part], last[part])
            for at in part.tolist():
                texts[at] = _join([read.get(block) for block in range(int(first[at]), int(last[at]) + 1)])
        return texts

    def _read_missing(self, blocks: Blocks, first: Numbers, last: Numbers) -> dict[int, bytes]:
        """The texts of blocks by place; while there is room for more, those of all blocks of their documents."""
        with self._lock:
            keeps = self._kept_bytes < MAX_TEXTS_BYTES
        begins = np.flatnonzero(np.diff(blocks.rows[first], prepend=0))
        if keeps:
            first, last = blocks.of_rows(blocks.rows[first[begins]])
        else:
            first, last = np.minimum.reduceat(first, begins), np.maximum.reduceat(last, begins)
        read = self._read(blocks, first, last)
        with self._lock:
            if keeps and self._epoch == blocks.epoch:
                for at, text in read.items():
                    self._kept_bytes += len(text) - len(self._kept[at] or b"")
                    self._kept[at] = text
        return read

    def _read(self, blocks: Blocks, first: Numbers, last: Numbers) -> dict[int, bytes]:
        """The texts of runs of blocks, each of another document, by place."""
        columns = (blocks.rows[first], blocks.documents[first], blocks.first_lines[first])
        end_lines = blocks.end_lines(last, _MAX_LINE)
        rows = self._database.rows(
            "WITH p (number, row, document, first, end) AS MATERIALIZED (SELECT key, json_extract(value, '$[0]'), "
            "json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]') FROM json_each(?)) "
            "SELECT p.number, c.ordinal, c.start_line, CAST(c.text AS BLOB) FROM p CROSS JOIN signatures s "
            "ON s.id = p.row LEFT JOIN chunks c "
            "ON c.document_id = p.document AND c.end_line >= p.first AND c.start_line < p.end",
            (as_json(zip(*(column.tolist() for column in (*columns, end_lines)), strict=True)),),
        )
        runs, texts, start_lines = [], [], []
        for number, chunks in groupby(sorted(rows, key=itemgetter(0, 1)), key=itemgetter(0)):
            (_, _, start_line, text), *others = chunks
            runs.append(number)
            texts.append(end_lines_in_lf(b"".join([text or b"", *(text for *_, text in others)])))
            start_lines.append(start_line or 1)
        return _cut(blocks, first[runs], last[runs], texts, np.array(start_lines, np.int64))


def _divide(blocks: Blocks, first: Numbers, among: Numbers) -> list[Numbers]:
    """Some runs of blocks, given by index, in parts that are read at once; those of one document are in one part."""
    rows = blocks.rows[first[among]]
    begins = np.flatnonzero(np.diff(rows, prepend=0))
    low, high = blocks.of_rows(rows[begins])
    sizes = high - low + 1
    numbers = (np.cumsum(sizes) - sizes) // KILOBYTES_AT_ONCE
    return np.split(among, begins[np.flatnonzero(np.diff(numbers)) + 1]) if len(among) else []


def _cut(
    blocks: Blocks, first: Numbers, last: Numbers, texts: Sequence[bytes], start_lines: Numbers
) -> dict[int, bytes]:
    """The texts of the blocks by place, given a text for each run, that begins in a start line and may be longer."""
    ended = [text + b"\n" if text and not text.endswith(b"\n") else text for text in texts]
    data = b"".join(ended)
    begins = np.append(0, np.flatnonzero(np.frombuffer(data, np.uint8) == _LF_BYTE) + 1)
    text_ends = np.cumsum([len(text) for text in ended], dtype=np.int64)
    # The places in `begins` of the first line of each text, and of the one after its last.
    first_at, end_at = (
        np.searchsorted(begins, np.append(0, text_ends[:-1])[: len(ended)]),
        np.searchsorted(begins, text_ends),
    )
    counts = last - first + 1
    places = np.concatenate([np.zeros(0, np.int64), *map(np.arange, first.tolist(), (last + 1).tolist())])
    moved, limits = (first_at - start_lines).repeat(counts), end_at.repeat(counts)
    starts = begins[np.minimum(moved + blocks.first_lines[places], limits)]
    ends = begins[np.minimum(moved + blocks.end_lines(places, _MAX_LINE), limits)]
    return {
        place: data[start:end]
        for place, start, end in zip(places.tolist(), starts.tolist(), ends.tolist(), strict=True)
    }


def _join(parts: Sequence[bytes | None]) -> bytes | None:
    """The parts as one text; None if any is missing."""
    if len(parts) == 1:
        return parts[0]
    return None if None in parts else b"".join(parts)  # type: ignore[arg-type]


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
        return self._blocks.documents[self._first]

    @property
    def first_lines(self) -> Numbers:
        return self._blocks.first_lines[self._first]

    @property
    def kilobytes(self) -> Numbers:
        return self._last - self._first + 1

    def read(self, passages: Numbers) -> list[bytes | None]:
        first = self._first[passages]
        return self._texts.read(self._blocks, first, first if self._last is self._first else self._last[passages])
