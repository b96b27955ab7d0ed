"""Finds and inspects the files of a project's stores from outside, without opening the project; and SQLite itself."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from rag_ls.errors import StoreUnavailable
from rag_ls.project import DATA_FOLDER, Project, make_private_folder
from rag_ls.storage.records import SCANNED, IndexSummary
from rag_ls.storage.sqlite.index_file import FILE_NAME as INDEX_FILE
from rag_ls.storage.sqlite.index_file import check_is_own
from rag_ls.storage.sqlite.memories import FILE_NAME as MEMORIES_FILE
from rag_ls.storage.sqlite.memory_copies import read_alone_or_shared
from rag_ls.storage.sqlite.memory_files import backups
from rag_ls.storage.sqlite.memory_schema import check_tables
from rag_ls.util.files import give_to_owner, is_plain

_DERIVED = (f"{INDEX_FILE}*", "vectors-*.usearch", f"index-*/{INDEX_FILE}*", "index-*/vectors-*.usearch")
# Backups count, too: a missing file that has backups counts as lost.
_MEMORIES = (*(MEMORIES_FILE + suffix for suffix in ("", "-wal", "-shm")), "backups/memories-*.db")
_BUSY_S = 2.0
INBOX_FOLDER = "inbox"
"""The folder beside a project's memories that holds those that were proposed."""


def index_summary(project: Project) -> IndexSummary | None:
    """The contents of a project's index; None if there is no readable index. Changes nothing."""
    try:
        with closing(read_alone_or_shared(project.data_folder / INDEX_FILE)) as connection:
            check_is_own(connection)
            (scanned, documents, chunks, embeddings, queued, pending) = connection.execute(
                "SELECT (SELECT count(*) FROM meta WHERE key = ?), (SELECT count(*) FROM documents WHERE session = ''), "
                "(SELECT count(*) FROM chunks), (SELECT count(*) FROM embeddings), (SELECT count(*) FROM queue), "
                "(SELECT count(*) FROM chunks WHERE embedded = 0)",
                (SCANNED,),
            ).fetchone()
    except sqlite3.Error:
        return None
    return IndexSummary(documents, chunks, embeddings, bool(scanned) and not queued, pending)


def count_memories(folder: Path) -> int | None:
    """The number of memories in a folder; None if they cannot be read."""
    file = folder / MEMORIES_FILE
    if not file.exists():
        return 0
    try:
        with closing(read_alone_or_shared(file, _BUSY_S)) as connection:
            check_tables(connection)
            return int(connection.execute("SELECT count(*) FROM memories").fetchone()[0])
    except sqlite3.Error:
        return None


def derived_files(project: Project) -> list[Path]:
    """The files that are made of the project's sources, and can be made again."""
    return _files(project.data_folder, _DERIVED)


def memory_files(folder: Path) -> list[Path]:
    """The files of memories in a folder and of its inbox, with their backups."""
    return _files(folder, _MEMORIES) + _files(folder / INBOX_FOLDER, _MEMORIES)


def set_memories_aside(folder: Path, target: Path) -> bool:
    """Copy the memories of a folder to a file that `restore` takes; whether there were any. A damaged file is copied as it is.

    Raises `OSError`.
    """
    file = folder / MEMORIES_FILE
    if not is_plain(file):
        # The file is lost; the newest backup is the best that is left.
        known = backups(file)
        if not known:
            return False
        file = known[0]
    make_private_folder(target.parent)
    try:
        with closing(read_alone_or_shared(file)) as connection:
            check_tables(connection)
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error:
        target.unlink(missing_ok=True)
        shutil.copyfile(file, target)
        if is_plain(log := file.with_name(file.name + "-wal")):
            shutil.copyfile(log, target.with_name(target.name + "-wal"))
    target.chmod(0o600)
    give_to_owner(target)
    return True


def remove_data_folder(project: Project) -> None:
    """Remove a project's data folder, and the one in its root, unless they hold memories (or are links). Raises `OSError`."""
    for folder in {project.data_folder, project.root / DATA_FOLDER}:
        if folder.is_dir() and not folder.is_symlink() and not memory_files(folder):
            shutil.rmtree(folder)


def sqlite_version() -> str:
    """The version of SQLite. Raises `StoreUnavailable` where it has no full-text search."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (text)")
        except sqlite3.OperationalError as error:
            raise StoreUnavailable(f"{sqlite3.sqlite_version} without FTS5 ({error})", "index") from error
    return sqlite3.sqlite_version


def total_bytes(files: list[Path]) -> int:
    """The total size of files in bytes; a missing file counts 0."""
    total = 0
    for file in files:
        try:
            total += file.lstat().st_size
        except OSError:
            continue
    return total


def _files(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    # A cloned repository may bring a link to any place.
    if folder.is_symlink() or not folder.is_dir():
        return []
    found = (file for pattern in patterns for file in folder.glob(pattern) if not file.parent.is_symlink())
    return sorted(file for file in found if file.is_symlink() or file.is_file())
