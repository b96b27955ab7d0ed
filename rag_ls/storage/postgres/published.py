"""The code that a team published on a PostgreSQL server, as a search reads it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from rag_ls.model import Chunk, StoredChunk
from rag_ls.storage.api import Numbers, VectorStore
from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors
from rag_ls.storage.postgres.publication import MISSING, STORE, code_schema
from rag_ls.storage.postgres.published_postings import PublishedPostings
from rag_ls.storage.postgres.schema import PostgresSchema, has_table, schema_of
from rag_ls.storage.postgres.server import PostgresServer
from rag_ls.storage.records import (
    DISK,
    ChunkRow,
    DocumentRecord,
    FileState,
    Publication,
    RankRow,
    StoredSymbol,
    find_runs,
)
from rag_ls.storage.terms import OTHER_CASES, Need
from rag_ls.util.records import dataclass
from rag_ls.util.text import end_lines_in_lf

_FOR_RANKING = (
    "SELECT c.id, c.file_id, f.path, f.language, c.symbol, c.node_type, c.is_declaration, c.ordinal, c.text_hash, f.size, "
    "c.end_line - c.start_line + 1"
)
_CHUNKS = (
    "SELECT f.path, f.language, f.digest, f.size, f.id, c.id, c.uid, c.content_hash, c.text_hash, c.ordinal, c.start_byte, "
    "c.end_byte, c.start_line, c.end_line, c.text, c.overlap, c.symbol, c.node_type, c.parent_types, c.depth, "
    "c.is_declaration, c.signature, c.doc"
)
_DOCUMENT = "SELECT path, language, digest, size, id"
_CHUNKS_WITH_FILES = "rag_chunk c JOIN {schema}.rag_file f ON f.id = c.file_id"
_SYMBOLS = "f.id, f.path, f.language, s.symbol, s.kind, s.start_line, s.end_line, s.signature, s.exported"
_SYMBOLS_WITH_FILES = "rag_symbol s JOIN {schema}.rag_file f ON f.id = s.file_id"
# The size of a file is not asked for: about so many kilobytes are most.
_FILE_KILOBYTES = 10
_LAST = "\U0010ffff"
_WHOLE_TEXT = "string_agg(text, '' ORDER BY ordinal)"
_OTHER_CASES = ("".join(OTHER_CASES), "".join(OTHER_CASES.values()))


class PublishedServer:
    """A server on which projects are published."""

    def __init__(self, url: str) -> None:
        """Connects when it is first asked. Raises `StoreUnavailable` for a URL that is none."""
        self._server = PostgresServer(url, STORE, missing=MISSING, read_only=True)
        self.place = self._server.place
        """The address of the server, without its password."""

    def names(self) -> list[str]:
        """The names of the published projects, in order."""
        with self._server.transaction() as connection:
            if not has_table(connection, "rag_ls", "rag_project"):
                return []
            rows = connection.execute(
                "SELECT p.name, p.schema FROM rag_ls.rag_project p JOIN pg_catalog.pg_tables t ON t.schemaname = p.schema "
                "AND t.tablename = 'rag_publication' ORDER BY 1"
            ).fetchall()
        # Other users may write to the table, so check every value.
        return [str(name) for name, schema in rows if schema == schema_of(str(name))]

    def open(self, project: str) -> PublishedIndex:
        """The code of one of them."""
        return PublishedIndex(self._server, project)

    def close(self) -> None:
        self._server.close()


class PublishedIndex:
    """The published code of one project. See `SearchedIndex`. It uses the connections of its `PublishedServer`.

    Call its parts only for what `publication` has found.
    """

    def __init__(self, server: PostgresServer, project: str) -> None:
        self.project = project
        self._server = server
        self._schema = code_schema(self._server, project)
        self.checkout = PublishedDocuments(self._server, self._schema)
        self.lexical = PublishedPostings(self._server, self._schema)
        self.vectors: VectorStore = PostgresProjectVectors(server, project)
        self.vectors_here = self.vectors

    def publication(self) -> Publication | None:
        """The publication on the server; None if none ever came to its end."""
        with self._server.reading() as connection:
            if not self._schema.exists(connection):
                return None
        return self.checkout.publication()

    def changes(self) -> int:
        with self._server.reading() as connection:
            row = connection.execute(f"SELECT number FROM {self._schema.name}.rag_publication").fetchone()
        return int(row[0]) if row else 0


class PublishedDocuments:
    """See `SearchedDocuments`. None of them is unsaved."""

    def __init__(self, server: PostgresServer, schema: PostgresSchema) -> None:
        self._rows = _Rows(server, schema.name)
        self.chunks = PublishedChunks(self._rows)
        self.outlines = PublishedOutlines(self._rows)
        self.signatures = PublishedTexts(self._rows)

    def active_model(self) -> str:
        found = self.publication()
        return found.model if found else ""

    def publication(self) -> Publication | None:
        rows = self._rows.of(
            "SELECT model, commit, branch, published_at, is_changing", "rag_publication p", "published_at != ''"
        )
        if not rows:
            return None
        model, commit, branch, at, is_changing = rows[0]
        return Publication(model, commit, branch, at, is_changing)

    def document(self, path: str, session: str = DISK) -> DocumentRecord | None:
        rows = self._rows.of(_DOCUMENT, "rag_file f", "path = %s", path)
        return _document(rows[0]) if rows and session == DISK else None

    def documents(self, session: str = DISK) -> dict[str, DocumentRecord]:
        if session != DISK:
            return {}
        rows = self._rows.of(_DOCUMENT, "rag_file f", "true")
        return {str(row[0]): _document(row) for row in rows}

    def unsaved_documents(self) -> list[DocumentRecord]:
        return []

    def document_paths(self, among: Collection[int] | None = None) -> list[tuple[int, str, str, str]]:
        condition, values = ("true", []) if among is None else ("id = ANY(%s::bigint[])", [list(among)])
        rows = self._rows.of("SELECT id, path, language", "rag_file f", f"{condition} ORDER BY id", *values)
        return [(int(file_id), str(path), str(language), DISK) for file_id, path, language in rows]


class PublishedChunks:
    """See `SearchedChunks`."""

    def __init__(self, rows: _Rows) -> None:
        self._rows = rows

    def by_row(self, rows: Collection[int]) -> dict[int, ChunkRow]:
        return {found.row: found for found in self._select("c.id = ANY(%s::bigint[])", list(rows))}

    def for_ranking(self, rows: Collection[int]) -> list[RankRow]:
        return self._select_for_ranking("c.id = ANY(%s::bigint[]) ORDER BY c.id", list(rows))

    def by_id(self, chunk_id: str) -> list[ChunkRow]:
        return self._select("c.uid = %s", chunk_id)

    def texts(self, rows: Collection[int]) -> dict[int, str]:
        return dict(self._rows.of("SELECT id, text", "rag_chunk c", "id = ANY(%s::bigint[])", list(rows)))

    def with_texts(self, text_hashes: Collection[bytes]) -> list[RankRow]:
        return self._select_for_ranking("c.text_hash = ANY(%s::bytea[])", list(text_hashes))

    def at(self, document_id: int, line: int) -> ChunkRow | None:
        found = self._select(
            "c.file_id = %s AND c.start_line <= %s AND c.end_line >= %s ORDER BY c.ordinal DESC LIMIT 1",
            document_id, line, line,
        )  # fmt: skip
        return found[0] if found else None

    def pieces(self, rows: Collection[int]) -> dict[int, list[ChunkRow]]:
        found = self._rows.of(
            f"{_CHUNKS}, m.id",
            "rag_chunk m JOIN {schema}.rag_chunk c ON c.file_id = m.file_id AND c.symbol = m.symbol "
            "JOIN {schema}.rag_file f ON f.id = c.file_id",
            "m.id = ANY(%s::bigint[]) AND m.symbol != '' ORDER BY m.id, c.ordinal", list(rows),
        )  # fmt: skip
        return find_runs((int(row[-1]), _chunk(row[:-1])) for row in found)

    def named(self, names: Collection[str], limit: int) -> list[tuple[int, str, bool]]:
        wanted = [name for name in names if name]
        return self._rows.of(
            "SELECT id, name, is_declaration", "rag_chunk c",
            "name != '' AND name = ANY(%s::text[]) ORDER BY is_declaration DESC, id LIMIT %s", wanted, limit,
        )  # fmt: skip

    def first_of(self, document_ids: Collection[int], limit: int) -> list[int]:
        where = "file_id = ANY(%s::bigint[]) ORDER BY ordinal, id LIMIT %s"
        return [row[0] for row in self._rows.of("SELECT id", "rag_chunk c", where, list(document_ids), limit)]

    def documents_of(self, rows: Collection[int]) -> dict[int, int]:
        return dict(self._rows.of("SELECT id, file_id", "rag_chunk c", "id = ANY(%s::bigint[])", list(rows)))

    def text_hashes_of_documents(self, document_ids: Collection[int]) -> list[bytes]:
        where = "file_id = ANY(%s::bigint[]) AND text_hash != ''"
        rows = self._rows.of("SELECT DISTINCT text_hash", "rag_chunk c", where, list(document_ids))
        return [bytes(row[0]) for row in rows]

    def estimated_count(self) -> int:
        rows = self._rows.of("SELECT chunks", "rag_publication p", "true")
        return int(rows[0][0]) if rows else 0

    def _select_for_ranking(self, where: str, *values: object) -> list[RankRow]:
        rows = self._rows.of(_FOR_RANKING, _CHUNKS_WITH_FILES, where, *values)
        return list(map(RankRow._make, rows))

    def _select(self, where: str, *values: object) -> list[ChunkRow]:
        rows = self._rows.of(_CHUNKS, _CHUNKS_WITH_FILES, where, *values)
        return [_chunk(row) for row in rows]


class PublishedOutlines:
    """See `SearchedOutlines`."""

    def __init__(self, rows: _Rows) -> None:
        self._rows = rows

    def last_names(self, beginning: str, limit: int) -> list[str]:
        where = "name ~>=~ %s AND name ~<~ %s ORDER BY name LIMIT %s"
        rows = self._rows.of("SELECT DISTINCT name", "rag_symbol s", where, beginning, beginning + _LAST, limit)
        return [row[0] for row in rows]

    def in_chunks(self, names: Collection[str], limit: int) -> list[tuple[int, StoredSymbol]]:
        rows = self._rows.of(
            f"SELECT c.id, {_SYMBOLS}",
            f"{_SYMBOLS_WITH_FILES} CROSS JOIN LATERAL (SELECT id FROM {{schema}}.rag_chunk c WHERE c.file_id = s.file_id "
            "AND c.start_line <= s.start_line AND c.end_line >= s.start_line ORDER BY c.ordinal DESC LIMIT 1) c",
            "s.name = ANY(%s::text[]) ORDER BY s.exported DESC, f.path, s.start_line LIMIT %s", list(names), limit,
        )  # fmt: skip
        return [(int(chunk), StoredSymbol(*row)) for chunk, *row in rows]

    def of_documents(self, documents: Collection[int], limit: int) -> list[StoredSymbol]:
        rows = self._rows.of(
            f"SELECT {_SYMBOLS}",
            _SYMBOLS_WITH_FILES,
            "f.id = ANY(%s::bigint[]) ORDER BY f.path, s.start_line LIMIT %s", list(documents), limit,
        )  # fmt: skip
        return [StoredSymbol(*row) for row in rows]


class PublishedTexts:
    """Finds the files that may hold a literal text: the server compares the texts themselves. See `SearchedSignatures`."""

    def __init__(self, rows: _Rows) -> None:
        self._rows = rows

    def find_passages(self, needs: Sequence[Need]) -> FoundFiles:
        values: list[object] = []
        conditions = " AND ".join(_condition(need, values) for need in needs) or "true"
        rows = self._rows.of("SELECT file_id", "rag_chunk", f"true GROUP BY file_id HAVING {conditions}", *values)
        return FoundFiles(self._rows, np.array(sorted(row[0] for row in rows), np.int64))


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """See `FoundPassages`: whole files."""

    _rows: _Rows
    documents: Numbers

    @property
    def first_lines(self) -> Numbers:
        return np.ones_like(self.documents)

    @property
    def kilobytes(self) -> Numbers:
        return np.full_like(self.documents, _FILE_KILOBYTES)

    def read(self, passages: Numbers) -> list[bytes | None]:
        files = self.documents[passages].tolist()
        rows = self._rows.of(
            f"SELECT file_id, {_WHOLE_TEXT}", "rag_chunk", "file_id = ANY(%s::bigint[]) GROUP BY file_id", files
        )
        texts = {file_id: end_lines_in_lf(str(text).encode()) for file_id, text in rows}
        return [texts.get(file_id) for file_id in files]


def _condition(need: Need, values: list[object]) -> str:
    """The condition of SQL on a file's chunks that a need makes; its values are added to `values`."""
    conditions = ["true"]
    for part in (part for literal in need.literals for part in need.parts_of(literal)):
        # PostgreSQL cannot store such characters, so no stored text holds them.
        if "\0" not in part and part.isprintable():
            values += [*_OTHER_CASES, part]
            conditions.append(f'strpos(lower(translate({_WHOLE_TEXT}, %s, %s) COLLATE "C"), %s) > 0')
    for group in need.either:
        conditions.append(f"({' OR '.join(_condition(each, values) for each in group) or 'true'})")
    return " AND ".join(conditions)


class _Rows:
    """Reads rows of one schema, each time with one statement."""

    def __init__(self, server: PostgresServer, schema: str) -> None:
        self._server = server
        self._schema = schema

    def of(self, select: str, tables: str, where: str, *values: object) -> list[Any]:
        query = f"{select} FROM {self._schema}.{tables.format(schema=self._schema)} WHERE {where}"
        with self._server.reading() as connection:
            return connection.execute(query, values).fetchall()


def _document(row: Sequence[Any]) -> DocumentRecord:
    path, language, digest, size, file_id = row
    return DocumentRecord(
        path=path, language=language, sha256=digest, state=FileState(size, 0, 0, 0), session=DISK, id=file_id
    )


def _chunk(row: Sequence[Any]) -> ChunkRow:
    document = _document(row[:5])
    file_id, uid, content_hash, text_hash, *fields = row[5:]
    fields[9] = tuple(fields[9].split("\n")) if fields[9] else ()
    stored = StoredChunk(uid, Chunk(document.path, document.language, *fields), content_hash, DISK)
    return ChunkRow(file_id, stored, document, bytes(text_hash))
