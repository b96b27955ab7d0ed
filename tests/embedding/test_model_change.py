"""Another embedding model takes over when its vectors are complete; until then the former one answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rag_ls.embedding import locate
from rag_ls.engine.client import Client, local_client
from rag_ls.engine.open_project import OpenProject
from rag_ls.engine.requests import SearchRequest
from rag_ls.operations import Operations
from tests.embedding.services import EmbeddingService, serving
from tests.support import PATIENCE_S, embedding_count, until

pytestmark = pytest.mark.slow

QUESTION = SearchRequest("what does the customer have to pay")


@pytest.fixture
def other(tmp_path: Path) -> str:
    """The folder of another model: the default one, copied."""
    return str(shutil.copytree(locate("auto").folder, tmp_path / "other-model"))


@pytest.fixture
def indexed(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that the default model has indexed, with a memory."""
    client = _indexed_with("auto", shop, monkeypatch)
    view = client.open(shop)
    assert view.indexing.wait_until_idle(60)
    assert view.store.embeddings.active_model() == locate("auto").id
    Operations(client).run("store_memory", {"content": "Prices are net of tax", "scope": "project"})
    client.close()
    return shop


@pytest.fixture
def battery(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reason why bulk embedding waits, which a test may change."""
    reason = ["on battery"]
    monkeypatch.setattr(OpenProject, "reason_to_wait", lambda _: reason[0])
    return reason


def _indexed_with(model: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", model)
    client = local_client()
    client.open(project).indexing.index_tree()
    return client


@pytest.mark.extras
def test_the_former_model_answers_until_the_new_one_is_complete(
    indexed: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_LS_EMBEDDING_BACKEND", "auto")
    other_id = locate(other).id
    client = _indexed_with(other, indexed, monkeypatch)
    view = client.open(indexed)
    answer = view.search(QUESTION, wait_for_model_s=60)
    assert answer.stats.dense
    assert view.store.embeddings.active_model() == locate("auto").id
    assert other_id in view.status().note
    assert until(lambda: view.store.embeddings.active_model() == other_id, 120)
    assert view.store.queue_lengths() == (0, 0)
    answer = view.search(QUESTION, wait_for_model_s=60)
    assert answer.stats.dense
    assert answer.hits[0].matched_by[0] == "dense"
    client.close()


@pytest.mark.usefixtures("battery")
def test_memories_have_vectors_of_the_other_model_before_it_takes_over(
    indexed: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = _indexed_with(other, indexed, monkeypatch)
    project = client.open(indexed).project
    memories = project.memories.store().vectors
    other_id = locate(other).id
    assert project.model(PATIENCE_S) is not None
    assert client.engine.models.wait(other_id, PATIENCE_S) is not None
    project.memories.embed()
    assert memories.missing_count(other_id) == 0
    assert project.index.checkout.embeddings.active_model() == locate("auto").id
    client.close()


def test_on_battery_another_model_waits_and_the_status_says_so(
    indexed: Path, other: str, battery: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other_id = locate(other).id
    client = _indexed_with(other, indexed, monkeypatch)
    view = client.open(indexed)
    assert until(lambda: f"re-embedding with {other_id} waits: on battery" in view.status().note, 30)
    assert client.engine.models.wait(other_id, PATIENCE_S) is not None
    before = view.store.embeddings.pending_count(other_id)
    assert not until(lambda: view.store.embeddings.pending_count(other_id) < before, 3)
    battery[0] = ""
    assert until(lambda: view.store.embeddings.active_model() == other_id, 120)
    client.close()


def test_where_no_client_works_in_the_project_the_status_says_what_goes_on_with_the_change(
    indexed: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_id = locate(other).id
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", other)
    client = local_client()
    view = client.open(indexed)
    view.indexing.pause()  # as when the last client that worked in it left
    later = f"{other_id} goes on while an editor or agent has the project open, or with `rag-ls index`"
    assert later in view.status().note
    view.indexing.resume()
    view.indexing.cancel()
    assert later in view.status().note
    view.indexing.index_tree()
    assert "goes on while" not in view.status().note
    assert until(lambda: view.store.embeddings.active_model() == other_id, 120)
    assert other_id not in view.status().note
    client.close()


def test_going_back_to_the_former_model_embeds_nothing_again(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = _indexed_with("auto", indexed, monkeypatch)
    view = client.open(indexed)
    assert view.indexing.wait_until_idle(60)
    vectors = embedding_count(view)
    view.store.embeddings.activate("another-model@1")
    assert view.store.queue_lengths()[1] > 0
    view.store.embeddings.activate(locate("auto").id)
    assert view.store.queue_lengths()[1] == 0
    assert embedding_count(view) == vectors
    client.close()


def test_a_text_that_the_new_model_refuses_does_not_keep_it_from_taking_over(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The text begins with it, so that no shortening helps.
    with serving(EmbeddingService(refused="total_price")) as service:
        monkeypatch.setenv("RAG_LS_EMBEDDING_PROVIDER", "ollama")
        monkeypatch.setenv("RAG_LS_EMBEDDING_ENDPOINT", service.url)
        client = _indexed_with("auto", indexed, monkeypatch)
        view = client.open(indexed)
        assert until(lambda: view.store.embeddings.active_model().startswith("ollama/"), 60)
        assert view.indexing.wait_until_idle(60)
        asked = len(service.asked)
        assert view.indexing.wait_until_idle(60)
        assert len(service.asked) == asked < 200
        client.close()
