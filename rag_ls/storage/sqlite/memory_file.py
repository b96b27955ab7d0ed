"""Opens `memories.db`. Memories cannot be rebuilt, so a damaged file is left as it is, and the error names its backup."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from rag_ls.errors import StoreDamaged, StoreError, StoreUnavailable
from rag_ls.storage.sqlite.connections import Connections
from rag_ls.storage.sqlite.database import Database, NoHandles, SchemaTooNew
from rag_ls.storage.sqlite.index_file import is_damage
from rag_ls.storage.sqlite.memory_backups import damage_report, is_truncated
from rag_ls.storage.sqlite.memory_schema import MIGRATIONS, check_tables
from rag_ls.storage.sqlite.room import describe_fault, disk_full, is_disk_full


def open_memory_file(path: Path | None, store: str, connections: Connections | None) -> Database:
    """The database of a file of memories, or one in RAM. `store` is its name in errors.

    Raises `StoreDamaged`, which names the newest good backup, for a broken file, else `StoreUnavailable`.
    """
    if path is not None and is_truncated(path):
        raise StoreDamaged(damage_report(path, ValueError("it is empty")), store)

    def describe_damage(error: sqlite3.Error) -> str:
        return damage_report(path, error) if path is not None and is_damage(error) else ""

    try:
        database = Database(
            path, MIGRATIONS, store=store, durable=True, damage=describe_damage, inspect=check_tables,
            connections=connections,
        )  # fmt: skip
        if path is not None:
            _check(database)
        return database
    except StoreError:
        raise
    except NoHandles as error:
        raise StoreUnavailable(f"the {store} ({path}) cannot be opened: {error}", store) from error
    except SchemaTooNew as error:
        raise StoreUnavailable(f"{error}; upgrade rag-ls, nothing was changed", store) from error
    except (sqlite3.OperationalError, OSError) as error:
        if is_disk_full(error, path):
            raise disk_full(store, path) from error
        raise StoreUnavailable(
            f"the {store} ({path}) cannot be opened: "
            f"{describe_fault(error, path, 'make the file readable and writable for you')}",
            store,
        ) from error
    except sqlite3.DatabaseError as error:
        assert path is not None
        raise StoreDamaged(damage_report(path, error), store) from error


def _check(database: Database) -> None:
    with database.call():
        found = database.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise sqlite3.DatabaseError(found)
