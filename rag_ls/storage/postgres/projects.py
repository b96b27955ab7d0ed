"""The projects of a PostgreSQL server: a schema for each, and a list of them in the schema `rag_ls`."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from rag_ls.errors import NotFound, StoreUnavailable
from rag_ls.storage.postgres.schema import Schema
from rag_ls.storage.postgres.server import Server
from rag_ls.storage.records import StoredProject

if TYPE_CHECKING:
    import psycopg

STORE = "vectors"
_LEAST_PGVECTOR = (0, 8)
# PostgreSQL cuts names after 63 bytes.
_MAX_SLUG = 30


def schema_of(project: str) -> str:
    """The name of a project's schema: readable, and unlike that of every other project."""
    slug = re.sub(r"[^a-z0-9]+", "_", project.lower()).strip("_")[-_MAX_SLUG:].strip("_")
    return f"rag_{slug or 'project'}_{hashlib.sha256(project.encode()).hexdigest()[:10]}"


def project_schema(server: Server, project: str) -> Schema:
    """The schema of a project's vectors."""

    def first(connection: psycopg.Connection[Any], name: str) -> None:
        _need_pgvector(connection, server)
        connection.execute(
            f"CREATE TABLE {name}.rag_model (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
            "name text NOT NULL UNIQUE, dimensions integer NOT NULL)"
        )
        connection.execute("CREATE SCHEMA IF NOT EXISTS rag_ls")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS rag_ls.rag_project (schema text PRIMARY KEY, name text NOT NULL, "
            "made_at timestamptz NOT NULL DEFAULT now())"
        )
        connection.execute(
            "INSERT INTO rag_ls.rag_project (schema, name) VALUES (%s, %s) ON CONFLICT DO NOTHING", (name, project)
        )

    return Schema(server, schema_of(project), "project_schema", (first,), STORE)


def stored_projects(server: Server) -> list[StoredProject]:
    """The projects of a server, by name, with their sizes."""
    with server.transaction() as connection:
        listed = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'rag_ls' AND tablename = 'rag_project'"
        if connection.execute(listed).fetchone() is None:
            return []
        rows = connection.execute(
            "SELECT p.name, coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint, coalesce(sum(s.n_live_tup) FILTER "
            "(WHERE c.relname LIKE 'rag_vector_%'), 0)::bigint FROM rag_ls.rag_project p "
            "LEFT JOIN pg_namespace n ON n.nspname = p.schema LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r' "
            "LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid GROUP BY p.name ORDER BY p.name"
        ).fetchall()
    return [StoredProject(str(name), int(size), int(count)) for name, size, count in rows]


def drop_project(server: Server, project: str) -> None:
    """Delete a project's schema with all that it holds. Raises `NotFound`, `StoreUnavailable`."""
    with server.transaction() as connection:
        row = connection.execute(
            "DELETE FROM rag_ls.rag_project WHERE name = %s RETURNING schema", (project,)
        ).fetchone()
        if row is None:
            raise NotFound(f"{server.place} has no project {project!r}; `rag-ls store projects` lists them")
        connection.execute(f"DROP SCHEMA {row[0]} CASCADE")


def _need_pgvector(connection: psycopg.Connection[Any], server: Server) -> None:
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
    if tuple(int(number) for number in re.findall(r"\d+", version)[:2]) < _LEAST_PGVECTOR:
        remedy = "update it to 0.8 or newer (ALTER EXTENSION vector UPDATE)"
        raise StoreUnavailable(f"{server.place} has pgvector {version}, which is too old: {remedy}", STORE)
