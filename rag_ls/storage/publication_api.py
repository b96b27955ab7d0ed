"""The interfaces (ports) of code that a team publishes on a server, to be searched without a checkout.

Every method may raise `StoreUnavailable` or `StoreFull`, which name the store and never its password. All are safe from
several threads, and connect when they are first asked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from rag_ls.storage.api import SearchedIndex
from rag_ls.storage.records import ChunkRow, StoredSymbol
from rag_ls.storage.server_api import ServerVectors


@dataclass(frozen=True, slots=True)
class Publication:
    """The stamp of a publication: which state of a project was published, and when."""

    model: str
    """The model of the vectors."""
    commit: str = ""
    """The commit that was checked out, with `+` behind it if files differed from it; empty without git."""
    branch: str = ""
    at: str = ""
    """When it was finished: RFC 3339, UTC."""
    is_changing: bool = False
    """Whether some files are otherwise: another one was begun and not finished, or could not send them."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file with its chunks and declarations."""

    path: str
    language: str
    size: int
    digest: str
    """Differs whenever anything that is published of the file does."""
    chunks: tuple[ChunkRow, ...]
    """With an empty `text_hash` where the model made no vector."""
    symbols: tuple[StoredSymbol, ...]


class Publisher(Protocol):
    """Publishes one project's code. Readers see each file as it was or as it is, never a part of it."""

    @property
    def place(self) -> str:
        """The address of the server, without its password."""
        ...

    @property
    def vectors(self) -> ServerVectors:
        """The vectors of the published chunks."""
        ...

    def alone(self) -> AbstractContextManager[None]:
        """While it lasts, nobody else can publish this project. Raises `InvalidRequest` if somebody does."""
        ...

    def digests(self) -> dict[str, str]:
        """The digests of the published files, by path."""
        ...

    def put(self, files: Sequence[PublishedFile]) -> dict[str, str]:
        """Publish files in place of their former versions, in one transaction; those that fail stay as they were.

        Returns why files failed, by path.
        """
        ...

    def remove(self, paths: Collection[str]) -> None:
        """Publish these files no longer."""
        ...

    def finish(self, publication: Publication) -> None:
        """Note what was published, and count how many chunks hold each term."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


class PublishedIndex(SearchedIndex, Protocol):
    """The published code of one project. It uses the connections of its `PublishedServer`."""

    @property
    def project(self) -> str:
        """Its name on the server."""
        ...

    def publication(self) -> Publication | None:
        """The publication on the server; None if none ever came to its end."""
        ...


class PublishedServer(Protocol):
    """A server on which projects are published."""

    @property
    def place(self) -> str:
        """The address of the server, without its password."""
        ...

    def names(self) -> list[str]:
        """The names of the published projects, in order."""
        ...

    def open(self, project: str) -> PublishedIndex:
        """The code of one of them."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...
