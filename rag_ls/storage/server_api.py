"""The interfaces (ports) of what is kept on servers, or lent.

Every method may raise `StoreUnavailable` or `StoreFull`, which name the store and never its password. All are safe from
several threads, and connect when they are first asked.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from rag_ls.storage.api import StoredVectors, Vector, VectorStore
from rag_ls.storage.records import StoredProject


class VectorLender(Protocol):
    """Another project's vectors, read-only."""

    @property
    def place(self) -> str:
        """The place of the vectors, for the log."""
        ...

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """The existing vectors of these texts. Raises `StoreUnavailable`."""
        ...


class SharedVectors(VectorLender, StoredVectors, Protocol):
    """Vectors that several users share, on a server. `place` is its address, without its password.

    A user who may only read puts none, without an error. Where `put` raises `StoreUnavailable`, some of them may be there.
    """


class ServerVectors(SharedVectors, VectorStore, Protocol):
    """One project's vectors on a server that searches them."""


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
