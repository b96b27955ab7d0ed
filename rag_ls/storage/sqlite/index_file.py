"""Opens `index.db`. The file is derived from the sources, so a bad one is simply rebuilt, and so is another's.

One that a newer rag-ls wrote is left alone: the older one has a folder of its own beside it.

A seal in it, made with the user's key, tells whose it is. It lies in the file, because git overwrites ignored files when
it is told to, and it names the index by its id alone, so that a moved folder costs no new index.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

from rag_ls.config import can_be_made, is_own_text_seal, text_seal
from rag_ls.project import make_private_folder
from rag_ls.storage.records import INDEX_STORE
from rag_ls.storage.sqlite import index_schema
from rag_ls.storage.sqlite.connections import Connections
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.file_faults import PARTS, ForeignFile, KnownTables, check_schema, known_tables, read_only
from rag_ls.util.files import clear_way, clear_way_for_folder
from rag_ls.util.paths import file_identity, is_same_file

FILE_NAME = "index.db"
_DAMAGED = ".damaged"

_REMADE = (
    "the index was made by another user or machine, or with another HOME or RAG_LS_HOME, so it is made anew; after "
    "`rag-ls trust` with each of them they share it"
)
# Opening another program's file, or a forged one, fails with these words.
_SIGNS_OF_OTHER_TABLES = ("no such table", "no such column", "already exists", "use DROP")


def choose_folder(folder: Path) -> Path:
    """The folder of the index in a data folder: that one, or a folder of this version where a newer rag-ls uses it."""
    if not _is_newer(folder / FILE_NAME):
        return folder
    beside = folder / f"index-{len(index_schema.MIGRATIONS)}"
    clear_way_for_folder(beside)
    make_private_folder(beside)
    return beside


def _is_newer(path: Path) -> bool:
    """Whether a newer rag-ls wrote the index at `path`."""
    try:
        with closing(read_only(path)) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0]) > len(index_schema.MIGRATIONS)
    except (sqlite3.Error, OSError):
        return False


def open_derived(file: IndexFile, connections: Connections | None = None) -> Database:
    """Open `index.db`; rebuild it if it is damaged, of another version, or was not made by this user's processes.

    In a trusted folder another's is taken over. Raises `IsADirectoryError` for a folder in its place.
    """
    path = file.path
    if path is not None:
        for part in (*PARTS, _DAMAGED):
            clear_way(path.with_name(path.name + part))
        if _damage_mark(path).exists():
            _remove(path)
    try:
        database = _database(file, connections)
        with database.call():
            _look_at_tables(database.connection)
        if file.is_trusted and path is not None:
            _seal(database)
        return database
    except sqlite3.DatabaseError as error:
        if path is None or not is_damage(error) or _is_newer(path):
            raise
        if isinstance(error, ForeignFile):
            file.why_remade = _REMADE
        _remove(path)
        return _database(file, connections)


def _database(file: IndexFile, connections: Connections | None) -> Database:
    database = Database(
        file.path, index_schema.MIGRATIONS, store=INDEX_STORE, damage=file.damage, inspect=file.inspect,
        connections=connections,
    )  # fmt: skip
    file.identity = file_identity(file.path) if file.path is not None else None
    return database


def _seal(database: Database) -> None:
    """Make another's index this user's own."""
    with database.call():
        seal = text_seal(*_read_sealed(database.connection))
        if _meta(database.connection, index_schema.SEAL) != seal:
            with database.writing() as connection:
                connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (index_schema.SEAL, seal))


def check_is_own(connection: sqlite3.Connection, *, is_trusted: bool = False) -> None:
    """Raise `ForeignFile` for an index that this user's processes did not make, or that holds other tables than ours."""
    connection.execute("PRAGMA trusted_schema = OFF")
    if not check_schema(connection, _schema()) or is_trusted or not can_be_made():
        return
    if not is_own_text_seal(_meta(connection, index_schema.SEAL), *_read_sealed(connection)):
        raise ForeignFile("another user or machine made it")


