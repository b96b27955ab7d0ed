"""Stores memories: in `memories.db` of a project or of the user, or in RAM for a session.

Memories cannot be rebuilt, so nothing here deletes or overwrites a damaged file. Every change keeps the former version.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from rag_ls.errors import StoreError
from rag_ls.model import Memory, MemoryFilters, MemoryOrder, MemoryVersion, Scope
from rag_ls.storage.records import Batch, Hnsw, VersionChange
from rag_ls.storage.sqlite.connections import Connections
from rag_ls.storage.sqlite.memory_files import (
    ERASED,
    back_up,
    erase_from_backups,
    erase_rows,
    is_due,
    make_mark,
    open_memory_file,
)
from rag_ls.storage.sqlite.memory_rows import (
    COLUMNS,
    FROM,
    NAMES,
    SELECTED,
    UseCounter,
    condition,
    from_record,
    from_row,
    of_metadata,
    order_by,
    to_record,
    to_values,
    version_changes_of,
)
from rag_ls.storage.sqlite.memory_vectors import MemoryVectors
from rag_ls.storage.sqlite.memory_words import MemoryWords
from rag_ls.storage.sqlite.statements import as_json, optimise
from rag_ls.storage.terms import index_text
from rag_ls.util.text import utc_stamp

_log = logging.getLogger(__name__)

FILE_NAME = "memories.db"
_EVERYTHING = MemoryFilters()


class MemoryStore:
    """The memories of one scope, in `memories.db` or in RAM. Every change keeps the former version.

    Scopes of filters are ignored. Safe from several threads and processes.
    """

    def __init__(
        self,
        path: Path | None,
        scope: Scope,
        *,
        hnsw: Hnsw | None = None,
        connections: Connections | None = None,
    ) -> None:
        """Raises `StoreDamaged`, which names the newest good backup, for a broken file, else `StoreUnavailable`."""
        self.scope = scope
        """The scope of all its memories."""
        self.path = path
        self.place = str(path or "")
        """The place of the memories, for people; empty for RAM."""
        self._database = open_memory_file(path, f"{scope} memories", connections)
        self._uses = UseCounter(self._database, in_background=path is not None)
        self.vectors = MemoryVectors(self._database, path.parent if path else None, hnsw=hnsw)
        """The memories' vectors."""
        self.words = MemoryWords(self._database)
        """The memories' words and tags."""

    def close(self) -> None:
        self._uses.close()
        self.vectors.close()
        self._database.close()

    @property
    def unused_s(self) -> float:
        """Seconds since the last call."""
        return self._database.unused_s

    def let_go(self) -> bool:
        """Close the files and drop what was read from them; whether none is open. All is opened again when it is needed."""
        if self.path is not None:
            self.vectors.let_go()
        return self._database.let_go()

    @property
    def was_written(self) -> bool:
        """Whether another process wrote the file since it was let go. Opens nothing."""
        return self._database.was_written

    def changes(self) -> int:
        """A number that differs after every commit of any process."""
        return self._database.changes()

    def transaction(self) -> AbstractContextManager[object]:
        """A transaction: reads and writes inside commit together, and no other writer comes between."""
        return self._database.writing()

    # --- writing

    def insert(self, memory: Memory) -> None:
        marks = ", ".join("?" * len(NAMES))
        with self._database.writing() as connection:
            row = connection.execute(
                f"INSERT INTO memories ({COLUMNS}) VALUES ({marks}) RETURNING row", to_values(memory)
            ).fetchone()[0]
            self._index(connection, row, memory)

    def replace(self, memory: Memory, *, reason: str = "updated") -> None:
        """Store a memory's new version; the former one goes to its history. Raises `KeyError` for an unknown id."""
        with self._database.writing() as connection:
            row = self._archive(connection, memory.id, reason)
            if row is None:
                raise KeyError(memory.id)
            assignments = ", ".join(f"{name} = ?" for name in NAMES)
            connection.execute(f"UPDATE memories SET {assignments} WHERE row = ?", (*to_values(memory), row))
            connection.execute("DELETE FROM memory_postings WHERE rowid = ?", (row,))
            connection.execute("DELETE FROM tags WHERE row = ?", (row,))
            connection.execute("DELETE FROM vectors WHERE row = ? AND content_hash != ?", (row, memory.content_hash))
            self._index(connection, row, memory)

    def touch(self, memory_id: str, updated_at: str) -> None:
        """Note that a memory was stored again unchanged. That makes no version."""
        with self._database.writing() as connection:
            connection.execute("UPDATE memories SET updated_at = ? WHERE id = ?", (updated_at, memory_id))

    def delete(self, memory_id: str, *, reason: str = "deleted") -> bool:
        """Delete a memory, keeping its last version in the history; whether there was one."""
        with self._database.writing() as connection:
            row = self._archive(connection, memory_id, reason)
            if row is None:
                return False
            connection.execute("DELETE FROM memory_postings WHERE rowid = ?", (row,))
            connection.execute("DELETE FROM memories WHERE row = ?", (row,))
        return True

    def erase(self, memories: Iterable[Memory]) -> tuple[Memory, ...]:
        """Erase memories with their history; returns the marks that stay of them. `erase_remains` goes on to the files."""
        marks = tuple(map(make_mark, memories))
        with self._database.writing() as connection:
            for mark in marks:
                _add_version(connection, MemoryVersion(mark, utc_stamp(datetime.now(UTC)), ERASED))
            erase_rows(connection, marks)
        return marks

    def erase_remains(self, marks: Sequence[Memory]) -> list[Path]:
        """Remove what erased memories left in the file, its snapshots and its backups; returns the backups that still hold them."""
        self.vacuum()
        if self.path is None:
            return []
        self.vectors.drop_snapshots()
        return erase_from_backups(self.path, marks)

    def clear(self) -> int:
        """Delete everything, even the history; returns the number of memories. Only for a session's store."""
        with self._database.writing() as connection:
            count = self.count()
            for table in ("memory_postings", "memories", "history", "batches"):
                connection.execute(f"DELETE FROM {table}")
        return count

    def evict(self, limit: int, keep: str = "") -> list[str]:
        """Delete down to `limit` memories, the least important and then the oldest first; returns their ids.

        The memory `keep` is not deleted. The history keeps at most `limit` versions. Only for a session's store.
        """
        with self._database.writing() as connection:
            rows = connection.execute(
                "SELECT id FROM memories WHERE id != ? "
                f"ORDER BY {of_metadata('importance_score', '')}, updated_at, row LIMIT ?",
                (keep, max(0, self.count() - limit)),
            ).fetchall()
            for row in rows:
                self.delete(row[0], reason="evicted")
            connection.execute(
                "DELETE FROM history WHERE rowid <= (SELECT rowid FROM history ORDER BY rowid DESC LIMIT 1 OFFSET ?)",
                (limit,),
            )
        return [row[0] for row in rows]

    # --- reading

    def get(self, memory_id: str) -> Memory | None:
        """One memory by its id, or None."""
        return next(iter(self._memories("m.id = ?", (memory_id,))), None)

    def by_ids(self, ids: Collection[str]) -> dict[str, Memory]:
        """The existing memories among these ids, by id."""
        return {
            memory.id: memory for memory in self._memories("m.id IN (SELECT value FROM json_each(?))", (as_json(ids),))
        }

    def pushed(self, content_hash: str, project_id: str) -> list[Memory]:
        """In a collection: what was pushed under this name with exactly this content, once for each source."""
        where = "m.content_hash = ? AND m.project_id = ? AND m.summary_key IS NULL ORDER BY m.row"
        return self._memories(where, (content_hash, project_id))

    def summary(self, summary_key: str) -> Memory | None:
        """The summary with this key, or None."""
        return next(iter(self._memories("m.summary_key = ?", (summary_key,))), None)

    def twin(self, memory: Memory) -> Memory | None:
        """Another memory with the same content that may be one with it, or with the same summary key; else None."""
        if memory.summary_key is not None:
            found = self.summary(memory.summary_key)
        elif memory.project_id is not None:
            pushed = self.pushed(memory.content_hash, memory.project_id)
            found = next((other for other in pushed if other.source_uri == memory.source_uri), None)
        else:
            where = "m.content_hash = ? AND m.project_id IS NULL AND m.summary_key IS NULL ORDER BY m.row"
            alike = (other for other in self._memories(where, (memory.content_hash,)) if other.id != memory.id)
            found = next(filter(memory.may_be_one_with, alike), None)
        return None if found is None or found.id == memory.id else found

    def all(self) -> list[Memory]:
        """Every memory, the newest change first."""
        return self.find()

    def find(
        self,
        filters: MemoryFilters = _EVERYTHING,
        order: MemoryOrder = MemoryOrder.UPDATED,
        limit: int = -1,
        offset: int = 0,
    ) -> list[Memory]:
        """The memories that pass the filters; only a page of them if `limit` is not negative."""
        where, values = condition(filters)
        return self._memories(f"{where} ORDER BY {order_by(order)} LIMIT ? OFFSET ?", (*values, limit, offset))

    def count(self, filters: MemoryFilters = _EVERYTHING) -> int:
        """The number of memories that pass the filters."""
        where, values = condition(filters)
        source = FROM if where != "1" else "memories"
        return self._database.count(f"SELECT count(*) FROM {source} WHERE {where}", values)

    def ids_starting(self, prefix: str, *, former: bool = False) -> list[str]:
        """Ids that start with `prefix`, so that a person can give an id's first characters; or `former` ones, changed or deleted."""
        table = "history" if former else "memories"
        query = f"SELECT DISTINCT id FROM {table} WHERE substr(id, 1, ?) = ? LIMIT 10"
        return self._database.column(query, (len(prefix), prefix))

    def history(self, memory_id: str) -> list[MemoryVersion]:
        """The former versions of a memory, the newest first; also of one that was deleted."""
        query = "SELECT record, replaced_at, reason FROM history WHERE id = ? ORDER BY version DESC"
        return self._versions_of(self._database.rows(query, (memory_id,)))

    def versions(self) -> dict[str, int]:
        """The version of each memory, by its id."""
        return dict(self._database.rows("SELECT id, version FROM memories"))

    def deleted(self, limit: int, offset: int = 0, *, with_erased: bool = True) -> tuple[list[MemoryVersion], int]:
        """A page of the last versions of deleted memories, the latest deletion first, and how many there are.

        A negative `limit` means all.
        """
        gone = (
            "FROM history h WHERE id NOT IN (SELECT id FROM memories) AND version = "
            "(SELECT max(version) FROM history WHERE id = h.id)"
        ) + ("" if with_erased else f" AND reason != '{ERASED}'")
        with self._database.reading() as connection:
            total = int(connection.execute(f"SELECT count(*) {gone}").fetchone()[0])
            rows = connection.execute(
                f"SELECT record, replaced_at, reason {gone} ORDER BY replaced_at DESC, rowid DESC LIMIT ? OFFSET ?",
                (limit, offset),
            ).fetchall()
        return self._versions_of(rows), total

    def about(self, path: str, symbols: Collection[str], content_hashes: Collection[str]) -> list[Memory]:
        """Memories whose anchors may be in a document: by its path, its symbols, or the hashes of its chunks."""
        values = (path, as_json(filter(None, symbols)), as_json(content_hashes))
        return self._memories(
            "m.anchor IS NOT NULL AND m.row IN ("
            "SELECT row FROM memories WHERE anchor IS NOT NULL AND json_extract(anchor, '$[0]') = ? UNION "
            "SELECT row FROM memories WHERE anchor IS NOT NULL AND json_extract(anchor, '$[1]') IN "
            "(SELECT value FROM json_each(?)) UNION "
            "SELECT row FROM memories WHERE anchor IS NOT NULL AND json_extract(anchor, '$[2]') IN "
            "(SELECT value FROM json_each(?))) ORDER BY m.updated_at DESC, m.row DESC",
            values,
        )

    def note_uses(self, ids: Iterable[str], at: str) -> None:
        """Count memories as recalled. Written in the background, so that the answer does not wait."""
        self._uses.add(ids, at)

    # --- batches

    def add_batch(self, batch: Batch) -> None:
        """Record what an operation changed, so that it can be undone."""
        changes = json.dumps([[change.id, change.before, change.after] for change in batch.changes])
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?, ?)",
                (batch.id, batch.kind, batch.at, changes, batch.undone_at),
            )

    def batches(self, limit: int = -1) -> list[Batch]:
        """The recorded batches, the latest first."""
        rows = self._database.rows(
            "SELECT id, kind, at, changes, undone_at FROM batches ORDER BY at DESC, rowid DESC LIMIT ?", (limit,)
        )
        return [
            Batch(batch_id, kind, at, tuple(VersionChange(*each) for each in version_changes_of(changes)), undone_at)
            for batch_id, kind, at, changes, undone_at in rows
        ]

    def note_undone(self, batch_id: str, at: str) -> None:
        """Record that a batch was undone."""
        with self._database.writing() as connection:
            connection.execute("UPDATE batches SET undone_at = ? WHERE id = ?", (at, batch_id))

    # --- upkeep

    def backup(self, now: datetime | None = None, *, always: bool = False) -> Path | None:
        """Back the memories up if it is due, or `always`; returns the backup's file. A failure is only logged."""
        if self.path is None or not self.count():
            return None
        now = now or datetime.now(UTC)
        if not (always or is_due(self.path, now)):
            return None
        try:
            with self._database.in_use() as connection:
                return back_up(connection, self.path, now)
        except (OSError, StoreError) as error:
            _log.warning("%s was not backed up: %s", self.path, error)
            return None

    def is_empty(self) -> bool:
        """Whether there are no memories, and never were any."""
        query = "SELECT EXISTS (SELECT 1 FROM memories) OR EXISTS (SELECT 1 FROM history)"
        return not self._database.count(query)

    def note(self, key: str) -> str:
        """The note under a key beside the memories; empty without one."""
        return self._database.text("SELECT value FROM meta WHERE key = ?", (key,))

    def write_note(self, key: str, value: str) -> None:
        """Note something beside the memories."""
        with self._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def keep_version(self, version: MemoryVersion) -> None:
        """Add a former version to a memory's history, unless it has one of that number."""
        with self._database.writing() as connection:
            _add_version(connection, version, "IGNORE")

    def optimise(self) -> None:
        optimise(self._database)

    def vacuum(self) -> None:
        """Release free space of the file."""
        self._database.vacuum()

    def size(self) -> int:
        """The size in bytes of the file with its log, or of the database in memory."""
        return self._database.size()

    def _memories(self, where: str, values: Sequence[object]) -> list[Memory]:
        rows = self._database.rows(f"SELECT {SELECTED} FROM {FROM} WHERE {where}", values)
        return [from_row(row, self.scope) for row in rows]

    def _versions_of(self, rows: Iterable[tuple[str, str, str]]) -> list[MemoryVersion]:
        return [MemoryVersion(from_record(record, self.scope), at, reason) for record, at, reason in rows]

    def _archive(self, connection: sqlite3.Connection, memory_id: str, reason: str) -> int | None:
        memory = self.get(memory_id)
        if memory is None:
            return None
        _add_version(connection, MemoryVersion(memory, utc_stamp(datetime.now(UTC)), reason))
        return int(connection.execute("SELECT row FROM memories WHERE id = ?", (memory_id,)).fetchone()[0])

    def _index(self, connection: sqlite3.Connection, row: int, memory: Memory) -> None:
        tags = memory.metadata.tags
        connection.execute(
            "INSERT INTO memory_postings (rowid, content, tags) VALUES (?, ?, ?)",
            (row, index_text(memory.content), index_text(" ".join(tags))),
        )
        connection.executemany("INSERT OR IGNORE INTO tags VALUES (?, ?)", [(row, tag) for tag in tags])


def _add_version(connection: sqlite3.Connection, version: MemoryVersion, otherwise: str = "REPLACE") -> None:
    memory = version.memory
    connection.execute(
        f"INSERT OR {otherwise} INTO history (id, version, record, replaced_at, reason) VALUES (?, ?, ?, ?, ?)",
        (memory.id, memory.version, to_record(memory), version.replaced_at, version.reason),
    )
