"""The interface through which background indexing uses its project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from rag_ls.indexing.admissions import Admissions
from rag_ls.indexing.documents import DocumentIndexer
from rag_ls.storage import ProjectIndex, SharedVectors, VectorLender


class IndexedProject(Protocol):
    """A project with its index. Its methods are called by the threads that index."""

    index: ProjectIndex
    documents: DocumentIndexer
    admissions: Admissions

    @property
    def root(self) -> Path:
        """The project's folder."""
        ...

    def compare_tree(self, give_way: Callable[[], None]) -> None:
        """Queue every difference between the tree and the index. Calls `give_way` between files, which may raise."""

    def let_questions_pass(self, longest_s: float) -> None:
        """Leave the processor to the questions of clients for a limited time, so that indexing does not starve."""

    def reason_to_wait(self) -> str:
        """The reason why only typed text is embedded now; empty where everything is."""
        ...

    def shared_vectors(self) -> SharedVectors | None:
        """The vectors that a team shares, if the settings name a store."""
        ...

    def vector_lenders(self) -> Sequence[VectorLender]:
        """The vectors of other projects, which may have embedded the same texts."""
        ...
