"""Copies memories from file to file, and keeps the copy that lies in a project equal to the store."""

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
from pathlib import Path

from rag_ls.config import bytes_seal, can_be_made, file_seal, is_equal
from rag_ls.errors import StoreUnavailable
from rag_ls.model import Memory
from rag_ls.storage.sqlite.file_faults import PARTS, ForeignFile, check_is_file, open_file, read_only
from rag_ls.storage.sqlite.memories import FILE_NAME, MemoryStore
from rag_ls.storage.sqlite.memory_files import backups, give_new_index_id, is_good, set_log_aside
from rag_ls.storage.sqlite.memory_schema import check_tables
from rag_ls.util.files import give_to_owner, is_plain, read_regular, replace_file, whole_file
from rag_ls.util.records import dataclass

_log = logging.getLogger(__name__)

_BUSY_S = 0.3
SEAL = "memories.seal"
"""The file beside a copy that holds its seal."""

Unite = Callable[[MemoryStore, MemoryStore], object]
"""Takes the memories of the second store into the first."""


def copy_memories(source: Path, target: Path) -> None:
    """Copy a file of memories, also while another process writes it. `target` appears once it is complete and synced.

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
        # The copy's index must not use a snapshot of the source's vectors.
        give_new_index_id(temporary)
        _sync(temporary)
        set_log_aside(target)
        replace_file(temporary, target)
        _sync(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def copy_backups(source: Path, target: Path) -> None:
    """Copy the backups of a file of memories beside another one. Raises `OSError`."""
    for backup in reversed(backups(source)):
        copy = target.parent / "backups" / backup.name
        if not copy.exists():
            copy.parent.mkdir(mode=0o700, exist_ok=True)
            give_to_owner(copy.parent)
            temporary = copy.with_name(f"{copy.stem}.{uuid.uuid4().hex}.tmp")
            try:
                shutil.copyfile(backup, temporary)
                temporary.chmod(0o600)
                replace_file(temporary, copy)
            finally:
                temporary.unlink(missing_ok=True)


def read_alone_or_shared(file: Path, busy_s: float = 5.0) -> sqlite3.Connection:
    """A connection that reads a file and leaves no log of SQLite's beside it. Raises `sqlite3.Error`."""
    # If there is no log, no process has the file open. `immutable` then keeps SQLite from creating one, which a read-only
    # connection could not remove.
    immutable = "" if file.with_name(file.name + "-wal").exists() else "&immutable=1"
    return read_only(file, busy_s=busy_s, more=immutable)


@dataclass(frozen=True, slots=True)
class CopyExchange:
    """The outcome of an exchange with the copy."""

    taken: bool = False
    """Whether the store took memories or versions from the copy."""
    waiting: int = 0
    """The number of memories that wait in a copy that another user wrote: the store takes them once the folder is trusted."""
    problem: str = ""


