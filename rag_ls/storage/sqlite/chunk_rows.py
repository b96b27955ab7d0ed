"""Looks chunks up in `index.db`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rag_ls.storage.records import ChunkRow, RankRow, find_runs
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.index_rows import CHUNK_COLUMNS, FROM_CHUNKS, as_json, batches, chunk_row, marks
from rag_ls.storage.terms import last_name
from rag_ls.util.paths import compose

_FOR_RANKING = (
    "SELECT c.id, c.document_id, d.path, d.language, c.symbol, c.node_type, c.is_declaration, c.ordinal, "
    "CASE c.embedded WHEN 1 THEN c.text_hash ELSE x'' END, d.size, c.end_line - c.start_line + 1 "
    "FROM chunks c JOIN documents d ON d.id = c.document_id"
)


class ChunkReader:
    """Looks chunks of a checkout up, those of unsaved text among them. See `SearchedChunks`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def by_row(self, rows: Collection[int]) -> dict[int, ChunkRow]:
        return {
            found.row: found for found in self._select("c.id IN (SELECT value FROM json_each(?))", (as_json(rows),))
        }

    def for_ranking(self, rows: Collection[int]) -> list[RankRow]:
        query = f"{_FOR_RANKING} WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id"
        return list(map(RankRow._make, self._database.rows(query, (as_json(rows),))))

    def estimated_count(self) -> int:
        """The number of chunks."""
        return self._database.count("SELECT count(*) FROM chunks")

    def pieces(self, rows: Collection[int]) -> dict[int, list[ChunkRow]]:
        found = self._database.rows(
            f"SELECT m.id, {CHUNK_COLUMNS} FROM chunks m JOIN chunks c ON c.document_id = m.document_id AND c.symbol = m.symbol "
            "JOIN documents d ON d.id = c.document_id "
            "WHERE m.id IN (SELECT value FROM json_each(?)) AND m.symbol != '' ORDER BY m.id, c.ordinal",
            (as_json(rows),),
        )
        return find_runs((row[0], chunk_row(row[1:])) for row in found)

    def by_id(self, chunk_id: str) -> list[ChunkRow]:
        return self._select("c.uid = ?", (chunk_id,))

    def with_content(self, digest: str) -> list[ChunkRow]:
        """All chunks whose own text has this SHA-256 (hex), by path."""
        return self._select("c.content_hash = ? ORDER BY d.path, c.ordinal", (digest,))

    def of_symbol(self, symbol: str) -> list[ChunkRow]:
        """All chunks of the symbol with exactly this qualified name, by path."""
        return self._select(
            "c.name = ? AND c.symbol = ? ORDER BY d.path, c.ordinal", (last_name(symbol), compose(symbol))
        )

    def of_document(self, document_id: int) -> list[ChunkRow]:
        """A document's chunks in order."""
        return self._select("c.document_id = ? ORDER BY c.ordinal", (document_id,))

    def text_of(self, document_id: int) -> str:
        """A document's text: its chunks' own texts in order."""
        query = "SELECT text FROM chunks WHERE document_id = ? ORDER BY ordinal"
        return "".join(self._database.column(query, (document_id,)))

    def length(self, document_id: int) -> int:
        """The bytes of a document's text in UTF-8."""
        query = "SELECT ifnull(max(end_byte), 0) FROM chunks WHERE document_id = ?"
        return self._database.count(query, (document_id,))

    def at(self, document_id: int, line: int) -> ChunkRow | None:
        found = self._select(
            "c.document_id = ? AND c.start_line <= ? AND c.end_line >= ? ORDER BY c.ordinal DESC LIMIT 1",
            (document_id, line, line),
        )
        return found[0] if found else None

    def named(self, names: Collection[str], limit: int) -> list[tuple[int, str, bool]]:
        rows = self._database.rows(
            "SELECT id, name, is_declaration FROM chunks WHERE name != '' AND name IN (SELECT value FROM json_each(?)) "
            "ORDER BY is_declaration DESC, id LIMIT ?",
            (as_json(names), limit),
        )
        return [(row[0], row[1], bool(row[2])) for row in rows]

    def documents_of(self, rows: Collection[int]) -> dict[int, int]:
        query = "SELECT id, document_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._database.rows(query, (as_json(rows),)))

    def texts(self, rows: Collection[int]) -> dict[int, str]:
        query = "SELECT id, text FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._database.rows(query, (as_json(rows),)))

    def with_texts(self, text_hashes: Collection[bytes]) -> list[RankRow]:
        found: list[RankRow] = []
        for part in batches(list(text_hashes)):
            query = f"{_FOR_RANKING} WHERE c.text_hash IN ({marks(part)}) AND c.embedded = 1"
            found += map(RankRow._make, self._database.rows(query, tuple(part)))
        return found

    def text_hashes_of_documents(self, document_ids: Collection[int]) -> list[bytes]:
        query = "SELECT DISTINCT text_hash FROM chunks WHERE embedded = 1 AND document_id IN (SELECT value FROM json_each(?))"
        return self._database.column(query, (as_json(document_ids),))

    def first_of(self, document_ids: Collection[int], limit: int) -> list[int]:
        query = "SELECT id FROM chunks WHERE document_id IN (SELECT value FROM json_each(?)) ORDER BY ordinal LIMIT ?"
        return self._database.column(query, (as_json(document_ids), limit))

    def _select(self, where: str, values: Sequence[object]) -> list[ChunkRow]:
        return list(map(chunk_row, self._database.rows(f"{FROM_CHUNKS} WHERE {where}", tuple(values))))
