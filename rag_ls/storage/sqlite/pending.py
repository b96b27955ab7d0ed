"""Tracks in `index.db` which chunks of a checkout lack vectors."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator

from rag_ls.model import Chunk
from rag_ls.storage.api import VectorStore
from rag_ls.storage.records import Priority
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.statements import KeptRows, as_json, batches, marks

_ACTIVE = "embedding_model"
# Values of `chunks.embedded`.
WAITING, EMBEDDED, REFUSED = 0, 1, 2
# A chunk of a saved file, not of an editor's unsaved text.
_SAVED = "document_id IN (SELECT id FROM documents WHERE session = '')"
# Texts per query to the vector store.
_MAX_ASKED = 2000
_SERVER = "vectors_server"


class PendingEmbeddings:
    """Tracks which chunks of a checkout lack vectors. The `VectorStore` holds the vectors."""

    def __init__(self, database: Database, vectors: VectorStore, kept: KeptRows) -> None:
        self._database = database
        self._kept = kept
        self._vectors = vectors

    def active_model(self) -> str:
        """The model whose vectors answer searches; empty before the first one is set."""
        rows = self._kept.rows("SELECT value FROM meta WHERE key = ?", (_ACTIVE,))
        return str(rows[0][0]) if rows else ""

    def activate(self, model: str) -> None:
        """Make `model` the one that answers searches; chunks without a vector of it become pending."""
        with self._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_ACTIVE, model))
            connection.execute("UPDATE chunks SET embedded = ?", (WAITING,))
            for part in batches(self._hashes("1"), _MAX_ASKED):
                self.note_embedded(set(part) - self._vectors.missing(model, part))

    def pending(
        self, model: str, limit: int, *, at_least: Priority = Priority.REST, saved_only: bool = False
    ) -> list[tuple[bytes, Chunk]]:
        """Chunks without a vector of `model`, by priority: (hash of the embedded text, what to embed).

        `saved_only` leaves out unsaved text, which must not leave the machine.
        """
        if model != self.active_model():
            return self._pending_of_successor(model, limit, saved_only=saved_only)
        only = f"AND priority >= {at_least:d} " if at_least > Priority.REST else ""
        only += f"AND {_SAVED} " if saved_only else ""
        query = f"SELECT id, priority FROM chunks WHERE embedded = 0 {only}ORDER BY priority DESC, id LIMIT ?"
        return self._embeddable(query, (limit,))

    def pending_count(self, model: str, *, saved_only: bool = False) -> int:
        """The number of chunks without a vector of `model`."""
        if model == self.active_model():
            where = f"embedded = 0 AND {_SAVED}" if saved_only else "embedded = 0"
            return self._database.count(f"SELECT count(*) FROM chunks WHERE {where}")
        return sum(len(part) for part in self._missing(model, saved_only=saved_only))

    def withhold_unsaved(self) -> None:
        """Note that unsaved text is to be found by its words alone, so that its chunks are no longer pending."""
        where = f"embedded = 0 AND NOT ({_SAVED})"
        if self._database.rows(f"SELECT 1 FROM chunks WHERE {where} LIMIT 1"):
            with self._database.writing() as connection:
                connection.execute(f"UPDATE chunks SET embedded = ? WHERE {where}", (REFUSED,))

    def waiting_hashes(self, model: str, *, saved_only: bool = False) -> list[bytes]:
        """The hashes of the texts without a vector of `model`, each once."""
        if model != self.active_model():
            return [text_hash for part in self._missing(model, saved_only=saved_only) for text_hash in part]
        return self._hashes(f"embedded = 0 AND {_SAVED}" if saved_only else "embedded = 0")

    def saved_hashes(self) -> list[bytes]:
        """The hashes of embedded texts that files hold, not unsaved documents alone."""
        return self._hashes(f"embedded = 1 AND {_SAVED}")

    def note_embedded(self, text_hashes: Collection[bytes]) -> None:
        """Note that the active model has vectors of these texts, so that their chunks are no longer pending."""
        with self._database.writing() as connection:
            connection.executemany(
                "UPDATE chunks SET embedded = 1 WHERE text_hash = ? AND embedded = 0",
                [(text_hash,) for text_hash in text_hashes],
            )

    def refuse(self, text_hash: bytes) -> None:
        """Note that the model makes no usable vector of this text, so that its chunks are no longer pending."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE chunks SET embedded = ? WHERE text_hash = ? AND embedded = 0", (REFUSED, text_hash)
            )

    def prefer(self, documents: Collection[int], priority: Priority) -> None:
        """Raise the embedding priority of some documents' chunks."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE chunks SET priority = ? WHERE embedded = 0 AND priority < ? "
                "AND document_id IN (SELECT value FROM json_each(?))",
                (priority, priority, as_json(documents)),
            )

    def _pending_of_successor(self, model: str, limit: int, *, saved_only: bool) -> list[tuple[bytes, Chunk]]:
        found: list[bytes] = []
        for part in self._missing(model, saved_only=saved_only):
            found += part
            if len(found) >= limit:
                break
        pending: list[tuple[bytes, Chunk]] = []
        for chosen in batches(found[:limit]):
            query = (
                f"SELECT min(id) AS id, priority FROM chunks WHERE text_hash IN ({marks(chosen)}) GROUP BY text_hash"
            )
            pending += self._embeddable(query, tuple(chosen))
        return pending

    def _missing(self, model: str, *, saved_only: bool) -> Iterator[list[bytes]]:
        """The hashes of texts without a vector of a model, in parts."""
        for part in batches(self._hashes(_SAVED if saved_only else "1"), _MAX_ASKED):
            missing = self._vectors.missing(model, part)
            yield [text_hash for text_hash in part if text_hash in missing]

    def _hashes(self, where: str) -> list[bytes]:
        return self._database.column(f"SELECT DISTINCT text_hash FROM chunks WHERE {where}")

    def _embeddable(self, chosen: str, values: tuple[object, ...]) -> list[tuple[bytes, Chunk]]:
        """The chunks to embed that a query of (id, priority) selects, each text once."""
        rows = self._database.rows(
            "SELECT c.text_hash, c.text, c.overlap, c.symbol, c.signature, c.is_declaration, c.doc, d.path, d.language "
            f"FROM ({chosen}) m JOIN chunks c ON c.id = m.id JOIN documents d ON d.id = c.document_id "
            "ORDER BY m.priority DESC, m.id",
            values,
        )
        return list({row[0]: (row[0], _chunk(*row[1:])) for row in rows}.values())


def _chunk(
    text: str, overlap: str, symbol: str, signature: str, is_declaration: int, doc: str, path: str, language: str
) -> Chunk:
    """A chunk with only the fields that its embedded text is made from."""
    return Chunk(
        path=path, language=language, ordinal=0, start_byte=0, end_byte=0, start_line=0, end_line=0, text=text,
        overlap=overlap, symbol=symbol, signature=signature, is_declaration=bool(is_declaration), doc=doc,
    )  # fmt: skip


class ServedTexts:
    """The texts whose vectors are on one server, by model. Writes inside a transaction of the checkout commit with it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, server: str) -> None:
        """Forget the texts of another server; they wait for vectors again. `server` is empty where no server is used."""
        if self._database.text("SELECT value FROM meta WHERE key = ?", (_SERVER,)) == server:
            return
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE chunks SET embedded = ? WHERE embedded = 1 AND text_hash IN (SELECT text_hash FROM served) "
                "AND text_hash NOT IN (SELECT text_hash FROM embeddings)",
                (WAITING,),
            )
            connection.execute("DELETE FROM served")
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_SERVER, server))

    def add(self, model: str, text_hashes: Collection[bytes]) -> None:
        """Note that the server has vectors of these texts."""
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO served VALUES (?, ?)", [(model, text_hash) for text_hash in text_hashes]
            )

    def among(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        """The texts among these that the server has."""
        found: set[bytes] = set()
        for part in batches(list(text_hashes)):
            query = f"SELECT text_hash FROM served WHERE model = ? AND text_hash IN ({marks(part)})"
            found.update(self._database.column(query, (model, *part)))
        return found

    def remove(self, model: str, text_hashes: Collection[bytes]) -> None:
        """Note that the server has lost these; their chunks wait for vectors again."""
        with self._database.writing() as connection:
            for text_hash in text_hashes:
                connection.execute("DELETE FROM served WHERE model = ? AND text_hash = ?", (model, text_hash))
                connection.execute(
                    "UPDATE chunks SET embedded = ? WHERE embedded = 1 AND text_hash = ?", (WAITING, text_hash)
                )


class ReadingQueue:
    """The files that wait to be read. The queue outlives the process."""

    def __init__(self, database: Database, kept: KeptRows) -> None:
        self._database = database
        self._kept = kept

    def add(self, paths: Iterable[str]) -> None:
        """Queue files to be read."""
        with self._database.writing() as connection:
            now = time.time_ns()
            connection.executemany("INSERT OR REPLACE INTO queue VALUES (?, ?)", [(path, now) for path in paths])

    def add_seen(self, files: Iterable[tuple[str, int]]) -> None:
        """Queue files to be read that a comparison saw, each with the time (ns) at which it last changed.

        One that waits already, or is just being read, keeps its place unless it changed since: else it would be read twice.
        """
        with self._database.writing() as connection:
            now = time.time_ns()
            connection.executemany(
                "INSERT INTO queue VALUES (?, ?) ON CONFLICT DO UPDATE SET since_ns = excluded.since_ns WHERE since_ns <= ?",
                [(path, now, changed_ns) for path, changed_ns in files],
            )

    def paths(self) -> list[str]:
        """The files that wait to be read, by path."""
        return self._database.column("SELECT path FROM queue ORDER BY path")

    def has_any(self) -> bool:
        """Whether any file waits to be read."""
        return bool(self._kept.rows("SELECT 1 FROM queue LIMIT 1"))

    def count(self) -> int:
        """The number of files that wait to be read."""
        return self._database.count("SELECT count(*) FROM queue")

    def holds(self, path: str) -> bool:
        """Whether a file waits to be read."""
        return bool(self._database.rows("SELECT 1 FROM queue WHERE path = ?", (path,)))

    def unknown_count(self) -> int:
        """The number of waiting files that were never read before."""
        return self._database.count(
            "SELECT count(*) FROM queue q WHERE NOT EXISTS "
            "(SELECT 1 FROM documents d WHERE d.path = q.path AND d.session = '')"
        )

    def all_read_since(self, paths: Collection[str], since_ns: int) -> bool:
        """Whether each of some files was read after `since_ns` (wall clock), or does not wait to be read."""
        return not self._database.count(
            "SELECT EXISTS (SELECT 1 FROM queue q WHERE q.path IN (SELECT value FROM json_each(?)) "
            "AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.path = q.path AND d.session = '' AND d.read_ns >= ?) "
            "AND NOT EXISTS (SELECT 1 FROM skipped s WHERE s.path = q.path AND s.read_ns >= ?))",
            (as_json(paths), since_ns, since_ns),
        )


def dequeue(connection: sqlite3.Connection, path: str, read_ns: int) -> None:
    """Take a file out of the queue, unless it was queued again after it was read at `read_ns`."""
    # An entry from the future was written before the clock was set back.
    connection.execute(
        "DELETE FROM queue WHERE path = ? AND (since_ns <= ? OR since_ns > ?)", (path, read_ns, time.time_ns())
    )
