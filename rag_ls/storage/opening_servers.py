"""Opens the stores on a server that the settings name."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rag_ls.config import Settings, StoreSettings
from rag_ls.errors import StoreUnavailable
from rag_ls.storage.api import ServerVectors, SharedVectors, StoredProjects, Vector
from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors
from rag_ls.storage.postgres.publication import Publisher
from rag_ls.storage.postgres.published import PublishedServer
from rag_ls.storage.postgres.schema import PostgresProjects
from rag_ls.storage.postgres.shared import PostgresVectors
from rag_ls.storage.qdrant.vectors import QdrantProjects, QdrantVectors
from rag_ls.storage.records import Hnsw, Vectors


class UnusableVectors:
    """Stands for a team's store that the settings name wrongly: each question to it fails with the reason."""

    place = "store.url"

    def __init__(self, error: StoreUnavailable) -> None:
        self._error = error

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        raise self._error

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        raise self._error

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        raise self._error

    def close(self) -> None:
        """Nothing is open."""


def open_shared_vectors(settings: StoreSettings) -> SharedVectors | None:
    """The vectors that the settings share with a team; None if they name no store. Connects when it is first asked.

    Raises `StoreUnavailable` for a store that cannot be one.
    """
    if not settings.url or "vectors" not in settings.share:
        return None
    return PostgresVectors(settings.url) if _is_postgres(settings) else _open_qdrant(settings, "")


def open_server_vectors(settings: StoreSettings, shared_name: str, hnsw: Hnsw) -> ServerVectors:
    """The vectors of a project on the server of the settings, which searches them. Connects when it is first asked.

    `shared_name` is the project's name for all who share it. Raises `StoreUnavailable` for a store that cannot be one.
    """
    if _is_postgres(settings):
        return PostgresProjectVectors(settings.url, shared_name, hnsw=hnsw)
    return _open_qdrant(settings, shared_name)


def open_stored_projects(settings: StoreSettings) -> StoredProjects:
    """The projects of the server of the settings. Raises `StoreUnavailable` for a store that cannot be one."""
    return (PostgresProjects if _is_postgres(settings) else QdrantProjects)(settings.url)


def open_publisher(settings: Settings, project: str) -> Publisher:
    """The publisher of a project's code, by the project's name for all. Connects when it is first asked.

    Raises `StoreUnavailable` for a store that cannot hold code.
    """
    if not _is_postgres(settings.store):
        raise StoreUnavailable("Qdrant holds no code: set store.url to PostgreSQL to publish it", "published code")
    return Publisher(settings.store.url, project, hnsw=hnsw_of(settings))


def open_published_server(settings: StoreSettings) -> PublishedServer | None:
    """The server on which projects may be published; None if the settings name none that can hold code.

    Raises `StoreUnavailable` for a store that cannot be one.
    """
    return PublishedServer(settings.url) if settings.url and _is_postgres(settings) else None


def hnsw_of(settings: Settings) -> Hnsw:
    """The parameters of HNSW graphs in the settings."""
    return Hnsw(settings.hnsw.m, settings.hnsw.ef_construction, settings.hnsw.ef_search)


def _open_qdrant(settings: StoreSettings, project: str) -> QdrantVectors:
    return QdrantVectors(settings.url, project, quantization=settings.quantization, on_disk=settings.on_disk)


def _is_postgres(settings: StoreSettings) -> bool:
    """Whether a store's URL names PostgreSQL, else Qdrant, which holds vectors alone. Raises `StoreUnavailable` for any other."""
    scheme = settings.url.partition("://")[0]
    if scheme not in ("postgresql", "postgres", "qdrant"):
        forms = "postgresql://user@host:5432/database or qdrant://host:6334"
        raise StoreUnavailable(f"store.url names no store that is known: give {forms}", "shared vectors")
    return scheme != "qdrant"
