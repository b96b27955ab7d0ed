"""Memories at rest: `memories.db` of a project or of the user, or RAM for a session's own.

Precious: nothing here deletes or overwrites a damaged file. Every change keeps the former version.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import uuid
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls.errors import MemoriesDamaged, MemoriesUnavailable
from rag_ls.model import Anchor, Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.storage.database import Database, SchemaTooNew
from rag_ls.storage.records import Vectors
from rag_ls.storage.terms import indexed_text

_log = logging.getLogger(__name__)

FILE_NAME = "memories.db"
_BACKUPS = "backups"
_BACKUPS_KEPT = 7

_TABLES = (
    """CREATE TABLE memories (
      row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, content TEXT NOT NULL, metadata TEXT NOT NULL,
      memory_type TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, version INTEGER NOT NULL,
      content_hash TEXT NOT NULL, source_uri TEXT, source_memory_ids TEXT NOT NULL, anchor TEXT)""",
    "CREATE UNIQUE INDEX memories_content ON memories (content_hash)",
    "CREATE INDEX memories_anchored ON memories (updated_at) WHERE anchor IS NOT NULL",
    """CREATE TABLE history (
      id TEXT NOT NULL, version INTEGER NOT NULL, record TEXT NOT NULL, replaced_at TEXT NOT NULL,
      PRIMARY KEY (id, version))""",
    "CREATE TABLE vectors (row INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE, model TEXT NOT NULL, "
    "content_hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (row, model))",
    "CREATE VIRTUAL TABLE memory_postings USING fts5 (content, tags, tokenize = 'porter unicode61 remove_diacritics 2')",
)
_COLUMNS = "id, content, metadata, memory_type, created_at, updated_at, version, content_hash, source_uri, source_memory_ids, anchor"


def _create(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)


MIGRATIONS = (_create,)


class MemoryStore:
    """The memories of one scope. Safe from several threads and processes."""

    def __init__(self, path: Path | None, scope: Scope) -> None:
        """Raises `MemoriesDamaged`, naming the newest good backup, where the file is broken, else `MemoriesUnavailable`."""
        self._scope = scope
        self._path = path
        if path is not None and _is_truncated(path):
            raise MemoriesDamaged(_damage_report(path, ValueError("it is empty")))
        try:
            self._database = Database(path, MIGRATIONS, durable=True)
            if path is not None:
                self._check()
        except (sqlite3.OperationalError, OSError) as error:
            raise MemoriesUnavailable(
                f"{path} cannot be opened ({error}); make it readable and writable for you"
            ) from error
        except sqlite3.DatabaseError as error:
            assert path is not None
            raise MemoriesDamaged(_damage_report(path, error)) from error

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def transaction(self) -> AbstractContextManager[object]:
        """What is read and written inside commits together; no other writer comes between."""
        return self._database.writing()

    def insert(self, memory: Memory) -> None:
        """Store a new memory."""
        with self._database.writing() as connection:
            row = connection.execute(
                f"INSERT INTO memories ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING row",
                _values(memory),
            ).fetchone()[0]
            self._index(connection, row, memory)

    def replace(self, memory: Memory) -> None:
        """Store a memory's new version; the former one goes to its history. Raises `KeyError` for an unknown id."""
        with self._database.writing() as connection:
            row = self._archive(connection, memory.id)
            if row is None:
                raise KeyError(memory.id)
            assignments = ", ".join(f"{name.strip()} = ?" for name in _COLUMNS.split(","))
            connection.execute(f"UPDATE memories SET {assignments} WHERE row = ?", (*_values(memory), row))
            connection.execute("DELETE FROM memory_postings WHERE rowid = ?", (row,))
            connection.execute("DELETE FROM vectors WHERE row = ? AND content_hash != ?", (row, memory.content_hash))
            self._index(connection, row, memory)

    def delete(self, memory_id: str) -> bool:
        """Delete a memory, keeping its last version in the history; whether there was one."""
        with self._database.writing() as connection:
            row = self._archive(connection, memory_id)
            if row is None:
                return False
            connection.execute("DELETE FROM memory_postings WHERE rowid = ?", (row,))
            connection.execute("DELETE FROM memories WHERE row = ?", (row,))
        return True

    def get(self, memory_id: str) -> Memory | None:
        """One memory by its id, or None."""
        return next(iter(self._memories("id = ?", (memory_id,))), None)

    def with_content(self, content_hash: str) -> Memory | None:
        """The memory with exactly this content, or None."""
        return next(iter(self._memories("content_hash = ?", (content_hash,))), None)

    def all(self, *, anchored_only: bool = False) -> list[Memory]:
        """Every memory (or every one with an anchor), the newest change first."""
        where = "anchor IS NOT NULL" if anchored_only else "1"
        return self._memories(f"{where} ORDER BY updated_at DESC, row DESC", ())

    def count(self) -> int:
        """How many memories there are."""
        return int(self._database.connection.execute("SELECT count(*) FROM memories").fetchone()[0])

    def ids_starting(self, prefix: str) -> list[str]:
        """Ids that start with `prefix`, so that a person can give an id's first characters."""
        escaped = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        rows = self._database.connection.execute(
            "SELECT id FROM memories WHERE id LIKE ? ESCAPE '\\' LIMIT 10", (escaped + "%",)
        )
        return [row[0] for row in rows]

    def lexical(self, terms: Sequence[str], limit: int) -> dict[str, float]:
        """BM25 by id of the memories that hold any of the terms (higher is better)."""
        if not terms:
            return {}
        rows = self._database.connection.execute(
            "SELECT m.id, -bm25(memory_postings, 1.0, 2.0) FROM memory_postings p JOIN memories m ON m.row = p.rowid "
            "WHERE memory_postings MATCH ? ORDER BY 2 DESC LIMIT ?",
            (" OR ".join(f'"{term}"' for term in terms), limit),
        )
        return dict(rows)

    def vectors(self, model: str) -> tuple[list[str], Vectors]:
        """Ids and vectors, shape (n, dimensions), of all memories that have one by `model`."""
        rows = self._database.connection.execute(
            "SELECT m.id, v.vector FROM vectors v JOIN memories m USING (row) "
            "WHERE v.model = ? AND v.content_hash = m.content_hash",
            (model,),
        ).fetchall()
        if not rows:
            return [], np.empty((0, 0), np.float32)
        joined = np.frombuffer(b"".join(row[1] for row in rows), np.float32)
        return [row[0] for row in rows], joined.reshape(len(rows), -1)

    def without_vector(self, model: str, limit: int) -> list[Memory]:
        """Memories whose content `model` has not embedded yet."""
        return self._memories(
            "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.row = memories.row AND v.model = ? "
            "AND v.content_hash = memories.content_hash) LIMIT ?",
            (model, limit),
        )

    def add_vector(self, memory_id: str, model: str, content_hash: str, vector: NDArray[np.float32]) -> None:
        """Store a memory's vector, shape (dimensions,)."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO vectors SELECT row, ?, ?, ? FROM memories WHERE id = ?",
                (model, content_hash, vector.astype(np.float32).tobytes(), memory_id),
            )

    def backup(self, now: datetime | None = None) -> Path | None:
        """Copy the file to `backups/`, once a day at most; the oldest of more than seven go.

        A backup that fails is logged: what was stored is stored.
        """
        try:
            return self._backup(now)
        except (OSError, sqlite3.Error) as error:
            _log.warning("%s was not backed up: %s", self._path, error)
            return None

    def _backup(self, now: datetime | None) -> Path | None:
        if self._path is None:
            return None
        folder = self._path.parent / _BACKUPS
        target = folder / f"memories-{(now or datetime.now(UTC)):%Y-%m-%d}.db"
        if target.exists() or not self.count():
            return None
        folder.mkdir(mode=0o700, exist_ok=True)
        temporary = folder / f"{target.stem}.{uuid.uuid4().hex}.tmp"
        self._database.connection.execute("VACUUM INTO ?", (str(temporary),))
        temporary.chmod(0o600)
        temporary.replace(target)
        for old in sorted(folder.glob("memories-*.db"))[:-_BACKUPS_KEPT]:
            old.unlink(missing_ok=True)
        return target

    def _check(self) -> None:
        found = self._database.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(found)

    def _memories(self, where: str, values: Collection[object]) -> list[Memory]:
        rows = self._database.connection.execute(f"SELECT {_COLUMNS} FROM memories WHERE {where}", tuple(values))
        return [_memory(row, self._scope) for row in rows]

    def _archive(self, connection: sqlite3.Connection, memory_id: str) -> int | None:
        row = connection.execute(f"SELECT row, {_COLUMNS} FROM memories WHERE id = ?", (memory_id,)).fetchone()
        if row is None:
            return None
        names = [name.strip() for name in _COLUMNS.split(",")]
        record = json.dumps(dict(zip(names, row[1:], strict=True)))
        connection.execute(
            "INSERT INTO history VALUES (?, ?, ?, ?)",
            (memory_id, row[7], record, datetime.now(UTC).isoformat()),
        )
        return int(row[0])

    def _index(self, connection: sqlite3.Connection, row: int, memory: Memory) -> None:
        connection.execute(
            "INSERT INTO memory_postings (rowid, content, tags) VALUES (?, ?, ?)",
            (row, indexed_text(memory.content), indexed_text(" ".join(memory.metadata.tags))),
        )


def _values(memory: Memory) -> tuple[object, ...]:
    meta = memory.metadata
    metadata = {
        "tags": list(meta.tags), "source_file": meta.source_file, "language": meta.language, "chunk_index": meta.chunk_index,
        "parent_id": meta.parent_id, "ast_node_type": meta.ast_node_type, "importance_score": meta.importance_score,
        "custom": dict(meta.custom),
    }  # fmt: skip
    anchor = memory.anchor
    anchored = anchor and json.dumps([anchor.path, anchor.symbol, anchor.content_hash, anchor.start_line])
    return (
        memory.id, memory.content, json.dumps(metadata), memory.memory_type.value, memory.created_at, memory.updated_at,
        memory.version, memory.content_hash, memory.source_uri, json.dumps(memory.source_memory_ids), anchored,
    )  # fmt: skip


def _memory(row: Sequence[object], scope: Scope) -> Memory:
    number, content, metadata, kind, created, updated, version, digest, uri, sources, anchor = row
    fields = json.loads(str(metadata))
    fields["tags"] = tuple(fields["tags"])
    return Memory(
        str(number), str(content), scope, MemoryMetadata(**fields), MemoryType(str(kind)), str(created), str(updated),
        int(str(version)), str(digest), None if uri is None else str(uri), tuple(json.loads(str(sources))),
        Anchor(*json.loads(str(anchor))) if anchor else None,
    )  # fmt: skip


def _damage_report(path: Path, error: Exception) -> str:
    if isinstance(error, SchemaTooNew):
        return f"{error}; upgrade rag-ls, nothing was changed"
    backups = sorted((path.parent / _BACKUPS).glob("memories-*.db"), reverse=True)
    good = next((backup for backup in backups if _is_good(backup)), None)
    remedy = f"the newest good backup is {good}: copy it over that file" if good else "there is no backup of it"
    return f"{path} is damaged ({error}) and was left as it is; {remedy}"


def _is_truncated(path: Path) -> bool:
    """Whether a file that once held memories is empty; SQLite would take it for a new database."""
    return path.exists() and path.stat().st_size == 0 and any((path.parent / _BACKUPS).glob("memories-*.db"))


def _is_good(file: Path) -> bool:
    try:
        connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
        try:
            connection.execute("SELECT count(*) FROM memories").fetchone()
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        finally:
            connection.close()
    except sqlite3.Error:
        return False
