"""The files of a project's index, looked at and removed from outside, without opening the project."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from rag_ls.project import Project
from rag_ls.storage.records import SCANNED, IndexSummary
from rag_ls.storage.sqlite.index_file import FILE_NAME as INDEX_FILE
from rag_ls.storage.sqlite.memories import FILE_NAME as MEMORIES_FILE

_DERIVED = (f"{INDEX_FILE}*", "vectors-*.usearch")
# A file that is gone while there are backups of it counts as lost: they go together.
_MEMORIES = (*(MEMORIES_FILE + suffix for suffix in ("", "-wal", "-shm")), "backups/memories-*.db")
_BUSY_S = 2.0


def index_summary(project: Project) -> IndexSummary | None:
    """What a project's index holds; None where there is none that can be read. Nothing is changed by looking."""
    try:
        with closing(_read_only(project.data_folder / INDEX_FILE)) as connection:
            (scanned, documents, chunks, embeddings, queued, pending) = connection.execute(
                "SELECT (SELECT count(*) FROM meta WHERE key = ?), (SELECT count(*) FROM documents WHERE session = ''), "
                "(SELECT count(*) FROM chunks), (SELECT count(*) FROM embeddings), (SELECT count(*) FROM queue), "
                "(SELECT count(*) FROM chunks WHERE embedded = 0)",
                (SCANNED,),
            ).fetchone()
    except sqlite3.Error:
        return None
    return IndexSummary(documents, chunks, embeddings, bool(scanned) and not queued and not pending)


def count_memories(project: Project) -> int | None:
    """How many memories a project has; None where they cannot be read."""
    file = project.data_folder / MEMORIES_FILE
    if not file.exists():
        return 0
    try:
        with closing(_read_only(file)) as connection:
            return int(connection.execute("SELECT count(*) FROM memories").fetchone()[0])
    except sqlite3.Error:
        return None


def derived_files(project: Project) -> list[Path]:
    """The files that are made of the project's sources, and can be made again."""
    return _files(project, _DERIVED)


def memory_files(project: Project) -> list[Path]:
    """The files of the project's memories, with their backups."""
    return _files(project, _MEMORIES)


def total_bytes(files: list[Path]) -> int:
    """Bytes of files; one that is gone meanwhile has none."""
    total = 0
    for file in files:
        try:
            total += file.lstat().st_size
        except OSError:
            continue
    return total


def _files(project: Project, patterns: tuple[str, ...]) -> list[Path]:
    folder = project.data_folder
    # A cloned repository may bring a link that leads anywhere.
    if folder.is_symlink() or not folder.is_dir():
        return []
    found = (file for pattern in patterns for file in folder.glob(pattern) if not file.parent.is_symlink())
    return sorted(file for file in found if file.is_symlink() or file.is_file())


def _read_only(file: Path) -> sqlite3.Connection:
    # Without a log nobody has it open: said to be immutable, SQLite makes no log for a reader, which could not remove it.
    alone = "" if file.with_name(file.name + "-wal").exists() else "&immutable=1"
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro{alone}", uri=True, timeout=_BUSY_S)