def _read_sealed(connection: sqlite3.Connection) -> tuple[str, str]:
    return index_schema.SEAL, _meta(connection, "index_id")


def _meta(connection: sqlite3.Connection, key: str) -> str:
    found = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(found[0]) if found else ""


@cache
def _schema() -> KnownTables:
    return known_tables(index_schema.MIGRATIONS, former_virtual=index_schema.FORMER_VIRTUAL)


class IndexFile:
    """The file of an index: refuses one that this user did not make, marks a broken one, and tells whether it was lost."""

    def __init__(self, path: Path | None, *, is_trusted: bool = False) -> None:
        """`path` is None for an index in RAM."""
        self.path = path
        self.is_trusted = is_trusted
        self.identity: tuple[int, int] | None = None
        """Device and inode of the file that was opened."""
        self.why_remade = ""
        """The reason why the index was made anew, where somebody else had made it, and the remedy; else empty."""
        self._is_newer = False

    @property
    def is_lost(self) -> bool:
        """Whether the opened file was deleted, moved, replaced or damaged."""
        return self.path is not None and (
            self._is_newer or not is_same_file(self.path, self.identity) or is_marked_damaged(self.path)
        )

    def inspect(self, connection: sqlite3.Connection) -> None:
        """See `check_is_own`."""
        check_is_own(connection, is_trusted=self.is_trusted)

    def damage(self, error: sqlite3.Error) -> str:
        """The message for callers if the file is broken; else empty."""
        if self.path is None or self.identity is None or not is_damage(error):
            return ""
        if _is_newer(self.path):
            self._is_newer = True
            return f"a newer rag-ls uses the index ({self.path}) from now on, and this one makes its own; ask again"
        # Do not mark a file that has replaced ours, because it did not cause the error.
        if is_same_file(self.path, self.identity):
            # The check of the whole file does not read the full-text index, so an error from there is enough.
            is_of_postings = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_CORRUPT_VTAB
            if not is_of_postings and not is_broken(self.path, is_trusted=self.is_trusted):
                return ""
            mark_damaged(self.path)
        return f"the index ({self.path}) was damaged and is being made anew ({error}); ask again"


def is_marked_damaged(path: Path) -> bool:
    """Whether the index at `path` must be rebuilt when it is next opened."""
    return _damage_mark(path).exists()


def is_broken(path: Path, *, is_trusted: bool = False) -> bool:
    """Whether the file at `path` is no index that can be read, by SQLite's own check."""
    try:
        connection = read_only(path)
        try:
            check_is_own(connection, is_trusted=is_trusted)
            _look_at_tables(connection)
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
        finally:
            connection.close()
    except sqlite3.Error as error:
        return is_damage(error)


def _look_at_tables(connection: sqlite3.Connection) -> None:
    """Raise `sqlite3.DatabaseError` where tables or columns are not there."""
    for table, columns in _columns().items():
        connection.execute(f"SELECT {columns} FROM {table} LIMIT 1").fetchone()


@cache
def _columns() -> dict[str, str]:
    """The columns of each table of an index."""
    connection = sqlite3.connect(":memory:")
    for migrate in index_schema.MIGRATIONS:
        migrate(connection)
    # Only a search reads the columns of a full-text table.
    found = {"postings": "1"} | {
        table: ", ".join(name for _, name, *_ in connection.execute(f"PRAGMA table_info ({table})"))
        for table in "meta documents chunks embeddings queue skipped symbols imports signatures".split()
    }
    connection.close()
    return found


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the file itself is broken, or has another schema."""
    if isinstance(error, sqlite3.OperationalError):
        return any(sign in str(error) for sign in _SIGNS_OF_OTHER_TABLES)
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.IntegrityError | sqlite3.ProgrammingError
    )


def mark_damaged(path: Path) -> None:
    """Have the index at `path` made anew when it is next opened."""
    clear_way(_damage_mark(path))
    _damage_mark(path).touch(mode=0o600)


def _damage_mark(path: Path) -> Path:
    return path.with_name(path.name + _DAMAGED)


def _remove(path: Path) -> None:
    for suffix in (*PARTS, _DAMAGED):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
