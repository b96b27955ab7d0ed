"""Stores the declarations, imports and uses of names of documents in `index.db`."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Collection, Sequence
from typing import Any

from rag_ls.model import Import, Outline
from rag_ls.storage.records import StoredImport, StoredSymbol
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.statements import as_json
from rag_ls.storage.terms import import_keys, last_name

_COLUMNS = "d.id, d.path, d.language, s.symbol, s.kind, s.start_line, s.end_line, s.signature, s.exported"
_TABLES = "symbols s JOIN documents d ON d.id = s.document_id"

# This many imports are kept as records; they take some ten megabytes.
_MAX_KNOWN = 30_000


class Outlines:
    """The declarations and imports of a checkout's documents. See `SearchedOutlines`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[int, StoredImport] = {}

    def replace(self, connection: sqlite3.Connection, document_id: int, outline: Outline, uses: bytes) -> None:
        """Replace a document's outline and its packed uses of names. Call it inside a transaction."""
        connection.execute("DELETE FROM uses WHERE document_id = ?", (document_id,))
        if uses:
            connection.execute("INSERT INTO uses VALUES (?, ?)", (document_id, uses))
        connection.execute("DELETE FROM symbols WHERE document_id = ?", (document_id,))
        connection.execute("DELETE FROM imports WHERE document_id = ?", (document_id,))
        connection.executemany(
            "INSERT INTO symbols (document_id, symbol, name, kind, start_line, end_line, signature, exported) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (document_id, found.name, last_name(found.name), found.kind, found.start_line, found.end_line,
                 found.signature, found.exported)
                for found in outline.symbols
            ],
        )  # fmt: skip
        for found in outline.imports:
            self._add_import(connection, document_id, found)
        connection.execute("DELETE FROM own_names WHERE document_id = ?", (document_id,))
        if outline.own_names:
            connection.execute("INSERT INTO own_names VALUES (?, ?)", (document_id, "\n".join(outline.own_names)))

    def _add_import(self, connection: sqlite3.Connection, document_id: int, found: Import) -> None:
        aliases = "\n".join(f"{name} {alias}" for name, alias in found.aliases)
        row = connection.execute(
            "INSERT INTO imports (document_id, module, names, line, uses, aliases) VALUES (?, ?, ?, ?, ?, ?)",
            (document_id, found.module, "\n".join(found.names), found.line, "\n".join(found.uses), aliases),
        ).lastrowid
        connection.executemany(
            "INSERT INTO import_keys (key, import_id) VALUES (?, ?)",
            [(key, row) for key in import_keys(found.module, found.names)],
        )

    def named(self, names: Collection[str], limit: int) -> list[StoredSymbol]:
        """Declarations whose last name, lower-case, is one of `names`; exported ones first."""
        return self._symbols(
            "s.name IN (SELECT value FROM json_each(?)) ORDER BY s.exported DESC, s.id LIMIT ?",
            (as_json(names), limit),
        )

    def in_chunks(self, names: Collection[str], limit: int) -> list[tuple[int, StoredSymbol]]:
        """Declarations by their lower-case last names, each with the row of the chunk where it begins; exported ones first."""
        rows = self._database.rows(
            "SELECT (SELECT c.id FROM chunks c WHERE c.document_id = s.document_id AND c.start_line <= s.start_line "
            f"AND c.end_line >= s.start_line ORDER BY c.ordinal DESC LIMIT 1) AS chunk, {_COLUMNS} FROM {_TABLES} "
            "WHERE s.name IN (SELECT value FROM json_each(?)) ORDER BY s.exported DESC, s.id LIMIT ?",
            (as_json(names), limit),
        )
        return [(chunk, _symbol(row)) for chunk, *row in rows if chunk is not None]

    def containing(self, part: str, limit: int) -> list[StoredSymbol]:
        """Declarations whose lower-case last name without `_`, `-` and spaces contains `part`; exported ones first."""
        return self._symbols(
            "instr(replace(replace(replace(s.name, '_', ''), '-', ''), ' ', ''), ?) ORDER BY s.exported DESC, s.id LIMIT ?",
            (part, limit),
        )

    def last_names(self, beginning: str, limit: int) -> list[str]:
        return self._database.column(
            "SELECT DISTINCT name FROM symbols WHERE name >= ? AND name < ? ORDER BY name LIMIT ?",
            (beginning, beginning + chr(sys.maxunicode), limit),
        )

    def of_documents(self, documents: Collection[int], limit: int) -> list[StoredSymbol]:
        return self._symbols(
            "s.document_id IN (SELECT value FROM json_each(?)) ORDER BY d.path, s.start_line, s.id LIMIT ?",
            (as_json(documents), limit),
        )

    def imports(self, documents: Collection[int] | None = None) -> list[StoredImport]:
        """The imports of some documents, or of all."""
        only = "WHERE i.document_id IN (SELECT value FROM json_each(?))" if documents is not None else ""
        values = (as_json(documents),) if documents is not None else ()
        return self._imports(only, values)

    def imports_holding(self, words: Sequence[str]) -> list[StoredImport]:
        """The imports whose module or names hold one of some words, in any case."""
        holds = " OR ".join(["i.module LIKE ? OR i.names LIKE ?"] * len(words))
        return self._imports(f"WHERE {holds}", tuple(f"%{word}%" for word in words for _ in range(2)))

    def importers(self, keys: Collection[str]) -> list[StoredImport]:
        """The imports with one of these keys (`import_keys`)."""
        query = "SELECT DISTINCT import_id FROM import_keys WHERE key IN (SELECT value FROM json_each(?))"
        numbers = self._database.column(query, (as_json(keys),))
        # Another thread may have begun a new one meanwhile.
        known = self._known
        missing = [number for number in numbers if number not in known]
        # Making thousands of records again takes longer than the rest of a question.
        loaded = self._by_id("WHERE i.id IN (SELECT value FROM json_each(?))", (as_json(missing),)) if missing else {}
        found = [item for number in numbers if (item := loaded.get(number) or known.get(number)) is not None]
        if len(known) + len(loaded) > _MAX_KNOWN:
            self._known = loaded
        else:
            known.update(loaded)
        return sorted(found, key=lambda item: (item.path, item.imported.line))

    def own_names(self, documents: Collection[int]) -> dict[str, tuple[str, ...]]:
        """The names that some documents use without an import of their own, by path; without those that use none."""
        rows = self._database.rows(
            "SELECT d.path, o.names FROM own_names o JOIN documents d ON d.id = o.document_id "
            "WHERE o.document_id IN (SELECT value FROM json_each(?))",
            (as_json(documents),),
        )
        return {path: _split(names) for path, names in rows}

    def uses(self, documents: Collection[int]) -> dict[int, bytes]:
        """The packed uses of names in some documents (`chunking.read_uses`), without those that have none."""
        query = "SELECT document_id, packed FROM uses WHERE document_id IN (SELECT value FROM json_each(?))"
        return dict(self._database.rows(query, (as_json(documents),)))

    def _imports(self, where: str, values: tuple[object, ...]) -> list[StoredImport]:
        return list(self._by_id(where, values).values())

    def _by_id(self, where: str, values: tuple[object, ...]) -> dict[int, StoredImport]:
        rows = self._database.rows(
            "SELECT i.id, d.id, d.path, d.language, i.module, i.names, i.line, i.uses, i.aliases "
            f"FROM imports i JOIN documents d ON d.id = i.document_id {where} ORDER BY d.path, i.line",
            values,
        )
        return {
            number: StoredImport(
                document_id, path, Import(module, _split(names), line, _split(uses), _pairs(aliases)), language
            )
            for number, document_id, path, language, module, names, line, uses, aliases in rows
        }

    def _symbols(self, where: str, values: tuple[object, ...]) -> list[StoredSymbol]:
        return list(map(_symbol, self._database.rows(f"SELECT {_COLUMNS} FROM {_TABLES} WHERE {where}", values)))


def _symbol(row: Sequence[Any]) -> StoredSymbol:
    return StoredSymbol(*(*row[:-1], bool(row[-1])))


def _split(names: str) -> tuple[str, ...]:
    return tuple(names.split("\n")) if names else ()


def _pairs(aliases: str) -> tuple[tuple[str, str], ...]:
    parted = (line.partition(" ") for line in _split(aliases))
    return tuple((name, alias) for name, _, alias in parted)
