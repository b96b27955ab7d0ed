"""A project whose model runs on a server that dies, changes or refuses a text: what is told, and how it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rag_ls.engine.client import local_client
from rag_ls.engine.requests import SearchRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.operations import Operations
from tests.embedding.services import EmbeddingService, serving
from tests.support import PATIENCE_S, until, write

pytestmark = pytest.mark.slow


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> EmbeddingService:
    """A server that is not started yet, and that the settings name."""
    found = EmbeddingService()
    with serving(found):
        pass
    monkeypatch.setenv("RAG_LS_EMBEDDING_PROVIDER", "ollama")
    monkeypatch.setenv("RAG_LS_EMBEDDING_ENDPOINT", found.url)
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", "nomic-embed-text:v1.5")
    return found


@pytest.fixture
def opened(shop: Path) -> Iterator[Callable[[], tuple[ProjectSession, Operations]]]:
    """Opens the shop in a new engine."""
    with ExitStack() as stack:

        def open_shop() -> tuple[ProjectSession, Operations]:
            client = local_client()
            stack.callback(client.close)
            view = client.open(shop)
            view.indexing.index_tree()
            return view, Operations(client, wait_for_model_s=PATIENCE_S)

        yield open_shop


def _is_embedded(view: ProjectSession) -> bool:
    return view.indexing.scanned and bool(view.store.documents()) and view.store.queue_lengths() == (0, 0)


def test_a_server_that_dies_is_named_and_its_return_is_noticed(
    service: EmbeddingService, opened: Callable[[], tuple[ProjectSession, Operations]], shop: Path
) -> None:
    with serving(service):
        view, operations = opened()
        assert until(lambda: _is_embedded(view))
        operations.run("store_memory", {"content": "Prices are net of tax", "scope": "project"})
    found = view.search(SearchRequest("what does the customer pay")).stats
    assert (found.dense, "cannot be reached" in str(found.notes)) == (False, True)
    recalled = operations.run("search_memory", {"query": "net prices"})
    assert recalled["stats"]["dense"] is False
    assert "cannot be reached" in recalled["stats"]["note"]
    assert "cannot be reached" in view.status().note
    write(shop, {"src/new.py": "def zebra():\n    return 1\n"})
    view.indexing.index_tree()
    assert until(lambda: view.store.queue_lengths()[1])
    with serving(service):
        assert until(lambda: _is_embedded(view))
        assert view.search(SearchRequest("how are prices shown")).stats.dense
        assert "cannot be reached" not in view.status().note


def test_a_model_that_changed_its_dimension_is_told_and_then_embeds_anew(
    service: EmbeddingService, opened: Callable[[], tuple[ProjectSession, Operations]]
) -> None:
    with serving(service):
        view, operations = opened()
        assert until(lambda: _is_embedded(view))
        operations.run("store_memory", {"content": "Prices are net of tax", "scope": "project"})
        service.dimensions = 24
        assert "its model changed" in str(view.search(SearchRequest("what does the customer pay")).stats.notes)
        assert "its model changed" in view.status().note
        view, operations = opened()
        assert until(lambda: (view.store.embeddings.active_model() or "").endswith("-24") and _is_embedded(view))
        assert view.search(SearchRequest("how are prices shown")).stats.dense
        assert operations.run("search_memory", {"query": "net prices"})["results"]
        assert not view.status().note


def test_a_text_that_the_server_refuses_stops_no_others_and_is_not_sent_for_ever(
    service: EmbeddingService, opened: Callable[[], tuple[ProjectSession, Operations]], shop: Path
) -> None:
    service.bad = ("zebra", 400, {"error": "invalid input"})
    write(shop, {"src/new.py": "def zebra():\n    return 1\n"})
    with serving(service):
        view, operations = opened()
        operations.run("store_memory", {"content": "A zebra is striped", "scope": "project"})
        assert until(lambda: _is_embedded(view))
        assert view.search(SearchRequest("what does the customer pay")).stats.dense
        service.asked.clear()
        for number in range(3):
            operations.run("store_memory", {"content": f"Price number {number} is net of tax", "scope": "project"})
        # The background embeds memories without a vector each second, this one among them.
        assert not until(lambda: any("zebra" in text for text in service.texts), 3)
