"""A project's vectors on a server: searched there, together with the few that only this machine has."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from rag_ls.errors import StoreUnavailable
from rag_ls.storage.api import ServerVectors, Vector, VectorStore
from rag_ls.storage.records import Neighbour, Vectors
from rag_ls.storage.servers import ServerQuestions
from rag_ls.storage.sqlite.pending import ServedTexts

_log = logging.getLogger(__name__)

T = TypeVar("T")

# A question waits this long for the server.
_QUESTION_S = 1.5


class ServedVectors:
    """See `VectorStore`. The server is asked only for texts that it is known to have, so never for unsaved text.

    New vectors are stored here, and `indexing.sharing` sends them to the server; this machine keeps the vectors that it made.
    """

    def __init__(self, local: VectorStore, known: ServedTexts, server: ServerVectors) -> None:
        self._local = local
        self._known = known
        self.server = server
        self._questions = ServerQuestions(server.place, "vectors", _QUESTION_S)

    @property
    def problem(self) -> str:
        """The reason why the server did not answer the last question; empty if it did."""
        return self._questions.problem

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        self._local.put(model, text_hashes, vectors)

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """See `VectorStore`. While the server is away, only the vectors that are here."""
        found = self._local.get(model, text_hashes)
        wanted = self._known.among(model, [each for each in text_hashes if each not in found])
        return found | self._ask_or_nothing(wanted, lambda: self.server.get(model, wanted))

    def similarities(self, model: str, query: Vector, text_hashes: Collection[bytes]) -> dict[bytes, float]:
        """See `VectorStore`. While the server is away, only those to the vectors that are here.

        They are measured here, so that the server does not learn what they are compared with.
        """
        found = self._local.similarities(model, query, text_hashes)
        wanted = self._known.among(model, [each for each in text_hashes if each not in found])
        there = self._ask_or_nothing(wanted, lambda: self.server.get(model, wanted))
        return found | {each: float(vector @ query) for each, vector in there.items() if len(vector) == len(query)}

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        """See `VectorStore`. Does not ask the server."""
        missing = self._local.missing(model, text_hashes)
        return missing - self._known.among(model, missing)

    def nearest(self, model: str, query: Vector, count: int, among: Collection[bytes] | None = None) -> list[Neighbour]:
        """See `VectorStore`. Raises `StoreUnavailable` while the server is away."""
        allowed = None if among is None else self._known.among(model, among)
        found = self._local.nearest(model, query, count, among)
        if allowed is None or allowed:
            found += self._questions.ask(lambda: self.server.nearest(model, query, count, allowed))
        best = {each.text_hash: each for each in sorted(found, key=lambda each: each.similarity)}
        return sorted(best.values(), key=lambda each: (-each.similarity, each.text_hash))[:count]

    def note_served(self, model: str, text_hashes: Collection[bytes]) -> None:
        """Note that the server has vectors of these texts."""
        self._known.add(model, text_hashes)

    def note_lost(self, model: str, text_hashes: Collection[bytes]) -> None:
        """Note that the server has lost the vectors of these texts: they are made again."""
        self._known.remove(model, text_hashes)

    def maintain(self) -> None:
        self._local.maintain()
        self.server.maintain()

    def close(self) -> None:
        self._local.close()
        self.server.close()

    def _ask_or_nothing(self, wanted: Collection[bytes], question: Callable[[], dict[bytes, T]]) -> dict[bytes, T]:
        if not wanted:
            return {}
        try:
            return self._questions.ask(question)
        except StoreUnavailable as error:
            _log.info("%s", error)
            return {}
