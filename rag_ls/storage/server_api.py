"""The interfaces (ports) of what is kept on servers, or lent and copied between stores.

Every method may raise `StoreUnavailable` or `StoreFull`, which name the store and never its password. All are safe from
several threads, and connect when they are first asked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from rag_ls.storage.api import Vector
from rag_ls.storage.records import Neighbour, StoredProject, Vectors


class VectorLender(Protocol):
    """Another project's vectors, read-only."""

    @property
    def place(self) -> str:
        """The place of the vectors, for the log."""
        ...

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """The existing vectors of these texts. Raises `StoreUnavailable`."""
        ...


class SharedVectors(VectorLender, Protocol):
    """Vectors that several users share, on a server. Safe from several threads; connects when it is first asked."""

    @property
    def place(self) -> str:
        """The address of the server, without its password."""
        ...

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """The existing vectors of these texts; those that are damaged are left out. Raises `StoreUnavailable`."""
        ...

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        """The texts among `text_hashes` that have no vector of this model. Raises `StoreUnavailable`."""
        ...

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Store vectors of shape (len(text_hashes), dimensions) and length one; existing ones are not replaced.

        A user who may only read puts none, without an error. Raises `ValueError` for other vectors, and then stores none;
        `StoreUnavailable`, and then some of them may be there.
        """
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


class ServerVectors(SharedVectors, Protocol):
    """One project's vectors on a server that searches them: a `SharedVectors` that is a `VectorStore` too."""

    def similarities(self, model: str, query: Vector, text_hashes: Collection[bytes]) -> dict[bytes, float]:
        """See `VectorStore`."""
        ...

    def nearest(self, model: str, query: Vector, count: int, among: Collection[bytes] | None = None) -> list[Neighbour]:
        """See `VectorStore`."""
        ...

    def maintain(self) -> None:
        """See `VectorStore`."""
        ...


class StoredProjects(Protocol):
    """The projects whose vectors a server searches."""

    @property
    def place(self) -> str:
        """The address of the server, without its password."""
        ...

    def all(self) -> list[StoredProject]:
        """The projects, by name."""
        ...

    def drop(self, project: str) -> None:
        """Delete all that the server holds of a project, at once.

        Raises `NotFound`, and `InvalidRequest` while somebody publishes it.
        """
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


class ListedVectors(Protocol):
    """Vectors that can be listed, and so be copied from one store to another (`copying.copy_vectors`)."""

    def models(self) -> list[str]:
        """The models that it has vectors of, by name."""
        ...

    def text_hashes(self, model: str, after: bytes, count: int) -> list[bytes]:
        """A page of the texts that have a vector of a model, in the store's order: those after `after` (empty: the first).

        Empty after the last. What is put meanwhile may come or not.
        """
        ...

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """See `VectorStore`."""
        ...

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        """See `VectorStore`."""
        ...

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        """See `VectorStore`."""
        ...

    def close(self) -> None:
        """See `VectorStore`."""
        ...
