"""Publishes a project's code on a PostgreSQL server."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rag_ls.errors import InvalidRequest
from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors
from rag_ls.storage.postgres.published_postings import posting_of
from rag_ls.storage.postgres.schema import PostgresSchema, enlist, publishing_lock, schema_of
from rag_ls.storage.postgres.server import PostgresServer
from rag_ls.storage.records import ChunkRow, Hnsw, Publication, PublishedFile
from rag_ls.storage.terms import columns_of, last_name

if TYPE_CHECKING:
    import psycopg

_CHUNK_TYPES = {
    "file_id": "int8", "uid": "text", "ordinal": "int4", "start_byte": "int8", "end_byte": "int8", "start_line": "int4",
    "end_line": "int4", "symbol": "text", "name": "text", "node_type": "text", "parent_types": "text", "depth": "int4",
    "is_declaration": "bool", "signature": "text", "doc": "text", "overlap": "text", "text": "text",
    "content_hash": "text", "text_hash": "bytea", "words": "int4", "tally": "text", "posting": "text",
}  # fmt: skip
_SYMBOL_COLUMNS = "file_id, symbol, name, kind, start_line, end_line, signature, exported"
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


class Publisher:
    """Publishes one project's code. Readers see each file as it was or as it is, never a part of it.

    Needs pgvector for the vectors alone.
    """

    def __init__(self, url: str, project: str, *, hnsw: Hnsw | None = None) -> None:
        """Connects when it is first asked. `project` is its name for all who share it.

        Raises `StoreUnavailable` for a URL that is none.
        """
        self._server = PostgresServer(url, STORE, missing=MISSING)
        self.place = self._server.place
        """The address of the server, without its password."""
        self._project = project
        self._alone: psycopg.Connection[Any] | None = None
        self._schema = code_schema(self._server, project)
        self.vectors = PostgresProjectVectors(url, project, hnsw=hnsw)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """A block during which no other client can publish this project. Raises `InvalidRequest` if one is publishing it."""
        self._schema.make()
        with self._server.hold_lock("%s", publishing_lock(self._project)) as connection:
            if connection is None:
                raise InvalidRequest(
                    f"somebody else publishes {self._project} on {self.place} just now, or was cut off within the last "
                    "minute: do it again when they are done"
                )
            self._alone = connection
            try:
                yield
            finally:
                self._alone = None

    def digests(self) -> dict[str, str]:
        """The digests of the published files, by path."""
        with self._server.transaction() as connection:
            rows = connection.execute(f"SELECT path, digest FROM {self._schema.name}.rag_file").fetchall()
        return {str(path): str(digest) for path, digest in rows}

    def put(self, files: Sequence[PublishedFile]) -> dict[str, str]:
        """Publish files in place of their former versions, in one transaction; those that fail stay as they were.

        Returns why files failed, by path.
        """
        import psycopg

        failed: dict[str, str] = {}
        with self._change() as connection:
            self._count_change(connection)
            for file in files:
                try:
                    with connection.transaction():
                        self._put_file(connection, file)
                except (psycopg.errors.DataError, psycopg.errors.ProgramLimitExceeded) as error:
                    failed[file.path] = str(error).splitlines()[0]
        return failed

    def remove(self, paths: Collection[str]) -> None:
        """Publish these files no longer."""
        if paths:
            with self._change() as connection:
                self._count_change(connection)
                connection.execute(f"DELETE FROM {self._schema.name}.rag_file WHERE path = ANY(%s)", (sorted(paths),))

    def finish(self, publication: Publication) -> None:
        """Note what was published, and count how many chunks hold each term."""
        schema = self._schema.name
        with self._change() as connection:
            connection.execute("SET LOCAL statement_timeout = 0")
            connection.execute(f"DELETE FROM {schema}.rag_term")
            connection.execute(
                f"INSERT INTO {schema}.rag_term SELECT word, ndoc FROM ts_stat('SELECT posting FROM {schema}.rag_chunk')"
            )
            connection.execute(
                f"UPDATE {schema}.rag_publication SET number = number + 1, model = %s, commit = %s, branch = %s, "
                "published_at = %s, is_changing = %s, "
                f"(chunks, words) = (SELECT count(*), coalesce(sum(words), 0) FROM {schema}.rag_chunk)",
                (publication.model, publication.commit, publication.branch, publication.at, publication.is_changing),
            )

    def close(self) -> None:
        self._server.close()
        self.vectors.close()

    @contextlib.contextmanager
    def _change(self) -> Iterator[psycopg.Connection[Any]]:
        """A transaction that changes what is published. Raises `StoreUnavailable` if this publisher is alone no longer."""
        with self._server.transaction() as connection:
            if self._alone is not None:
                # Ends with an error if the connection that holds the lock was closed.
                self._alone.execute("SELECT 1")
            yield connection

    def _put_file(self, connection: psycopg.Connection[Any], file: PublishedFile) -> None:
        schema = self._schema.name
        row = connection.execute(
            f"INSERT INTO {schema}.rag_file (path, language, size, digest) VALUES (%s, %s, %s, %s) "
            "ON CONFLICT (path) DO UPDATE SET language = excluded.language, size = excluded.size, "
            "digest = excluded.digest, published_at = now() RETURNING id",
            (file.path, file.language, file.size, file.digest),
        ).fetchone()
        assert row is not None
        file_id = int(row[0])
        connection.execute(f"DELETE FROM {schema}.rag_chunk WHERE file_id = %s", (file_id,))
        connection.execute(f"DELETE FROM {schema}.rag_symbol WHERE file_id = %s", (file_id,))
        with connection.cursor().copy(f"COPY {schema}.rag_chunk ({', '.join(_CHUNK_TYPES)}) FROM STDIN") as copy:
            for chunk in file.chunks:
                copy.write_row(_values(file_id, chunk))
        with connection.cursor().copy(f"COPY {schema}.rag_symbol ({_SYMBOL_COLUMNS}) FROM STDIN") as copy:
            for each in file.symbols:
                copy.write_row(
                    (file_id, _replace_nul(each.symbol), _replace_nul(last_name(each.symbol)), each.kind, each.start_line,
                     each.end_line, _replace_nul(each.signature), each.exported)
                )  # fmt: skip

    def _count_change(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(f"UPDATE {self._schema.name}.rag_publication SET number = number + 1, is_changing = true")


def _values(file_id: int, row: ChunkRow) -> tuple[object, ...]:
    """The values of a chunk, in the order of `_CHUNK_TYPES`."""
    chunk = row.stored.chunk
    columns = columns_of(chunk.path, chunk.symbol, chunk.signature, chunk.doc, chunk.text)
    posting = posting_of(columns)
    return (
        file_id, row.stored.id, chunk.ordinal, chunk.start_byte, chunk.end_byte, chunk.start_line, chunk.end_line,
        _replace_nul(chunk.symbol), _replace_nul(last_name(chunk.symbol)), chunk.node_type, "\n".join(chunk.parent_types), chunk.depth,
        chunk.is_declaration, _replace_nul(chunk.signature), _replace_nul(chunk.doc), _replace_nul(chunk.overlap), _replace_nul(chunk.text),
        row.stored.content_hash, row.text_hash, posting.words, posting.tally,
        posting.places,
    )  # fmt: skip


def _replace_nul(text: str) -> str:
    """PostgreSQL holds no NUL in a text."""
    return text.replace("\0", "\ufffd")


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
