"""Opens local stores."""

from __future__ import annotations

import logging
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rag_ls.config import Settings
from rag_ls.errors import NotFound, StoreDamaged, StoreError, StoreUnavailable
from rag_ls.model import Scope
from rag_ls.project import Project
from rag_ls.storage.api import VectorLender, VectorStore
from rag_ls.storage.opening_servers import hnsw_of, open_server_vectors
from rag_ls.storage.records import Backup, Replacement
from rag_ls.storage.served import ServedVectors
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from rag_ls.storage.sqlite.connections import Connections
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.file_faults import describe_fault, read_only
from rag_ls.storage.sqlite.index_file import FILE_NAME as INDEX_FILE
from rag_ls.storage.sqlite.index_file import IndexFile, choose_folder, open_derived
from rag_ls.storage.sqlite.memories import FILE_NAME as MEMORIES_FILE
from rag_ls.storage.sqlite.memories import MemoryStore
from rag_ls.storage.sqlite.memory_copies import MemoryCopy, copy_backups, copy_memories, is_sealed
from rag_ls.storage.sqlite.memory_files import damage_report, find_backup, is_good, is_truncated, put_in_place
from rag_ls.storage.sqlite.memory_schema import check_tables
from rag_ls.storage.sqlite.pending import ServedTexts
from rag_ls.storage.sqlite.postings import LexicalIndex
from rag_ls.storage.sqlite.vectors import LentVectors, SqliteVectors
from rag_ls.util.records import dataclass, field

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProjectIndex:
    """The stores of one project's index. See `SearchedIndex`."""

    checkout: CheckoutIndex
    lexical: LexicalIndex
    vectors: VectorStore
    file: IndexFile
    """The checkout's local file."""
    served: ServedVectors | None = None
    """Its vectors, if a server searches them."""
    local: SqliteVectors | None = None
    """The vectors that are on this machine."""
    database: Database = field(kw_only=True)
    """The database that holds all of them on this machine."""

    @property
    def vectors_here(self) -> VectorStore:
        return self.local or self.vectors

    def changes(self) -> int:
        return self.checkout.changes()

    # --- rest

    @property
    def unused_s(self) -> float:
        """Seconds since the index was last asked or changed, looks for work aside (see `Connections.unnoticed`)."""
        return self.database.unused_s

    def let_go(self) -> bool:
        """Close the files and drop what was read from them; whether none is open. All is opened again when it is needed."""
        if self.local is not None:
            self.local.let_go()
        return self.database.let_go()

    @property
    def was_written(self) -> bool:
        """Whether another process wrote it since it let go. Opens nothing."""
        return self.database.was_written

    def close(self) -> None:
        self.vectors.close()
        self.checkout.close()


def open_index(
    folder: Path | None,
    settings: Settings,
    shared_name: str = "",
    connections: Connections | None = None,
    *,
    is_trusted: bool = False,
) -> ProjectIndex:
    """Open the stores of a project's index; local ones are in its data folder `folder` (None: in RAM).

    `shared_name` is the project's name on a server that searches its vectors. `connections` are those of the process.
    Rebuilds an index that is damaged, or that somebody else made; in a folder that `is_trusted` the latter is taken over.
    Raises `StoreUnavailable`.
    """
    data_folder = folder
    folder = choose_folder(folder) if folder else None
    file = IndexFile(folder / INDEX_FILE if folder else None, is_trusted=is_trusted)
    try:
        database = open_derived(file, connections)
    except IsADirectoryError as error:
        raise StoreUnavailable(f"the index ({error.filename}) cannot be opened: {error.strerror}", "index") from error
    except (sqlite3.Error, OSError) as error:
        reason = describe_fault(error, file.path)
        raise StoreUnavailable(f"the index ({file.path}) cannot be opened: {reason}", "index") from error
    if folder != data_folder:
        file.why_remade = (
            f"a newer rag-ls made the index in {data_folder}, which is left alone: this older one makes its own in {folder}; "
            "upgrade it, or stop the engine that is older (`rag-ls stop`)"
        )
    lexical = LexicalIndex(database)
    local = SqliteVectors(database, folder, hnsw=hnsw_of(settings))
    served = _open_served(database, local, settings, shared_name)
    vectors: VectorStore = served or local
    checkout = CheckoutIndex(database, file.path, vectors, lexical)
    return ProjectIndex(
        checkout=checkout,
        lexical=lexical,
        vectors=vectors,
        file=file,
        served=served,
        local=local,
        database=database,
    )


