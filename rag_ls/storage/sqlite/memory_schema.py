"""The tables of `memories.db`, and the way to them from every earlier version."""

from __future__ import annotations

import json
import sqlite3
import uuid
from functools import cache
from typing import Any

import numpy as np

from rag_ls.storage.sqlite.file_faults import KnownTables, check_schema, known_tables
from rag_ls.storage.terms import index_text

_FIRST = (
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

_SECOND = (
    "ALTER TABLE memories ADD COLUMN branch TEXT",
    "ALTER TABLE memories ADD COLUMN summary_key TEXT",
    "DROP INDEX memories_content",
    # A summary of a single memory may have that memory's content.
    "CREATE UNIQUE INDEX memories_content ON memories (content_hash, ifnull(branch, '')) WHERE summary_key IS NULL",
    "CREATE UNIQUE INDEX memories_summary ON memories (summary_key) WHERE summary_key IS NOT NULL",
    "CREATE INDEX memories_updated ON memories (updated_at)",
    "CREATE INDEX memories_anchor_path ON memories (json_extract(anchor, '$[0]')) WHERE anchor IS NOT NULL",
    "CREATE INDEX memories_anchor_symbol ON memories (json_extract(anchor, '$[1]')) WHERE anchor IS NOT NULL",
    "CREATE INDEX memories_anchor_hash ON memories (json_extract(anchor, '$[2]')) WHERE anchor IS NOT NULL",
    "CREATE TABLE tags (row INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE, tag TEXT NOT NULL COLLATE NOCASE, "
    "PRIMARY KEY (row, tag)) WITHOUT ROWID",
    "CREATE INDEX tags_by_name ON tags (tag, row)",
    "INSERT OR IGNORE INTO tags SELECT row, value FROM memories, json_each(metadata, '$.tags')",
    "CREATE TABLE uses (row INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE, count INTEGER NOT NULL, "
    "used_at TEXT NOT NULL)",
    "ALTER TABLE history ADD COLUMN reason TEXT NOT NULL DEFAULT 'updated'",
    "UPDATE history SET reason = 'deleted' WHERE id NOT IN (SELECT id FROM memories) AND version = "
    "(SELECT max(version) FROM history h WHERE h.id = history.id)",
    "CREATE TABLE consolidations (id TEXT PRIMARY KEY, at TEXT NOT NULL, merges TEXT NOT NULL, undone_at TEXT)",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "ALTER TABLE vectors RENAME TO first_vectors",
    # Ids are never reused and rows never changed, because an ANN snapshot may outlive them.
    """CREATE TABLE vectors (
      id INTEGER PRIMARY KEY AUTOINCREMENT, row INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
      model TEXT NOT NULL, content_hash TEXT NOT NULL, part INTEGER NOT NULL, vector BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX vectors_of_memory ON vectors (row, model, part)",
)


def _first(connection: sqlite3.Connection) -> None:
    for statement in _FIRST:
        connection.execute(statement)


def _second(connection: sqlite3.Connection) -> None:
    for statement in _SECOND:
        connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES ('index_id', ?)", (uuid.uuid4().hex,))
    # Unreadable vectors are left out and made again, as missing ones are.
    rows = connection.execute(
        "SELECT row, model, content_hash, vector FROM first_vectors WHERE length(vector) % 4 = 0"
    ).fetchall()
    connection.executemany(
        "INSERT INTO vectors (row, model, content_hash, part, vector) VALUES (?, ?, ?, 0, ?)",
        [(*row[:3], np.frombuffer(row[3], np.float32).astype(np.float16).tobytes()) for row in rows],
    )
    connection.execute("DROP TABLE first_vectors")


def _third(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE batches (id TEXT PRIMARY KEY, kind TEXT NOT NULL, at TEXT NOT NULL, changes TEXT NOT NULL, "
        "undone_at TEXT)"
    )
    rows = connection.execute("SELECT id, at, merges, undone_at FROM consolidations ORDER BY rowid").fetchall()
    for number, at, merges, undone_at in rows:
        changes = [change for merge in json.loads(merges) for change in _changes_of(connection, merge)]
        values = (number, "consolidated", at, json.dumps(changes), undone_at)
        connection.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?)", values)
    connection.execute("DROP TABLE consolidations")


def _changes_of(connection: sqlite3.Connection, merge: dict[str, Any]) -> list[tuple[str, int, int | None]]:
    """The versions of memories before and after a merge. Each merged one was deleted in its last version."""
    changes: list[tuple[str, int, int | None]] = [(merge["kept"], merge["version"] - 1, merge["version"])]
    for memory_id in merge["merged"]:
        (last,) = connection.execute("SELECT max(version) FROM history WHERE id = ?", (memory_id,)).fetchone()
        changes += [(memory_id, last, None)] if last is not None else []
    return changes


def _fourth(connection: sqlite3.Connection) -> None:
    for statement in (
        "ALTER TABLE memories ADD COLUMN project_id TEXT",
        "DROP INDEX memories_content",
        "CREATE UNIQUE INDEX memories_content ON memories (content_hash, ifnull(branch, ''), ifnull(project_id, ''), "
        "CASE WHEN project_id IS NULL THEN '' ELSE ifnull(source_uri, '') END) WHERE summary_key IS NULL",
        "CREATE INDEX memories_pushed ON memories (project_id, source_uri) WHERE project_id IS NOT NULL",
    ):
        connection.execute(statement)


def _fifth(connection: sqlite3.Connection) -> None:
    """Other terms, in an index that keeps the marks of letters: it is made anew."""
    connection.execute("DROP TABLE memory_postings")
    connection.execute(
        "CREATE VIRTUAL TABLE memory_postings USING fts5 (content, tags, "
        "tokenize = \"porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'\")"
    )
    rows = connection.execute(
        "SELECT m.row, m.content, group_concat(t.tag, ' ') FROM memories m "
        "LEFT JOIN tags t ON t.row = m.row GROUP BY m.row"
    )
    connection.executemany(
        "INSERT INTO memory_postings (rowid, content, tags) VALUES (?, ?, ?)",
        [(row, index_text(str(content)), index_text(tags or "")) for row, content, tags in rows],
    )


def _sixth(connection: sqlite3.Connection) -> None:
    """The same text at two places, or of two types, is two memories."""
    connection.execute("DROP INDEX memories_content")
    connection.execute("CREATE INDEX memories_content ON memories (content_hash)")


MIGRATIONS = (_first, _second, _third, _fourth, _fifth, _sixth)


def check_tables(connection: sqlite3.Connection) -> None:
    """Raise `ForeignFile` for a database that holds anything but the tables of memories, of any version."""
    # `trusted_schema` stays on: SQLite 3.40 calls the `json_extract` of our own indexes unsafe.
    check_schema(connection, _schema())


@cache
def _schema() -> KnownTables:
    return known_tables(MIGRATIONS)
