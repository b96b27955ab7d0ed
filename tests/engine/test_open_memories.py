"""What an open project holds while nobody asks it anything: nothing, and it answers as before."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from rag_ls.config.settings import Settings
from rag_ls.engine.client import Client
from rag_ls.engine.requests import SearchRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.memory import NewMemory
from rag_ls.model import MemoryFilters, Scope
from rag_ls.storage import open_memories
from rag_ls.util.text import content_hash
from tests.support import PATIENCE_S, until, write

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A project rests after a moment, not after a quarter of a minute."""
    monkeypatch.setattr("rag_ls.engine.open_project.REST_S", 0.5)
    monkeypatch.setattr("rag_ls.engine.open_memories.REST_S", 0.5)


@pytest.fixture
def view(client: Client, shop: Path) -> ProjectSession:
    """A project that is indexed and watched, with a memory."""
    view = client.open(shop)
    view.memories.store(NewMemory("prices are in cents", scope=Scope.PROJECT), None)
    view.keep_indexed()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    assert until(lambda: view.project.sync_state == "watching")
    return view


def _opened_below(folder: Path) -> list[str]:
    if sys.platform != "linux":
        return [file.path for file in psutil.Process().open_files() if file.path.startswith(str(folder))]
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            continue
    return [path for path in found if path.startswith(str(folder))]


def _is_at_rest(view: ProjectSession) -> bool:
    names = {thread.name for thread in threading.enumerate()}
    return not _opened_below(view.project.root) and names.isdisjoint({"documents", "embeddings"})


def _paths(view: ProjectSession, query: str) -> list[str]:
    return [hit.item.chunk.path for hit in view.search(SearchRequest(query)).hits]


def test_a_project_that_rests_has_no_file_open_and_no_thread(view: ProjectSession) -> None:
    found = _paths(view, "total price")
    assert found
    assert until(lambda: _is_at_rest(view))
    assert _paths(view, "total price") == found
    memories, _ = view.memories.list_page(MemoryFilters(scopes=(Scope.PROJECT,)))
    assert [memory.content for memory in memories] == ["prices are in cents"]
    assert until(lambda: _is_at_rest(view))


def test_a_file_that_changed_while_its_project_rests_is_found(view: ProjectSession) -> None:
    assert until(lambda: _is_at_rest(view))
    write(view.project.root, {"src/refund.py": "def refund_purchase(order):\n    return -order.total\n"})
    assert _paths(view, "refund_purchase")[:1] == ["src/refund.py"]


def test_what_another_process_leaves_to_do_ends_the_rest(view: ProjectSession) -> None:
    """Here through a store of its own, as another process has: a memory without a vector."""
    assert until(lambda: _is_at_rest(view))
    own = view.project.memories.store()
    other = open_memories(Path(own.place).parent, Scope.PROJECT, Settings())
    (memory,) = other.all()
    other.replace(
        replace(memory, content="prices are whole cents", content_hash=content_hash("prices are whole cents"))
    )
    other.close()
    model = view.project.model(PATIENCE_S)
    assert model is not None
    assert until(lambda: _has_vector(own.place, model.model_id))
    assert until(lambda: _is_at_rest(view))


def _has_vector(place: str, model: str) -> bool:
    """Looked up from outside, which wakes nothing."""
    store = open_memories(Path(place).parent, Scope.PROJECT, Settings())
    try:
        return not store.vectors.missing(model, 5)
    finally:
        store.close()
