"""The texts of blocks, read from the chunks of their documents and kept for the next question."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np

from rag_ls.storage.passages import Numbers
from rag_ls.storage.sqlite.blocks import Blocks
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.index_rows import as_json
from rag_ls.util.text import end_lines_in_lf

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
