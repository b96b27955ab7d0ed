"""The projects of a Qdrant server."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from rag_ls.errors import NotFound
from rag_ls.storage.qdrant.server import QdrantServer
from rag_ls.storage.qdrant.vectors import PREFIX, STORE
from rag_ls.storage.records import StoredProject

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client import models as qdrant

_MAX_COUNTED = 100_000


class QdrantProjects:
    """See `StoredProjects`. Qdrant does not tell how much a project takes."""

    def __init__(self, url: str) -> None:
        """Connects when it is first asked. Raises `StoreUnavailable` for a URL that is none."""
        whole = QdrantServer(url, STORE)
        # The local mode has a folder for each project.
        folders = sorted(each for each in Path(whole.place.removeprefix("qdrant://")).glob("*") if each.is_dir())
        self._servers = [QdrantServer(url, STORE, each.name) for each in folders] if whole.is_local else [whole]
        self.place = whole.place

    def all(self) -> list[StoredProject]:
        counts: Counter[str] = Counter()
        for server in self._servers:
            with server.client() as client:
                for name in _collections(client):
                    hits = client.facet(name, "project_id", limit=_MAX_COUNTED, exact=True).hits
                    counts.update({str(hit.value): hit.count for hit in hits if hit.value})
        return [StoredProject(name, 0, count) for name, count in sorted(counts.items())]

    def drop(self, project: str) -> None:
        if project not in (each.name for each in self.all()):
            raise NotFound(f"{self.place} has no project {project!r}; `rag-ls store projects` lists them")
        for server in self._servers:
            with server.client() as client:
                for name in _collections(client):
                    client.delete(name, _of(project), wait=True)

    def close(self) -> None:
        for server in self._servers:
            server.close()


def _collections(client: QdrantClient) -> list[str]:
    return [each.name for each in client.get_collections().collections if each.name.startswith(PREFIX)]


def _of(project: str) -> qdrant.FilterSelector:
    from qdrant_client import models as qdrant

    condition = qdrant.FieldCondition(key="project_id", match=qdrant.MatchValue(value=project))
    return qdrant.FilterSelector(filter=qdrant.Filter(must=[condition]))
