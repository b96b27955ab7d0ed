"""Erases memories for good: from `memories.db`, from its history, and from its backups.

A mark without content stays of each, so that a copy elsewhere that still holds it cannot bring it back.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from rag_ls.model import Memory, MemoryMetadata
from rag_ls.storage.sqlite.foreign_files import open_file
from rag_ls.storage.sqlite.memory_backups import backups
from rag_ls.storage.sqlite.memory_schema import check_tables
from rag_ls.util.text import content_hash

ERASED = "erased"
"""The reason in the history of a memory that was erased."""


def make_mark(memory: Memory) -> Memory:
    """The mark that stays of an erased memory: a later version, without its content and place."""
    return replace(
        memory, content="", content_hash=content_hash(""), metadata=MemoryMetadata(), version=memory.version + 1,
        source_uri=None, source_memory_ids=(), anchor=None, summary_key=None,
    )  # fmt: skip


def erase_rows(connection: sqlite3.Connection, marks: Collection[Memory]) -> None:
    """Erase all rows of memories except their marks, in a file of any version."""
    for memory_id, version in ((mark.id, mark.version) for mark in marks):
        rows = connection.execute("SELECT row FROM memories WHERE id = ?", (memory_id,)).fetchall()
        connection.executemany("DELETE FROM memory_postings WHERE rowid = ?", rows)
        connection.executemany("DELETE FROM vectors WHERE row = ?", rows)
        with contextlib.suppress(sqlite3.OperationalError):
            # The first versions had no table of tags.
            connection.executemany("DELETE FROM tags WHERE row = ?", rows)
        connection.execute("DELETE FROM memories WHERE id = ?", (memory_id,))
        connection.execute("DELETE FROM history WHERE id = ? AND version < ?", (memory_id, version))
    # Until then, the full-text index keeps the terms of deleted rows, marked as deleted.
    connection.execute("INSERT INTO memory_postings (memory_postings) VALUES ('optimize')")


def erase_from_backups(path: Path, marks: Collection[Memory]) -> list[Path]:
    """Erase memories from all backups of a file; returns those that cannot be changed."""
    unchanged = []
    for backup in backups(path):
        try:
            with closing(open_file(backup, "rw", busy_s=5.0)) as connection:
                check_tables(connection)
                erase_rows(connection, marks)
                connection.execute("VACUUM")
        except (sqlite3.Error, OSError):
            unchanged.append(backup)
    return unchanged
