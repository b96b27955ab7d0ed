"""The blocks of all documents, which `storage.trigrams` signs, as one state of the index has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rag_ls.storage.passages import Numbers
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.trigrams import LINE_NUMBER, SIGNATURE_BYTES, BlockBits

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
