"""Stores the declarations and imports of documents in `index.db`."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Collection, Sequence
from typing import Any

from rag_ls.model import Import, Outline
from rag_ls.storage.records import StoredImport, StoredSymbol
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.guard import guarded
from rag_ls.storage.terms import last_name

_SYMBOLS = (
    "SELECT d.id, d.path, d.language, s.symbol, s.kind, s.start_line, s.end_line, s.signature, s.exported "
    "FROM symbols s JOIN documents d ON d.id = s.document_id"
)


@guarded
class OutlineRows:
    """See `Outlines`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def replace(self, connection: sqlite3.Connection, document_id: int, outline: Outline) -> None:
        """Replace a document's outline. Call it inside a transaction."""
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
        connection.executemany(
            "INSERT INTO imports (document_id, module, names, line) VALUES (?, ?, ?, ?)",
            [(document_id, found.module, "\n".join(found.names), found.line) for found in outline.imports],
        )

    def named(self, names: Collection[str], limit: int) -> list[StoredSymbol]:
        """Declarations whose last name, lower-case, is one of `names`; exported ones first."""
        return self._symbols(
            "s.name IN (SELECT value FROM json_each(?)) ORDER BY s.exported DESC, s.id LIMIT ?",
            (json.dumps(list(names)), limit),
        )

    def containing(self, part: str, limit: int) -> list[StoredSymbol]:
        """Declarations whose lower-case last name without `_`, `-` and spaces contains `part`; exported ones first."""
        return self._symbols(
            "instr(replace(replace(replace(s.name, '_', ''), '-', ''), ' ', ''), ?) ORDER BY s.exported DESC, s.id LIMIT ?",
            (part, limit),
        )

    def last_names(self, beginning: str, limit: int) -> list[str]:
        """The lower-case last names of declarations that begin so, each once, in order."""
        rows = self._database.connection.execute(
            "SELECT DISTINCT name FROM symbols WHERE name >= ? AND name < ? ORDER BY name LIMIT ?",
            (beginning, beginning + chr(sys.maxunicode), limit),
        )
        return [name for (name,) in rows]

    def of_documents(self, documents: Collection[int], limit: int) -> list[StoredSymbol]:
        """The declarations of some documents, in order."""
        return self._symbols(
            "s.document_id IN (SELECT value FROM json_each(?)) ORDER BY d.path, s.start_line, s.id LIMIT ?",
            (json.dumps(list(documents)), limit),
        )

    def imports(self, documents: Collection[int] | None = None) -> list[StoredImport]:
        """The imports of some documents, or of all."""
        only = "WHERE i.document_id IN (SELECT value FROM json_each(?))" if documents is not None else ""
        rows = self._database.connection.execute(
            "SELECT d.id, d.path, i.module, i.names, i.line FROM imports i JOIN documents d ON d.id = i.document_id "
            f"{only} ORDER BY d.path, i.line",
            (json.dumps(list(documents)),) if documents is not None else (),
        )
        return [
            StoredImport(row[0], row[1], Import(row[2], tuple(filter(None, row[3].split("\n"))), row[4]))
            for row in rows
        ]

    def _symbols(self, where: str, values: tuple[object, ...]) -> list[StoredSymbol]:
        rows = self._database.connection.execute(f"{_SYMBOLS} WHERE {where}", values)
        return [_symbol(row) for row in rows]


def _symbol(row: Sequence[Any]) -> StoredSymbol:
    document_id, path, language, symbol, kind, start_line, end_line, signature, exported = row
    return StoredSymbol(document_id, path, language, symbol, kind, start_line, end_line, signature, bool(exported))
