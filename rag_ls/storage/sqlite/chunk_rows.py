"""Looks chunks up in `index.db`."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Collection, Sequence

from rag_ls.model import Chunk, StoredChunk
from rag_ls.storage.records import ChunkRow, DocumentRecord, FileState, NewChunk, Priority, RankRow, find_runs
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.statements import KeptRows, as_json, batches, marks
from rag_ls.storage.terms import columns_of, last_name
from rag_ls.util.paths import compose
from rag_ls.util.text import content_hash

_FOR_RANKING = (
    "SELECT c.id, c.document_id, d.path, d.language, c.symbol, c.node_type, c.is_declaration, c.ordinal, "
    "CASE c.embedded WHEN 1 THEN c.text_hash ELSE x'' END, d.size, c.end_line - c.start_line + 1 "
    "FROM chunks c JOIN documents d ON d.id = c.document_id"
)
DOCUMENT_COLUMNS = (
    "d.path, d.language, d.sha256, d.size, d.mtime_ns, d.ctime_ns, d.read_ns, d.session, d.id, d.secret_lines"
)
CHUNK_COLUMNS = (
    f"{DOCUMENT_COLUMNS}, c.id, c.uid, c.content_hash, c.text_hash, d.path, d.language, c.ordinal, c.start_byte, "
    "c.end_byte, c.start_line, c.end_line, c.text, c.overlap, c.symbol, c.node_type, c.parent_types, c.depth, "
    "c.is_declaration, c.signature, c.doc"
)
FROM_CHUNKS = f"SELECT {CHUNK_COLUMNS} FROM chunks c JOIN documents d ON d.id = c.document_id"
IdentifiedChunk = tuple[str, str, NewChunk]
"""A chunk with its id and the SHA-256 of its own text."""


class ChunkReader:
    """Looks chunks of a checkout up, those of unsaved text among them. See `SearchedChunks`."""

    def __init__(self, database: Database, kept: KeptRows) -> None:
        self._database = database
        self._kept = kept

    def by_row(self, rows: Collection[int]) -> dict[int, ChunkRow]:
        return {
            found.row: found for found in self._select("c.id IN (SELECT value FROM json_each(?))", (as_json(rows),))
        }

    def for_ranking(self, rows: Collection[int]) -> list[RankRow]:
        query = f"{_FOR_RANKING} WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id"
        return list(map(RankRow._make, self._database.rows(query, (as_json(rows),))))

    def estimated_count(self) -> int:
        """The number of chunks."""
        return int(self._kept.rows("SELECT count(*) FROM chunks")[0][0])

    def pieces(self, rows: Collection[int]) -> dict[int, list[ChunkRow]]:
        found = self._database.rows(
            f"SELECT m.id, {CHUNK_COLUMNS} FROM chunks m JOIN chunks c ON c.document_id = m.document_id AND c.symbol = m.symbol "
            "JOIN documents d ON d.id = c.document_id "
            "WHERE m.id IN (SELECT value FROM json_each(?)) AND m.symbol != '' ORDER BY m.id, c.ordinal",
            (as_json(rows),),
        )
        return find_runs((row[0], chunk_row(row[1:])) for row in found)

    def by_id(self, chunk_id: str) -> list[ChunkRow]:
        return self._select("c.uid = ?", (chunk_id,))

    def with_content(self, digest: str) -> list[ChunkRow]:
        """All chunks whose own text has this SHA-256 (hex), by path."""
        return self._select("c.content_hash = ? ORDER BY d.path, c.ordinal", (digest,))

    def of_symbol(self, symbol: str) -> list[ChunkRow]:
        """All chunks of the symbol with exactly this qualified name, by path."""
        return self._select(
            "c.name = ? AND c.symbol = ? ORDER BY d.path, c.ordinal", (last_name(symbol), compose(symbol))
        )

    def of_document(self, document_id: int) -> list[ChunkRow]:
        """A document's chunks in order."""
        return self._select("c.document_id = ? ORDER BY c.ordinal", (document_id,))

    def text_of(self, document_id: int) -> str:
        """A document's text: its chunks' own texts in order."""
        query = "SELECT text FROM chunks WHERE document_id = ? ORDER BY ordinal"
        return "".join(self._database.column(query, (document_id,)))

    def length(self, document_id: int) -> int:
        """The bytes of a document's text in UTF-8."""
        query = "SELECT ifnull(max(end_byte), 0) FROM chunks WHERE document_id = ?"
        return self._database.count(query, (document_id,))

    def at(self, document_id: int, line: int) -> ChunkRow | None:
        found = self._select(
            "c.document_id = ? AND c.start_line <= ? AND c.end_line >= ? ORDER BY c.ordinal DESC LIMIT 1",
            (document_id, line, line),
        )
        return found[0] if found else None

    def named(self, names: Collection[str], limit: int) -> list[tuple[int, str, bool]]:
        rows = self._database.rows(
            "SELECT id, name, is_declaration FROM chunks WHERE name != '' AND name IN (SELECT value FROM json_each(?)) "
            "ORDER BY is_declaration DESC, id LIMIT ?",
            (as_json(names), limit),
        )
        return [(row[0], row[1], bool(row[2])) for row in rows]

    def documents_of(self, rows: Collection[int]) -> dict[int, int]:
        query = "SELECT id, document_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._database.rows(query, (as_json(rows),)))

    def texts(self, rows: Collection[int]) -> dict[int, str]:
        if not rows:
            return {}
        query = "SELECT id, text FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._database.rows(query, (as_json(rows),)))

    def with_texts(self, text_hashes: Collection[bytes]) -> list[RankRow]:
        found: list[RankRow] = []
        for part in batches(list(text_hashes)):
            query = f"{_FOR_RANKING} WHERE c.text_hash IN ({marks(part)}) AND c.embedded = 1"
            found += map(RankRow._make, self._database.rows(query, tuple(part)))
        return found

    def text_hashes_of_documents(self, document_ids: Collection[int]) -> list[bytes]:
        query = "SELECT DISTINCT text_hash FROM chunks WHERE embedded = 1 AND document_id IN (SELECT value FROM json_each(?))"
        return self._database.column(query, (as_json(document_ids),))

    def first_of(self, document_ids: Collection[int], limit: int) -> list[int]:
        if not document_ids:
            return []
        query = "SELECT id FROM chunks WHERE document_id IN (SELECT value FROM json_each(?)) ORDER BY ordinal LIMIT ?"
        return self._database.column(query, (as_json(document_ids), limit))

    def _select(self, where: str, values: Sequence[object]) -> list[ChunkRow]:
        return list(map(chunk_row, self._database.rows(f"{FROM_CHUNKS} WHERE {where}", tuple(values))))


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


