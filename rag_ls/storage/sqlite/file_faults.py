"""Opens files that another user may have made, and refuses those that are not what they should be.

A repository can bring any file under our names. So no link is followed and no pipe waited for, and a database that holds
anything but our own tables is refused: a view may never end, a trigger runs while we write.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rag_ls.errors import StoreFull
from rag_ls.project import DATA_FOLDER
from rag_ls.util.files import kind_of
from rag_ls.util.records import dataclass

PARTS = ("", "-wal", "-shm", "-journal")
"""The files that SQLite opens beside a file, by what it puts behind the file's name."""

Migration = Callable[[sqlite3.Connection], None]
# A database grows by at least one page, and writes it to the log with an entry.
_LEAST_ROOM_BYTES = 65_536
_FULL = "the disk is full"
_SHORTAGES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: "your disk quota is used up",
    errno.EFBIG: "this process may write no longer files: allow more with `ulimit -f`, then `rag-ls stop`",
}
_FAILED_WRITES = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


class ForeignFile(sqlite3.DatabaseError):
    """The file, or one beside it, is not what rag-ls makes there."""


@dataclass(frozen=True, slots=True)
class KnownTables:
    """The tables and columns that a database of ours may hold, in any of its versions."""

    names: frozenset[tuple[str, str]]
    """Kind and name of each table and index."""
    virtual: frozenset[str]
    """The statements that make virtual tables."""


def open_file(file: Path, mode: str, *, busy_s: float, more: str = "") -> sqlite3.Connection:
    """A connection in autocommit mode, usable in any thread; `mode` and `more` are parameters of SQLite's address.

    Raises `ForeignFile` for a link, a folder, a pipe or a device, and `sqlite3.Error`.
    """
    check_is_file(file)
    connection = sqlite3.connect(
        f"{file.absolute().as_uri()}?mode={mode}{more}",
        uri=True, timeout=busy_s, isolation_level=None, check_same_thread=False,
    )  # fmt: skip
    # Reading a damaged page is then an error, and no read past its end.
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def read_only(file: Path, *, busy_s: float = 5.0, more: str = "") -> sqlite3.Connection:
    """A connection that reads a file and leaves it as it is; `more` are further parameters of SQLite's address.

    Raises `ForeignFile` and `sqlite3.Error`.
    """
    return open_file(file, "ro", busy_s=busy_s, more=more)


def check_is_file(file: Path) -> None:
    """Raise `ForeignFile` where a database's file, or one that SQLite opens with it, is there and is no file.

    Links are refused in a project. In the user's data they are the user's.
    """
    is_in_project = file.parent.name == DATA_FOLDER
    if is_in_project and file.parent.is_symlink():
        raise ForeignFile(f"{file.parent} is a symbolic link, which rag-ls does not follow")
    for part in PARTS:
        place = file.with_name(file.name + part)
        try:
            kind = kind_of(place if is_in_project else os.path.realpath(place))
        except OSError as error:
            raise sqlite3.OperationalError(f"unable to open {place}: {error.strerror}") from error
        if kind not in ("", "file"):
            raise ForeignFile(f"{place} is a {kind}, which rag-ls does not open")


def known_tables(migrations: Sequence[Migration], *, former_virtual: Sequence[str] = ()) -> KnownTables:
    """All that a database holds at any version; `former_virtual` are statements that no migration runs any more."""
    names: set[tuple[str, str]] = set()
    virtual = set(former_virtual)
    connection = sqlite3.connect(":memory:")
    for migrate in migrations:
        migrate(connection)
        for kind, name, statement in connection.execute("SELECT type, name, sql FROM sqlite_master"):
            names.add((kind, name))
            if _is_virtual(statement):
                virtual.add(statement)
    connection.close()
    return KnownTables(frozenset(names), frozenset(virtual))


def check_schema(connection: sqlite3.Connection, schema: KnownTables) -> bool:
    """Whether a database holds anything. Raises `ForeignFile` for a table, view or trigger that is none of ours."""
    found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    for kind, name, statement in found:
        is_sqlite_s_own = kind in ("table", "index") and str(name).startswith("sqlite_")
        is_ours = (kind, name) in schema.names and (not _is_virtual(statement) or statement in schema.virtual)
        if not is_ours and not is_sqlite_s_own:
            raise ForeignFile(f"it holds a {kind} {name!r}, which rag-ls did not make")
    return bool(found)


def _is_virtual(statement: str | None) -> bool:
    return (statement or "").lstrip()[:14].upper() == "CREATE VIRTUAL"


def is_disk_full(error: sqlite3.Error | OSError, file: Path | None) -> bool:
    """Whether an error about a file means that there is no room for it, or for the files that SQLite makes beside it."""
    if isinstance(error, OSError):
        return error.errno in _SHORTAGES
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _FAILED_WRITES and file is not None:
        return bool(_find_shortage(file))
    return code == sqlite3.SQLITE_FULL


def disk_full(store: str, file: Path | None) -> StoreFull:
    """The error that names the store, its file and the remedy."""
    place = f" ({file})" if file else ""
    shortage = (file and _find_shortage(file)) or _FULL
    return StoreFull(f"{shortage}: nothing was written to the {store}{place}; make room, then do it again", store)


def describe_fault(error: sqlite3.Error | OSError, file: Path | None, remedy: str = "") -> str:
    """The cause that keeps a file from being opened, and the remedy: for locks and limits, which SQLite does not name, else `remedy`."""
    if file is not None and not gives_locks(file.parent):
        return "its file system gives no locks, so nothing would keep two processes apart; use a folder on another one"
    if file is not None and (shortage := _find_shortage(file)):
        return f"{error}; {shortage}"
    return f"{error}; {remedy}" if remedy else str(error)


def gives_locks(folder: Path) -> bool:
    """Whether files of a folder can be locked: those of some network drives cannot."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)
    return True


def _find_shortage(file: Path) -> str:
    """The reason why a file cannot grow; empty where it can.

    SQLite tells a quota or a limit that is used up as any other error of the disk, so a few bytes are written for a moment, at
    the place in a file where the longest file of the database ends.
    """
    beside = (file.with_name(file.name + ending) for ending in PARTS)
    longest = max((each.stat().st_size for each in beside if each.is_file()), default=0)
    try:
        with tempfile.TemporaryFile(dir=file.parent) as trial:
            trial.seek(longest)
            trial.write(bytes(_LEAST_ROOM_BYTES))
    except OSError as error:
        return _SHORTAGES.get(error.errno or 0, "")
    return ""
