"""A PostgreSQL schema of ours. The first client that finds it missing or old makes or migrates it; the others wait."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rag_ls.errors import InvalidRequest, NotFound, StoreUnavailable
from rag_ls.storage.postgres.server import PostgresServer
from rag_ls.storage.records import StoredProject

if TYPE_CHECKING:
    import psycopg

# All users of a database hold this lock while they create or migrate a schema.
_LOCK_ID = 0x7261676C73
Migration = Callable[["psycopg.Connection[Any]", str], None]
"""Takes a schema, by its name, one version further."""
STORE = "vectors"
_MIN_PGVECTOR = (0, 8)
_MAX_COUNTED = 1000
# PostgreSQL cuts names to 63 bytes.
_MAX_SLUG = 30


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


def schema_of(project: str) -> str:
    """The name of a project's schema: readable, and unlike that of every other project."""
    slug = re.sub(r"[^a-z0-9]+", "_", project.lower()).strip("_")[-_MAX_SLUG:].strip("_")
    return f"rag_{slug or 'project'}_{hashlib.sha256(project.encode()).hexdigest()[:10]}"


def publishing_lock(project: str) -> int:
    """The number of the advisory lock that a client holds while it publishes a project's code."""
    return int.from_bytes(hashlib.sha256(f"publishes {project}".encode()).digest()[:8], signed=True)


def project_schema(server: PostgresServer, project: str) -> PostgresSchema:
    """The schema of a project's vectors."""

    def first(connection: psycopg.Connection[Any], name: str) -> None:
        _need_pgvector(connection, server)
        connection.execute(f"CREATE TABLE {name}.rag_model (name text PRIMARY KEY, dimensions integer NOT NULL)")
        enlist(connection, name, project)

    return PostgresSchema(server, schema_of(project), "project_schema", (first,), STORE)


def enlist(connection: psycopg.Connection[Any], schema: str, project: str) -> None:
    """Note in the list of projects which one a schema is of."""
    if not has_table(connection, "rag_ls", "rag_project"):
        connection.execute("CREATE SCHEMA IF NOT EXISTS rag_ls")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS rag_ls.rag_project (schema text PRIMARY KEY, name text NOT NULL, "
            "made_at timestamptz NOT NULL DEFAULT now())"
        )
    connection.execute(
        "INSERT INTO rag_ls.rag_project (schema, name) VALUES (%s, %s) ON CONFLICT DO NOTHING", (schema, project)
    )


class PostgresProjects:
    """See `StoredProjects`."""

    def __init__(self, url: str) -> None:
        """Connects when it is first asked. Raises `StoreUnavailable` for a URL that is none."""
        self._server = PostgresServer(url, STORE)
        self.place = self._server.place

    def all(self) -> list[StoredProject]:
        with self._server.transaction() as connection:
            if not has_table(connection, "rag_ls", "rag_project"):
                return []
            rows = connection.execute(
                "SELECT p.name, p.schema, coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint, "
                "coalesce(sum(greatest(c.reltuples, 0)) FILTER (WHERE c.relname LIKE 'rag_vector_%'), 0)::bigint, "
                "coalesce(array_agg(c.relname::text), '{}'), "
                "coalesce(bool_or(c.relname = 'rag_publication'), false) "
                "FROM rag_ls.rag_project p LEFT JOIN pg_namespace n ON n.nspname = p.schema "
                "LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r' GROUP BY p.name, p.schema ORDER BY p.name"
            ).fetchall()
            # Other users may write to the table, so check every value.
            known = [row for row in rows if row[1] == schema_of(str(row[0]))]
            return [_project(connection, *row, is_counted=len(known) <= _MAX_COUNTED) for row in known]

    def drop(self, project: str) -> None:
        schema = schema_of(project)
        with self._server.transaction() as connection:
            lock = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", (publishing_lock(project),)).fetchone()
            if lock is None or not lock[0]:
                raise InvalidRequest(
                    f"somebody publishes {project} on {self.place} just now: drop it when they are done"
                )
            row = None
            if has_table(connection, "rag_ls", "rag_project"):
                row = connection.execute(
                    "DELETE FROM rag_ls.rag_project WHERE schema = %s AND name = %s RETURNING schema", (schema, project)
                ).fetchone()
            if row is None:
                raise NotFound(f"{self.place} has no project {project!r}; `rag-ls store projects` lists them")
            connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")

    def close(self) -> None:
        self._server.close()


def _project(
    connection: psycopg.Connection[Any], name: str, schema: str, size: int, estimated: int, tables: list[str], has_code: bool,
    *, is_counted: bool,
) -> StoredProject:  # fmt: skip
    """A project of the list. Its vectors are counted, or (there are very many projects) estimated."""
    chunks, vectors = 0, estimated
    if is_counted:
        # Only names of our own are part of a statement.
        counted = [table for table in tables if re.fullmatch(r"rag_vector_[0-9a-f]+", table or "")]
        vectors = sum(_count(connection, f"{schema}.{table}") for table in counted)
        chunks = _count(connection, f"{schema}.rag_chunk") if has_code else 0
    return StoredProject(name, int(size), int(vectors), chunks)


def _count(connection: psycopg.Connection[Any], rows: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {rows}").fetchone()
    return int(row[0]) if row else 0


def _need_pgvector(connection: psycopg.Connection[Any], server: PostgresServer) -> None:
    """Install pgvector in the database, if it is not there. Raises `StoreUnavailable` if that cannot be done."""
    import psycopg

    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.InsufficientPrivilege:
        remedy = "let a superuser run CREATE EXTENSION vector in that database once"
        raise StoreUnavailable(
            f"{server.place} has no pgvector, and this user may not add it: {remedy}", STORE
        ) from None
    except psycopg.Error:
        remedy = "install pgvector 0.8 or newer on the server, or leave store.search at `local`, which needs none"
        raise StoreUnavailable(f"{server.place} has no pgvector: {remedy}", STORE) from None
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    version = str(row[0]) if row else ""
    if tuple(int(number) for number in re.findall(r"\d+", version)[:2]) < _MIN_PGVECTOR:
        remedy = "update it to 0.8 or newer (ALTER EXTENSION vector UPDATE)"
        raise StoreUnavailable(f"{server.place} has pgvector {version}, which is too old: {remedy}", STORE)