def identify_chunks(path: str, chunks: Sequence[NewChunk]) -> list[IdentifiedChunk]:
    """Chunks with their ids: by path, own text and, where a text stands several times, its number."""
    seen: Counter[str] = Counter()
    identified = []
    for new in chunks:
        digest = content_hash(new.chunk.text)
        seen[digest] += 1
        uid = hashlib.sha256(f"{path}\0{digest}\0{seen[digest]}".encode()).hexdigest()[:16]
        identified.append((uid, digest, new))
    return identified


def upsert_document(connection: sqlite3.Connection, document: DocumentRecord) -> int:
    """Insert a document, or update it in place; returns its id."""
    row = connection.execute(
        "INSERT INTO documents (path, session, language, sha256, size, mtime_ns, ctime_ns, read_ns, secret_lines) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path, session) DO UPDATE SET language = excluded.language, "
        "sha256 = excluded.sha256, size = excluded.size, mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, "
        "read_ns = excluded.read_ns, secret_lines = excluded.secret_lines RETURNING id",
        (
            document.path,
            document.session,
            document.language,
            document.sha256,
            *state_values(document.state),
            document.secret_lines,
        ),
    ).fetchone()
    return int(row[0])


def insert_chunks(
    connection: sqlite3.Connection,
    document_id: int,
    added: Sequence[IdentifiedChunk],
    without_vector: set[bytes],
    priority: Priority,
) -> range:
    """Insert chunks; returns their rows."""
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone()
    first = 1 + (int(last[0]) if last else 0)
    connection.executemany(
        "INSERT INTO chunks (id, document_id, uid, ordinal, start_byte, end_byte, start_line, end_line, symbol, name, "
        "node_type, parent_types, depth, is_declaration, signature, doc, overlap, text, content_hash, text_hash, "
        "embedded, priority) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (row, document_id, uid, *_values(digest, new), new.text_hash not in without_vector, priority)
            for row, (uid, digest, new) in enumerate(added, first)
        ],
    )
    return range(first, first + len(added))


def _values(digest: str, new: NewChunk) -> tuple[object, ...]:
    chunk = new.chunk
    return (
        *_position(chunk), chunk.symbol, last_name(chunk.symbol), chunk.node_type, "\n".join(chunk.parent_types),
        chunk.depth, chunk.is_declaration, chunk.signature, chunk.doc, chunk.overlap, chunk.text,
        digest, new.text_hash,
    )  # fmt: skip


def posting_columns(path: str, new: NewChunk) -> tuple[str, ...]:
    """The terms of a chunk by column of the full-text index."""
    chunk = new.chunk
    return new.columns or columns_of(path, chunk.symbol, chunk.signature, chunk.doc, chunk.text)


def move_chunks(connection: sqlite3.Connection, kept: Sequence[tuple[int, NewChunk]]) -> None:
    """Update where chunks stand that are as they were otherwise: (row, chunk)."""
    connection.executemany(
        "UPDATE chunks SET ordinal = ?, start_byte = ?, end_byte = ?, start_line = ?, end_line = ?, overlap = ?, "
        "node_type = ?, parent_types = ?, depth = ?, is_declaration = ? "
        "WHERE id = ? AND (ordinal, start_byte, end_byte, start_line, end_line) != (?, ?, ?, ?, ?)",
        [(*_position(new.chunk), new.chunk.overlap, new.chunk.node_type, "\n".join(new.chunk.parent_types), new.chunk.depth,
          new.chunk.is_declaration, row, *_position(new.chunk)) for row, new in kept],
    )  # fmt: skip


def _position(chunk: Chunk) -> tuple[int, int, int, int, int]:
    return (chunk.ordinal, chunk.start_byte, chunk.end_byte, chunk.start_line, chunk.end_line)
