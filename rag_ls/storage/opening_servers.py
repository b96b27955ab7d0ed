"""Opens the stores on a server that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from rag_ls.config.engine_settings import StoreSettings
from rag_ls.config.settings import Settings
from rag_ls.errors import StoreUnavailable
from rag_ls.storage.api import ServerVectors, SharedVectors, StoredProjects, Vector
from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors
from rag_ls.storage.postgres.publication import Publisher
from rag_ls.storage.postgres.published import PublishedServer
from rag_ls.storage.postgres.schema import PostgresProjects
from rag_ls.storage.postgres.shared import PostgresVectors
from rag_ls.storage.qdrant.vectors import QdrantProjects, QdrantVectors
from rag_ls.storage.records import Hnsw, Vectors
from rag_ls.util.records import dataclass


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
    return _find_kind(settings).open_shared(settings)


def open_server_vectors(settings: StoreSettings, shared_name: str, hnsw: Hnsw) -> ServerVectors:
    """The vectors of a project on the server of the settings, which searches them. Connects when it is first asked.

    `shared_name` is the project's name for all who share it. Raises `StoreUnavailable` for a store that cannot be one.
    """
    return _find_kind(settings).open_searched(settings, shared_name, hnsw)


def open_stored_projects(settings: StoreSettings) -> StoredProjects:
    """The projects of the server of the settings. Raises `StoreUnavailable` for a store that cannot be one."""
    return _find_kind(settings).open_projects(settings.url)


def open_publisher(settings: Settings, project: str) -> Publisher:
    """The publisher of a project's code, by the project's name for all. Connects when it is first asked.

    Raises `StoreUnavailable` for a store that cannot hold code.
    """
    _check_holds_all(settings.store, "code", "publish it", "published code")
    return Publisher(settings.store.url, project, hnsw=hnsw_of(settings))


def open_published_server(settings: StoreSettings) -> PublishedServer | None:
    """The server on which projects may be published; None if the settings name none that can hold code.

    Raises `StoreUnavailable` for a store that cannot be one.
    """
    if not settings.url or not _find_kind(settings).holds_all:
        return None
    return PublishedServer(settings.url)


def hnsw_of(settings: Settings) -> Hnsw:
    """The parameters of HNSW graphs in the settings."""
    return Hnsw(settings.hnsw.m, settings.hnsw.ef_construction, settings.hnsw.ef_search)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of server that `store.url` may name. A new one is an entry of `_KINDS`."""

    name: str
    url_form: str
    open_shared: Callable[[StoreSettings], SharedVectors]
    """Opens the vectors that all projects share."""
    open_searched: Callable[[StoreSettings, str, Hnsw], ServerVectors]
    """Opens the vectors of one project, which the server searches."""
    open_projects: Callable[[str], StoredProjects]
    holds_all: bool = False
    """Whether it holds memories and published code too, as PostgreSQL alone does."""


def _open_qdrant(settings: StoreSettings, project: str, _: Hnsw) -> QdrantVectors:
    return QdrantVectors(settings.url, project, quantization=settings.quantization, on_disk=settings.on_disk)


_POSTGRES = _Kind(
    name="PostgreSQL",
    url_form="postgresql://user@host:5432/database",
    open_shared=lambda settings: PostgresVectors(settings.url),
    open_searched=lambda settings, project, hnsw: PostgresProjectVectors(settings.url, project, hnsw=hnsw),
    open_projects=PostgresProjects,
    holds_all=True,
)
_QDRANT = _Kind(
    name="Qdrant",
    url_form="qdrant://host:6334",
    open_shared=lambda settings: _open_qdrant(settings, "", Hnsw()),
    open_searched=_open_qdrant,
    open_projects=QdrantProjects,
)
_KINDS = {"postgresql": _POSTGRES, "postgres": _POSTGRES, "qdrant": _QDRANT}


def _find_kind(settings: StoreSettings) -> _Kind:
    """The kind of server that a store's URL names. Raises `StoreUnavailable` for any other."""
    kind = _KINDS.get(settings.url.partition("://")[0])
    if kind is None:
        forms = " or ".join(dict.fromkeys(each.url_form for each in _KINDS.values()))
        raise StoreUnavailable(f"store.url names no store that is known: give {forms}", "shared vectors")
    return kind


def _check_holds_all(settings: StoreSettings, what: str, purpose: str, store: str) -> None:
    """Raise `StoreUnavailable` for a server that holds vectors alone."""
    kind = _find_kind(settings)
    if not kind.holds_all:
        raise StoreUnavailable(f"{kind.name} holds no {what}: set store.url to PostgreSQL to {purpose}", store)