def _open_served(database: Database, local: VectorStore, settings: Settings, shared_name: str) -> ServedVectors | None:
    known = ServedTexts(database)
    if not settings.store.url or settings.store.search != "server":
        known.begin("")
        return None
    if not shared_name:
        # git does not answer now; that is no reason to forget the vectors on the server.
        return None
    try:
        server = open_server_vectors(settings.store, shared_name, hnsw_of(settings))
    except StoreUnavailable as error:
        # The status tells of a wrong setting; texts are then embedded on this machine.
        _log.warning("%s", error)
        return None
    known.begin(f"{server.place} {shared_name}")
    return ServedVectors(local, known, server)


def open_memories(
    folder: Path | None, scope: Scope, settings: Settings, connections: Connections | None = None
) -> MemoryStore:
    """Open the memories of a scope, in a data folder or (None) in RAM. `connections` are those of the process.

    Raises `StoreDamaged`, which names the newest good backup, if the file is broken, else `StoreUnavailable`.
    """
    return MemoryStore(
        folder / MEMORIES_FILE if folder else None, scope, hnsw=hnsw_of(settings), connections=connections
    )


def has_memory_file(folder: Path) -> bool:
    """Whether a folder has a file of memories that is not empty."""
    file = folder / MEMORIES_FILE
    return file.is_file() and file.stat().st_size > 0


def holds_memories(folder: Path) -> bool:
    """Whether a folder holds a file of memories, or backups of one that is gone."""
    file = folder / MEMORIES_FILE
    return not folder.is_symlink() and not file.is_symlink() and (file.is_file() or is_truncated(file))


def is_sealed_copy(folder: Path) -> bool:
    """Whether a process of this user wrote the memories that lie in a project's data folder, as they are now."""
    return is_sealed(folder / MEMORIES_FILE)


def take_over_memories(source: Path, target: Path) -> None:
    """Copy the memories of a folder to another one, with their backups. Those in `source` stay as they are.

    Raises `StoreDamaged`, which names the newest good backup, and `StoreUnavailable`.
    """
    file = source / MEMORIES_FILE
    if is_truncated(file) or not is_good(file):
        raise StoreDamaged(damage_report(file, ValueError("it cannot be read")), "project memories")
    try:
        copy_backups(file, target / MEMORIES_FILE)
        copy_memories(file, target / MEMORIES_FILE)
    except (sqlite3.Error, OSError) as error:
        raise StoreUnavailable(
            f"the memories in {file} cannot be copied to {target}: {error}; they are left as they are",
            "project memories",
        ) from error


def set_copy_aside(folder: Path, name: str) -> None:
    """Give the file of memories in a folder another name, so that nothing takes it for the copy of a store. Raises `OSError`."""
    for suffix in ("", "-wal", "-shm"):
        if (file := folder / (MEMORIES_FILE + suffix)).exists():
            file.replace(folder / f"memories-{name}.db{suffix}")


def open_memory_copy(folder: Path, store: MemoryStore) -> MemoryCopy:
    """The copy of a store that is kept in another folder."""
    assert isinstance(store, MemoryStore)
    return MemoryCopy(folder / MEMORIES_FILE, store)


def replace_damaged_memories(folder: Path, name: str, scope: Scope) -> Replacement:
    """Replace damaged memories by a backup (`latest`, a date or a file), and move them aside. Raises `NotFound`."""
    path = folder / MEMORIES_FILE
    backup = find_backup(path, name)
    aside = put_in_place(backup, path)
    store = MemoryStore(path, scope)
    count = store.count()
    store.close()
    return Replacement(str(backup), count, str(aside) if aside else None)


def read_backup(store: MemoryStore, name: str) -> Backup:
    """The content of a backup of a store: `latest` (the newest good one), a date, or a file. Raises `NotFound`."""
    if store.path is None and not is_good(Path(name)):
        raise NotFound(
            f"{store.scope} memories are in RAM: there are no backups of them, and {name!r} is no file of one"
        )
    file = find_backup(store.path, name) if store.path else Path(name)
    with tempfile.TemporaryDirectory() as folder:
        # Open a copy, because opening migrates a file of an older version.
        copy = Path(folder) / MEMORIES_FILE
        try:
            with closing(read_only(file)) as source:
                check_tables(source)
                # Not a copy of the file alone: the last commits may be in its log.
                source.execute("VACUUM INTO ?", (str(copy),))
            former = MemoryStore(copy, store.scope)
        except (sqlite3.Error, StoreError) as error:
            raise NotFound(f"the backup {file} cannot be read: {error}; choose another one") from error
        with closing(former):
            return Backup(str(file), tuple(former.find()))


def vector_lenders(roots: Sequence[Path]) -> list[VectorLender]:
    """The vectors of other projects, which can be reused for equal texts."""
    files = [Project(root).data_folder / INDEX_FILE for root in roots]
    return [LentVectors(file) for file in files if file.is_file()]
