"""A PostgreSQL schema of ours. The first client that finds it missing or old makes or migrates it; the others wait."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rag_ls.errors import StoreUnavailable
from rag_ls.storage.postgres.server import PostgresServer

if TYPE_CHECKING:
    import psycopg

# All users of a database hold this lock while they create or migrate a schema.
_LOCK_ID = 0x7261676C73
Migration = Callable[["psycopg.Connection[Any]", str], None]
"""Takes a schema, by its name, one version further."""


class PostgresSchema:
    """A schema with a table `rag_meta`, whose key `part` holds the version of our tables there."""

    def __init__(
        self, server: PostgresServer, name: str, part: str, migrations: Sequence[Migration], store: str
    ) -> None:
        """`store` is its name in errors."""
        self.name = name
        self._server = server
        self._part = part
        self._migrations = migrations
        self._store = store

    def exists(self, connection: psycopg.Connection[Any]) -> bool:
        """Whether our tables are there, in this version. Raises `StoreUnavailable` if they are newer."""
        version = self._version(connection)
        if version > len(self._migrations):
            raise StoreUnavailable(
                f"{self._server.place} was made by a newer rag-ls (schema {version}, this one knows {len(self._migrations)}): "
                "update rag-ls, or name another database in store.url",
                self._store,
            )
        return version == len(self._migrations)

    def make(self) -> None:
        """Make or migrate the tables, if that is needed. Raises `StoreUnavailable`."""
        with self._server.transaction() as connection:
            if self.exists(connection):
                # This also works for a user who may only read.
                return
        with self.locked():
            pass

    @contextlib.contextmanager
    def locked(self) -> Iterator[psycopg.Connection[Any]]:
        """A transaction that has our tables, and during which no other client makes or migrates them."""
        with self._server.transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK_ID,))
            if not self.exists(connection):
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {self.name}")
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {self.name}.rag_meta (key text PRIMARY KEY, value text NOT NULL)"
                )
                for migrate in self._migrations[self._version(connection) :]:
                    migrate(connection, self.name)
                connection.execute(
                    f"INSERT INTO {self.name}.rag_meta VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                    (self._part, str(len(self._migrations))),
                )
            yield connection

    def _version(self, connection: psycopg.Connection[Any]) -> int:
        if not has_table(connection, self.name, "rag_meta"):
            return 0
        row = connection.execute(f"SELECT value FROM {self.name}.rag_meta WHERE key = %s", (self._part,)).fetchone()
        return int(row[0]) if row else 0


def has_table(connection: psycopg.Connection[Any], schema: str, table: str) -> bool:
    """Whether there is a table now."""
    # Not `to_regclass`: it may remember that the table was missing, although another client has created it since.
    query = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = %s AND tablename = %s"
    return connection.execute(query, (schema, table)).fetchone() is not None
