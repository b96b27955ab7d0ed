"""Embeddings at rest in `index.db`, addressed by the text they stand for."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls.model import Chunk
from rag_ls.storage.records import Priority, Vectors
from rag_ls.storage.sqlite.database import Database

_ACTIVE = "embedding_model"
# Vectors that are asked of another index at once.
_BORROWED = 500
_BUSY_S = 2.0


class EmbeddingStore:
    """Vectors by (model, hash of the embedded text). They are unit length, and stored as float16.

    Chunks link to the *active* model's vectors; a chunk without a link is pending. Vectors are never
    changed: an id, once given, always stands for the same vector.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def index_id(self) -> str:
        """What tells this index from a former one in the same place."""
        return str(self._database.connection.execute("SELECT value FROM meta WHERE key = 'index_id'").fetchone()[0])

    def active_model(self) -> str:
        """The model whose vectors answer searches; empty before the first one is set."""
        row = self._database.connection.execute("SELECT value FROM meta WHERE key = ?", (_ACTIVE,)).fetchone()
        return str(row[0]) if row else ""

    def activate(self, model: str) -> None:
        """Make `model` the one that answers, linking every chunk that it has a vector for."""
        with self._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_ACTIVE, model))
            connection.execute(
                "UPDATE chunks SET embedding_id = "
                "(SELECT id FROM embeddings e WHERE e.model = ? AND e.text_hash = chunks.text_hash)",
                (model,),
            )

    def pending(self, model: str, limit: int, *, interactive_only: bool = False) -> list[tuple[bytes, Chunk]]:
        """Chunks without a vector of `model`, by priority: (hash of the embedded text, what to embed)."""
        if model == self.active_model():
            only = f"AND priority >= {Priority.INTERACTIVE} " if interactive_only else ""
            missing = (
                f"SELECT id, priority FROM chunks WHERE embedding_id IS NULL {only}ORDER BY priority DESC, id LIMIT ?"
            )
            values: tuple[object, ...] = (limit,)
        else:
            missing = (
                "SELECT id, priority FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM embeddings e "
                "WHERE e.model = ? AND e.text_hash = c.text_hash) LIMIT ?"
            )
            values = (model, limit)
        rows = self._database.connection.execute(
            "SELECT c.text_hash, c.text, c.overlap, c.symbol, c.signature, c.is_declaration, c.doc, d.path, d.language "
            f"FROM ({missing}) m JOIN chunks c ON c.id = m.id JOIN documents d ON d.id = c.document_id "
            "ORDER BY m.priority DESC, m.id",
            values,
        )
        return list({row[0]: (row[0], _embeddable(*row[1:])) for row in rows}.values())

    def prefer(self, documents: Collection[int], priority: Priority) -> None:
        """Let the chunks of some documents be embedded before those of lower priority."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE chunks SET priority = ? WHERE embedding_id IS NULL AND priority < ? "
                "AND document_id IN (SELECT value FROM json_each(?))",
                (priority, priority, json.dumps(list(documents))),
            )

    def pending_count(self, model: str) -> int:
        """How many chunks have no vector of `model`."""
        if model == self.active_model():
            query, values = "SELECT count(*) FROM chunks WHERE embedding_id IS NULL", ()
        else:
            query = (
                "SELECT count(*) FROM chunks c WHERE NOT EXISTS "
                "(SELECT 1 FROM embeddings e WHERE e.model = ? AND e.text_hash = c.text_hash)"
            )
            values = (model,)  # type: ignore[assignment]
        return int(self._database.connection.execute(query, values).fetchone()[0])

    def add(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Store vectors, shape (len(text_hashes), dimensions), and link the chunks that wait for them.

        Raises `ValueError` for NaN, infinite or zero vectors: they would poison every search.
        """
        norms = np.linalg.norm(vectors, axis=1) if len(vectors) else np.ones(0)
        if not np.all(np.isfinite(norms)) or np.any(norms < 1e-6):
            raise ValueError("the model gave vectors that are zero or not finite; they were not stored")
        halves = vectors.astype(np.float16)
        self._put(model, [(text_hash, half.tobytes()) for text_hash, half in zip(text_hashes, halves, strict=True)])

    def borrow(self, model: str, other: Path) -> int:
        """Take the vectors that chunks wait for from another project's `index.db`, where it has them; how many.

        Vectors are addressed by what they stand for: a work tree, a clone or a copy of a folder costs no embedding.
        """
        with closing(sqlite3.connect(f"{other.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_S)) as lender:
            found = 0
            wanted = self._wanted(model)
            for at in range(0, len(wanted), _BORROWED):
                part = wanted[at : at + _BORROWED]
                places = ", ".join("?" * len(part))
                rows = lender.execute(
                    f"SELECT text_hash, vector FROM embeddings WHERE model = ? AND text_hash IN ({places})",
                    (model, *part),
                ).fetchall()
                self._put(model, rows)
                found += len(rows)
        return found

    def _wanted(self, model: str) -> list[bytes]:
        rows = self._database.connection.execute(
            "SELECT DISTINCT text_hash FROM chunks c WHERE NOT EXISTS "
            "(SELECT 1 FROM embeddings e WHERE e.model = ? AND e.text_hash = c.text_hash)",
            (model,),
        )
        return [row[0] for row in rows]

    def _put(self, model: str, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Store vectors by the hashes of their texts, and link the chunks that wait for them."""
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO embeddings (model, text_hash, vector) VALUES (?, ?, ?)",
                [(model, text_hash, vector) for text_hash, vector in rows],
            )
            if model == self.active_model():
                connection.executemany(
                    "UPDATE chunks SET embedding_id = (SELECT id FROM embeddings WHERE model = ? AND text_hash = ?) "
                    "WHERE text_hash = ? AND embedding_id IS NULL",
                    [(model, text_hash, text_hash) for text_hash, _ in rows],
                )

    def vectors(self, model: str, ids: Collection[int]) -> dict[int, NDArray[np.float32]]:
        """Those of the vectors with these ids that `model` made, each of shape (dimensions,)."""
        rows = self._database.connection.execute(
            "SELECT id, vector FROM embeddings WHERE model = ? AND id IN (SELECT value FROM json_each(?))",
            (model, json.dumps(list(ids))),
        )
        return {row[0]: np.frombuffer(row[1], np.float16).astype(np.float32) for row in rows}

    def vector(self, number: int | None) -> tuple[str, NDArray[np.float32]] | None:
        """The model and the vector, shape (dimensions,), of one embedding; None where there is none."""
        row = self._database.connection.execute(
            "SELECT model, vector FROM embeddings WHERE id = ?", (number,)
        ).fetchone()
        return (row[0], np.frombuffer(row[1], np.float16).astype(np.float32)) if row else None

    def refuse(self, text_hash: bytes) -> None:
        """Let chunks with this text wait no longer: the model makes no usable vector of it."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE chunks SET embedding_id = 0 WHERE text_hash = ? AND embedding_id IS NULL", (text_hash,)
            )

    def newer_than(self, model: str, last_id: int, batch: int = 4096) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        """All of a model's vectors with an id above `last_id`, in batches of (ids, vectors), ascending."""
        while True:
            rows = self._database.connection.execute(
                "SELECT id, vector FROM embeddings WHERE model = ? AND id > ? ORDER BY id LIMIT ?",
                (model, last_id, batch),
            ).fetchall()
            if not rows:
                return
            ids = np.array([row[0] for row in rows], dtype=np.int64)
            vectors = np.frombuffer(b"".join(row[1] for row in rows), np.float16).reshape(len(rows), -1)
            yield ids, vectors.astype(np.float32)
            last_id = int(ids[-1])

    def last_id(self) -> int:
        """The highest id ever given; cheap, so that readers can see whether anything is new."""
        row = self._database.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'embeddings'").fetchone()
        return int(row[0]) if row else 0

    def rows_with(self, ids: Collection[int]) -> list[tuple[int, int, int]]:
        """Chunk row, embedding id and document id of every chunk that links to one of these embeddings."""
        rows = self._database.connection.execute(
            "SELECT id, embedding_id, document_id FROM chunks WHERE embedding_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return list(rows)

    def ids_of_documents(self, documents: str) -> list[int]:
        """The embeddings of some documents' chunks; `documents` is a JSON list of ids."""
        rows = self._database.connection.execute(
            "SELECT DISTINCT embedding_id FROM chunks WHERE embedding_id IS NOT NULL "
            "AND document_id IN (SELECT value FROM json_each(?))",
            (documents,),
        )
        return [row[0] for row in rows]


def _embeddable(
    text: str, overlap: str, symbol: str, signature: str, is_declaration: int, doc: str, path: str, language: str
) -> Chunk:
    return Chunk(
        path,
        language,
        0,
        0,
        0,
        0,
        0,
        text,
        overlap,
        symbol,
        signature=signature,
        is_declaration=bool(is_declaration),
        doc=doc,
    )
