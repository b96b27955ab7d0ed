"""Keeps in `index.db` which texts have their vectors on a server, so that the server need not be asked."""

from __future__ import annotations

from collections.abc import Collection

from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.index_rows import batches, marks
from rag_ls.storage.sqlite.pending import WAITING

_SERVER = "vectors_server"


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
