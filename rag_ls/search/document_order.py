"""The order in which documents are shown that a literal text is in: code, then tests, then texts and data, each by path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rag_ls.search.roles import Roles
from rag_ls.storage import Numbers
from rag_ls.util.records import dataclass


class OrderedDocument(NamedTuple):
    """A document of an index."""

    role: int
    """0 for code, 1 for tests, 2 for documentation and data."""
    path: str
    session: str
    document_id: int
    """0 for a file that is looked into as it is."""


@dataclass(frozen=True, slots=True)
class OrderedDocuments:
    """Documents in their order."""

    documents: list[OrderedDocument]
    _ids: Numbers
    """Ascending, of shape (documents,)."""
    _ranks: Numbers
    """The place in `documents` of each."""

    @classmethod
    def arrange(cls, rows: Sequence[tuple[int, str, str, str]], roles: Roles) -> OrderedDocuments:
        """Put documents, given by id, path, language and session, in order."""
        documents = sorted(
            OrderedDocument._make((roles.place_in_order(path, language), path, session, number))
            for number, path, language, session in rows
        )
        ids = np.array([document.document_id for document in documents], np.int64)
        ranks = np.argsort(ids)
        return cls(documents, ids[ranks], ranks)

    def find_ranks(self, ids: Numbers) -> Numbers:
        """The place of each in `documents`, -1 for one that is none of them."""
        if not len(self._ids):
            return np.full_like(ids, -1)
        at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[at] == ids, self._ranks[at], -1)


class DocumentOrder:
    """Keeps the order while the documents and their roles stay the same."""

    def __init__(self) -> None:
        self._kept: tuple[Sequence[tuple[int, str, str, str]], Roles, OrderedDocuments] | None = None

    def arrange(self, rows: Sequence[tuple[int, str, str, str]], roles: Roles) -> OrderedDocuments:
        """See `OrderedDocuments.arrange`; `rows` is the same object while they stay the same."""
        kept = self._kept
        if kept is None or kept[0] is not rows or kept[1] is not roles:
            kept = rows, roles, OrderedDocuments.arrange(rows, roles)
            self._kept = kept
        return kept[2]

    def forget(self) -> None:
        """Drop what is kept."""
        self._kept = None
