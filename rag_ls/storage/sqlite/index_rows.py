"""Makes documents and chunks of the rows of `index.db`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from rag_ls.model import Chunk, StoredChunk
from rag_ls.storage.records import ChunkRow, DocumentRecord, FileState

T = TypeVar("T")

DOCUMENT_COLUMNS = (
    "d.path, d.language, d.sha256, d.size, d.mtime_ns, d.ctime_ns, d.read_ns, d.session, d.id, d.secret_lines"
)
CHUNK_COLUMNS = (
    f"{DOCUMENT_COLUMNS}, c.id, c.uid, c.content_hash, c.text_hash, d.path, d.language, c.ordinal, c.start_byte, "
    "c.end_byte, c.start_line, c.end_line, c.text, c.overlap, c.symbol, c.node_type, c.parent_types, c.depth, "
    "c.is_declaration, c.signature, c.doc"
)
FROM_CHUNKS = f"SELECT {CHUNK_COLUMNS} FROM chunks c JOIN documents d ON d.id = c.document_id"


def chunk_row(row: tuple[object, ...]) -> ChunkRow:
    """The chunk of a row of `FROM_CHUNKS`."""
    document = document_record(row[:10])
    number, uid, digest, text_hash, *fields = row[10:]
    parents = str(fields[11])
    fields[11] = tuple(parents.split("\n")) if parents else ()
    fields[13] = bool(fields[13])
    stored = StoredChunk(str(uid), Chunk(*fields), str(digest), document.session)  # type: ignore[arg-type]
    return ChunkRow(number, stored, document, text_hash)  # type: ignore[arg-type]


def document_record(row: tuple[object, ...]) -> DocumentRecord:
    """The document of a row of `DOCUMENT_COLUMNS`."""
    path, language, sha256, size, mtime_ns, ctime_ns, read_ns, session, number, secret_lines = row
    state = FileState(size, mtime_ns, ctime_ns, read_ns)  # type: ignore[arg-type]
    return DocumentRecord(
        path=path, language=language, sha256=sha256, state=state, session=session, id=number, secret_lines=secret_lines,  # type: ignore[arg-type]
    )  # fmt: skip


def state_values(state: FileState) -> tuple[int, int, int, int]:
    """The columns of a file's state."""
    return (state.size, state.mtime_ns, state.ctime_ns, state.read_ns)


def as_json(values: Iterable[object]) -> str:
    """A list for `json_each`."""
    return json.dumps(list(values))


def batches(values: Sequence[T], size: int = 4000) -> Iterator[Sequence[T]]:
    """Split values into parts that fit one statement."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def marks(values: Sequence[object]) -> str:
    """A comma-separated list of one question mark per value."""
    return ", ".join("?" * len(values))
