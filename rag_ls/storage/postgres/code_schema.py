"""The tables of published code in a project's schema on a PostgreSQL server. They need no extension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag_ls.storage.postgres.projects import enlist, schema_of
from rag_ls.storage.postgres.schema import PostgresSchema
from rag_ls.storage.postgres.server import PostgresServer

if TYPE_CHECKING:
    import psycopg

STORE = "published code"
# The remedy that the error names if the tables are gone.
MISSING = "`rag-ls store publish` in a checkout publishes it again"

# `posting` and `tally` hold our own stemmed terms (`published_postings`). `number` is another one after every change, and never
# one of tables that were dropped before.
_TABLES = """
CREATE TABLE {schema}.rag_publication (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one), number bigint NOT NULL, model text NOT NULL DEFAULT '',
  commit text NOT NULL DEFAULT '', branch text NOT NULL DEFAULT '', published_at text NOT NULL DEFAULT '',
  chunks bigint NOT NULL DEFAULT 0, words bigint NOT NULL DEFAULT 0);
INSERT INTO {schema}.rag_publication (number) VALUES ((1000000 * extract(epoch FROM clock_timestamp()))::bigint);
CREATE TABLE {schema}.rag_file (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, path text NOT NULL UNIQUE, language text NOT NULL,
  size bigint NOT NULL, digest text NOT NULL, published_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE {schema}.rag_chunk (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  file_id bigint NOT NULL REFERENCES {schema}.rag_file ON DELETE CASCADE, uid text NOT NULL, ordinal integer NOT NULL,
  start_byte bigint NOT NULL, end_byte bigint NOT NULL, start_line integer NOT NULL, end_line integer NOT NULL,
  symbol text NOT NULL, name text NOT NULL, node_type text NOT NULL, parent_types text NOT NULL, depth integer NOT NULL,
  is_declaration boolean NOT NULL, signature text NOT NULL, doc text NOT NULL, overlap text NOT NULL, text text NOT NULL,
  content_hash text NOT NULL, text_hash bytea NOT NULL, words integer NOT NULL, tally jsonb NOT NULL,
  posting tsvector NOT NULL);
CREATE INDEX ON {schema}.rag_chunk (file_id, ordinal);
CREATE INDEX ON {schema}.rag_chunk (uid);
CREATE INDEX ON {schema}.rag_chunk (name) WHERE name != '';
CREATE INDEX ON {schema}.rag_chunk (text_hash);
CREATE INDEX ON {schema}.rag_chunk USING gin (posting);
CREATE TABLE {schema}.rag_symbol (
  file_id bigint NOT NULL REFERENCES {schema}.rag_file ON DELETE CASCADE, symbol text NOT NULL, name text NOT NULL,
  kind text NOT NULL, start_line integer NOT NULL, end_line integer NOT NULL, signature text NOT NULL,
  exported boolean NOT NULL);
CREATE INDEX ON {schema}.rag_symbol (file_id);
CREATE INDEX ON {schema}.rag_symbol (name text_pattern_ops);
CREATE TABLE {schema}.rag_term (term text COLLATE "C" PRIMARY KEY, holders bigint NOT NULL);
"""


def code_schema(server: PostgresServer, project: str) -> PostgresSchema:
    """The schema of a project's published code."""

    def first(connection: psycopg.Connection[Any], name: str) -> None:
        enlist(connection, name, project)
        for statement in _TABLES.format(schema=name).split(";\n"):
            if statement.strip():
                connection.execute(statement)

    return PostgresSchema(server, schema_of(project), "code_schema", (first, _second), STORE)


def _second(connection: psycopg.Connection[Any], name: str) -> None:
    connection.execute(f"ALTER TABLE {name}.rag_publication ADD COLUMN is_changing boolean NOT NULL DEFAULT false")
