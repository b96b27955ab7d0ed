"""What background indexing asks of the project that it works for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from rag_ls.indexing.admissions import Admissions
from rag_ls.indexing.documents import DocumentIndexer
from rag_ls.storage import ProjectIndex, VectorLender


class IndexedProject(Protocol):
    """A project with its index. Its methods are called by the threads that index."""

    index: ProjectIndex
    documents: DocumentIndexer
    admissions: Admissions

    def compare_tree(self, give_way: Callable[[], None]) -> None:
        """Queue what differs between the tree and the index. `give_way` is called between files and may end it."""

    def questions_wait(self) -> bool:
        """Whether a client waits for an answer, so that indexing had better pause."""
        ...

    def reason_to_wait(self) -> str:
        """Why only what is typed is to be embedded now; empty where all is."""
        ...

    def vector_lenders(self) -> Sequence[VectorLender]:
        """The vectors of other projects, which may have embedded the same texts."""
        ...
