"""Writes documents and chunks as rows of `index.db`."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Sequence

from rag_ls.model import Chunk
from rag_ls.storage.records import DocumentRecord, NewChunk, Priority
from rag_ls.storage.sqlite.index_rows import state_values
from rag_ls.storage.terms import columns_of, last_name
from rag_ls.util.text import content_hash

IdentifiedChunk = tuple[str, str, NewChunk]
"""A chunk with its id and the SHA-256 of its own text."""


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
