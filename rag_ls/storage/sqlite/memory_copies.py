"""Copies memories from file to file, and keeps the copy that lies in a project like the store that it is a copy of."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rag_ls.storage.api import MemoryStore
from rag_ls.storage.sqlite.database import read_only
from rag_ls.storage.sqlite.memories import FILE_NAME, SqliteMemories
from rag_ls.storage.sqlite.memory_backups import give_new_index_id, is_good, set_log_aside

_log = logging.getLogger(__name__)

_BUSY_S = 0.3

Unite = Callable[[MemoryStore, MemoryStore], object]
"""Takes into the first store what the second has."""


def copy_memories(source: Path, target: Path) -> None:
    """Copy a file of memories, also while another process writes it. `target` is there when it is complete and synced.

    Raises `sqlite3.Error` for a damaged file, and `OSError`.
    """
    temporary = target.with_name(f"{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(read_alone_or_shared(source)) as connection, closing(sqlite3.connect(temporary)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise sqlite3.DatabaseError(found)
        # A snapshot of the source's vectors must not be taken for one of the copy's.
        give_new_index_id(temporary)
        _sync(temporary)
        set_log_aside(target)
        temporary.replace(target)
        _sync(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def copy_backups(source: Path, target: Path) -> None:
    """Copy the backups of a file of memories beside another one. Raises `OSError`."""
    for backup in sorted((source.parent / "backups").glob("memories-*.db")):
        copy = target.parent / "backups" / backup.name
        if backup.is_file() and not copy.exists():
            copy.parent.mkdir(mode=0o700, exist_ok=True)
            temporary = copy.with_name(f"{copy.stem}.{uuid.uuid4().hex}.tmp")
            try:
                shutil.copyfile(backup, temporary)
                temporary.chmod(0o600)
                temporary.replace(copy)
            finally:
                temporary.unlink(missing_ok=True)


def read_alone_or_shared(file: Path, busy_s: float = 5.0) -> sqlite3.Connection:
    """A connection that reads a file and makes no log beside it if there is none. Raises `sqlite3.Error`."""
    # Without a log, no process has the file open. `immutable` then keeps SQLite from creating a log, which a read-only
    # connection could not remove.
    alone = "" if file.with_name(file.name + "-wal").exists() else "&immutable=1"
    return read_only(file, busy_s=busy_s, more=alone)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What an exchange with the copy did."""

    taken: bool = False
    """Whether the copy held what the store had never seen, so that they were united."""
    problem: str = ""


class MemoryCopy:
    """The copy of a store that lies in a project. An older rag-ls, a container or another machine may have changed it.

    So it is written only by who has it alone, and only after what is new in it was taken into the store.
    """

    def __init__(self, file: Path, store: SqliteMemories) -> None:
        self._file = file
        self._store = store
        self._key = f"copy:{file}"

    def exchange(self, unite: Unite, *, is_taken: bool = False) -> Exchange:
        """Take what is new in the copy, and write the store's memories to it.

        `is_taken` says that the store was just made of the copy. Raises `OSError` and `StoreError`.
        """
        newest = list(self._store.newest())
        if not os.path.lexists(self._file):
            if self._store.is_empty():
                return Exchange()
            copy_memories(self._own_file, self._file)
            self._note(_stamp(self._file), newest)
            return Exchange()
        if self._file.is_symlink() or not self._file.is_file():
            return Exchange(
                problem=f"{self._file} is no file, and is left as it is: no copy of the memories is kept there"
            )
        noted_stamp, noted_newest = self._noted()
        is_known = is_taken or _stamp(self._file) == noted_stamp
        if is_known and newest == noted_newest:
            return Exchange()
        try:
            with _alone(self._file) as connection:
                if connection is None:
                    return self._take_shared(unite) if not is_known else Exchange()
                # Looked at again, now that nobody else can write it.
                is_known = is_taken or _stamp(self._file) == noted_stamp
                taken = not is_known and self._take(connection, unite)
                newest = list(self._store.newest())
                with closing(read_only(self._own_file)) as source:
                    source.backup(connection)
                connection.execute("PRAGMA journal_mode = DELETE")
                self._note(_stamp(self._file), newest)
                return Exchange(taken)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                _log.info("the copy of the memories, %s, waits: %s", self._file, error)
                return Exchange()
            return Exchange(
                problem=f"{self._file} is damaged ({error}) and is left as it is; the memories are whole in "
                f"{self._own_file}: move the damaged file away, and a copy is kept there again"
            )

    @property
    def _own_file(self) -> Path:
        assert self._store.path is not None
        return self._store.path

    def _take_shared(self, unite: Unite) -> Exchange:
        """Take what is new in a copy that another process has open, as an older rag-ls may, and leave it alone."""
        stamp = _stamp(self._file)
        with closing(read_alone_or_shared(self._file)) as connection:
            taken = self._take(connection, unite)
        # Nothing was written to it: the next exchange must.
        self._note(stamp, [])
        return Exchange(taken)

    def _take(self, connection: sqlite3.Connection, unite: Unite) -> bool:
        """Unite with what a connection reads. Raises `StoreError` for memories of a newer rag-ls."""
        with tempfile.TemporaryDirectory(dir=self._own_file.parent) as folder:
            # A copy, because opening a file migrates it.
            copy = Path(folder) / FILE_NAME
            with closing(sqlite3.connect(copy)) as target:
                connection.backup(target)
            if not is_good(copy):
                raise sqlite3.DatabaseError("it holds no readable memories")
            other = SqliteMemories(copy, self._store.scope)
            try:
                before = self._store.newest()
                unite(self._store, other)
                return self._store.newest() != before
            finally:
                other.close()

    def _noted(self) -> tuple[list[int], list[object]]:
        try:
            stamp, newest = json.loads(self._store.note(self._key) or "[[], []]")
        except (ValueError, TypeError):
            return [], []
        return stamp, newest

    def _note(self, stamp: list[int], newest: list[object]) -> None:
        self._store.write_note(self._key, json.dumps([stamp, newest]))


@contextmanager
def _alone(file: Path) -> Iterator[sqlite3.Connection | None]:
    """A connection that no other process shares until the end of the block; None while another has the file open."""
    address = f"{file.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_S, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            mode = ""
        yield connection if mode == "delete" else None


def _stamp(file: Path) -> list[int]:
    """What differs after a file was written, by whomever."""
    found = []
    for part in (file, file.with_name(file.name + "-wal")):
        try:
            status = part.stat()
            found += [status.st_size, status.st_mtime_ns]
        except OSError:
            found += [0, 0]
    return found


def _sync(place: Path) -> None:
    """Have the disk hold a file, or a folder's names."""
    try:
        number = os.open(place, os.O_RDONLY)
    except OSError:
        # Windows opens no folders.
        return
    try:
        os.fsync(number)
    except OSError as error:
        _log.info("%s was not synced: %s", place, error)
    finally:
        os.close(number)