class MemoryCopy:
    """The copy of a store that lies in a project. An older rag-ls, a container or another machine may have changed it.

    So a process first takes the new memories of the copy into the store, and then writes the copy; meanwhile it holds the lock
    of the file. A copy that a process of this user wrote is sealed (`SEAL`); another one counts only if the folder is trusted.
    """

    def __init__(self, file: Path, store: MemoryStore) -> None:
        self._file = file
        self._store = store
        self._key = f"copy:{file}"
        self._counted: tuple[object, int] = (None, 0)

    def exchange(self, unite: Unite, *, is_taken: bool = False, is_trusted: bool = False) -> CopyExchange:
        """Take the new memories of the copy into the store, and write the store's memories to the copy.

        `is_taken`: the store was just made from the copy, so nothing there is new. Without `is_trusted`, only a copy that this
        user wrote is taken.
        Raises `OSError` and `StoreError`.
        """
        newest = list(self._store.vectors.newest())
        if not os.path.lexists(self._file):
            if self._store.is_empty():
                return CopyExchange()
            try:
                copy_memories(self._own_file, self._file)
            except sqlite3.OperationalError as error:
                # As where its disk is full.
                _log.info("the copy of the memories, %s, waits: %s", self._file, error)
                return CopyExchange()
            self._note(_stamp(self._file), newest)
            _write_seal(self._file, bytes_seal(self._file.read_bytes(), SEAL))
            return CopyExchange()
        stamp, (known_stamp, noted_newest) = _stamp(self._file), self._read_note()
        if is_taken:
            known_stamp = stamp
        if stamp == known_stamp and newest == noted_newest:
            return CopyExchange()
        try:
            check_is_file(self._file)
            may_take = is_trusted or is_sealed(self._file)
            if stamp != known_stamp and not may_take:
                if waiting := self._waiting(stamp, newest):
                    return CopyExchange(waiting=waiting)
                known_stamp = stamp
            return self._exchange(unite if may_take else None, known_stamp)
        except ForeignFile as error:
            return CopyExchange(
                problem=f"{self._file} is not used: {error}; move it away, and a copy is kept there again"
            )
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                _log.info("the copy of the memories, %s, waits: %s", self._file, error)
                return CopyExchange()
            return CopyExchange(
                problem=f"{self._file} is damaged ({error}) and is left as it is; the memories are whole in "
                f"{self._own_file}: move the damaged file away, and a copy is kept there again"
            )

    def take(self, unite: Unite | None) -> bool:
        """Take what is new in the file into the store, and leave the file as it is; without `unite`, only remember its state.

        Raises `OSError` and `StoreError`.
        """
        stamp, (known_stamp, _) = _stamp(self._file), self._read_note()
        if stamp == known_stamp:
            return False
        if unite is None:
            self._note(stamp, [])
            return False
        try:
            return self._take_shared(unite).taken
        except (sqlite3.Error, ForeignFile) as error:
            raise StoreUnavailable(f"{self._file}: {error}", "project memories") from error

    def _exchange(self, unite: Unite | None, known_stamp: list[int]) -> CopyExchange:
        """Unite the store with the copy, then write the copy. Without `unite`, a copy that has changed stays as it is."""
        with _alone(self._file) as connection:
            # Compare again, now that no other process can write it.
            is_known = _stamp(self._file) == known_stamp
            if connection is None or (unite is None and not is_known):
                return CopyExchange() if unite is None or is_known else self._take_shared(unite)
            taken = not is_known and unite is not None and self._take(connection, unite)
            newest = list(self._store.vectors.newest())
            with closing(read_only(self._own_file)) as source:
                source.backup(connection)
            connection.execute("PRAGMA journal_mode = DELETE")
            # Seal the bytes of the connection: closing the file after reading it would release SQLite's lock.
            seal = bytes_seal(connection.serialize(), SEAL)
            self._note(_stamp(self._file), newest)
        _write_seal(self._file, seal)
        return CopyExchange(taken)

    @property
    def _own_file(self) -> Path:
        assert self._store.path is not None
        return self._store.path

    def _take_shared(self, unite: Unite) -> CopyExchange:
        """Take the new memories of a copy that another process has open, such as an older rag-ls; do not write to it."""
        stamp = _stamp(self._file)
        with closing(read_alone_or_shared(self._file)) as connection:
            taken = self._take(connection, unite)
        # Note no memories as written, so that the next exchange writes the copy.
        self._note(stamp, [])
        return CopyExchange(taken)

    def _take(self, connection: sqlite3.Connection, unite: Unite) -> bool:
        """Unite with the memories that a connection reads. Raises `StoreError` for memories of a newer rag-ls."""
        with self._open_copy(connection) as other:
            before = self._store.vectors.newest()
            unite(self._store, other)
            return self._store.vectors.newest() != before

    def _waiting(self, stamp: list[int], newest: list[object]) -> int:
        if self._counted[0] != (stamp, newest):
            self._counted = ((stamp, newest), self._count_news())
        return self._counted[1]

    def _count_news(self) -> int:
        """The number of memories in the copy that the store has never had; memories that were deleted there count too."""
        with closing(read_alone_or_shared(self._file)) as connection, self._open_copy(connection) as other:
            known = {(each.id, each.version, each.updated_at, each.content) for each in self._all_versions(self._store)}
            found = [*other.all(), *(gone.memory for gone in other.deleted(-1)[0])]
            return sum((each.id, each.version, each.updated_at, each.content) not in known for each in found)

    @staticmethod
    def _all_versions(store: MemoryStore) -> Iterator[Memory]:
        for memory in (*store.all(), *(gone.memory for gone in store.deleted(-1)[0])):
            yield memory
            yield from (version.memory for version in store.history(memory.id))

    @contextmanager
    def _open_copy(self, connection: sqlite3.Connection) -> Iterator[MemoryStore]:
        """The memories that a connection reads, in a copy, because opening a file migrates it."""
        check_tables(connection)
        with tempfile.TemporaryDirectory(dir=self._own_file.parent) as folder:
            copy = Path(folder) / FILE_NAME
            with closing(sqlite3.connect(copy)) as target:
                connection.backup(target)
            if not is_good(copy):
                raise sqlite3.DatabaseError("it holds no readable memories")
            other = MemoryStore(copy, self._store.scope)
            try:
                yield other
            finally:
                other.close()

    def _read_note(self) -> tuple[list[int], list[object]]:
        try:
            stamp, newest = json.loads(self._store.note(self._key) or "[[], []]")
        except (ValueError, TypeError):
            return [], []
        return stamp, newest

    def _note(self, stamp: list[int], newest: list[object]) -> None:
        self._store.write_note(self._key, json.dumps([stamp, newest]))


def is_sealed(file: Path) -> bool:
    """Whether a process of this user wrote a file of memories, as it is now, into a project."""
    # SQLite would merge a log beside the file into it; the seal does not cover a log.
    if any(os.path.lexists(file.with_name(file.name + part)) for part in PARTS if part):
        return False
    try:
        seal = read_regular(file.with_name(SEAL), 1000, follow=False).decode("ascii").strip()
        return can_be_made() and is_plain(file) and is_equal(seal, file_seal(file, SEAL))
    except (OSError, UnicodeDecodeError):
        return False


def _write_seal(file: Path, seal: str) -> None:
    with whole_file(file.with_name(SEAL)) as stream:
        stream.write(seal + "\n")


@contextmanager
def _alone(file: Path) -> Iterator[sqlite3.Connection | None]:
    """A connection that no other process shares until the end of the block; None while another has the file open."""
    with closing(open_file(file, "rw", busy_s=_BUSY_S)) as connection:
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
    """The size and time of a file and of its log: they differ after any process wrote to it."""
    found = []
    for part in (file, file.with_name(file.name + "-wal")):
        try:
            status = part.stat()
            found += [status.st_size, status.st_mtime_ns]
        except OSError:
            found += [0, 0]
    return found


def _sync(place: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    try:
        descriptor = os.open(place, os.O_RDONLY)
    except OSError:
        # Windows opens no folders.
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        _log.info("%s was not synced: %s", place, error)
    finally:
        os.close(descriptor)
