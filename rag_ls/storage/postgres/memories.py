"""A project's memories that a team shares on a PostgreSQL server. Needs no extension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rag_ls.storage.postgres.projects import enlist, schema_of
from rag_ls.storage.postgres.schema import PostgresSchema
from rag_ls.storage.postgres.server import PostgresServer
from rag_ls.storage.records import SharedChanges, SharedMemory

if TYPE_CHECKING:
    import psycopg

STORE = "team memories"


class SharedMemories:
    """The memories of one project that a team shares. Safe from several threads.

    The latest version of each memory is a row; the server's users keep their own histories.
    """

    def __init__(self, url: str, project: str) -> None:
        """Connects when it is first asked. `project` is its name for all who share it.

        Raises `StoreUnavailable` for a URL that is none.
        """
        self._server = PostgresServer(url, STORE)
        self.place = self._server.place
        """The address of the server, without its password."""

        def first(connection: psycopg.Connection[Any], name: str) -> None:
            enlist(connection, name, project)
            connection.execute(f"CREATE SEQUENCE {name}.rag_change")
            connection.execute(
                f"INSERT INTO {name}.rag_meta VALUES ('memories_epoch', gen_random_uuid()::text) ON CONFLICT DO NOTHING"
            )
            connection.execute(
                f"CREATE TABLE {name}.rag_memory (id text PRIMARY KEY, change bigint NOT NULL UNIQUE, version bigint NOT NULL, "
                "deleted boolean NOT NULL, updated_at text NOT NULL, record text NOT NULL, "
                "author text NOT NULL DEFAULT current_user)"
            )

        self._schema = PostgresSchema(self._server, schema_of(project), "memories_schema", (first,), STORE)
        self._table = f"{self._schema.name}.rag_memory"

    def since(self, change: int) -> SharedChanges:
        """The changes after a change's number (0: all of them). Raises `StoreUnavailable`."""
        with self._server.transaction() as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            if not self._schema.exists(connection):
                return SharedChanges((), 0, "")
            rows = connection.execute(
                f"SELECT id, version, deleted, updated_at, record FROM {self._table} WHERE change > %s ORDER BY change",
                (change,),
            ).fetchall()
            found = connection.execute(
                f"SELECT coalesce(max(change), 0), (SELECT value FROM {self._schema.name}.rag_meta "
                f"WHERE key = 'memories_epoch') FROM {self._table}"
            ).fetchone()
        assert found is not None
        return SharedChanges(tuple(SharedMemory(*row) for row in rows), int(found[0]), str(found[1] or ""))

    def put(self, memories: Sequence[SharedMemory]) -> None:
        """Store versions, each unless the server has one with a greater stamp. All of them or none.

        Raises `StoreUnavailable`; `StoreReadOnly` for a user who may only read.
        """
        if not memories:
            return
        self._schema.make()
        with self._server.transaction() as connection:
            # One after the other, so that nobody sees a later change before an earlier one.
            connection.execute(f"LOCK TABLE {self._table} IN SHARE ROW EXCLUSIVE MODE")
            connection.cursor().executemany(
                f"INSERT INTO {self._table} AS m (id, change, version, deleted, updated_at, record) "
                f"VALUES (%s, nextval('{self._schema.name}.rag_change'), %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE SET "
                "change = excluded.change, version = excluded.version, deleted = excluded.deleted, "
                "updated_at = excluded.updated_at, record = excluded.record, author = current_user "
                'WHERE (m.version, m.deleted, m.updated_at COLLATE "C") < '
                '(excluded.version, excluded.deleted, excluded.updated_at COLLATE "C")',
                [(each.id, each.version, each.is_deleted, each.updated_at, each.record) for each in memories],
            )

    def close(self) -> None:
        self._server.close()
