"""Another embedding model takes over when its vectors are complete; until then the former one answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rag_ls.embedding import locate
from rag_ls.engine.client import Client, local_client
from rag_ls.engine.requests import SearchRequest
from tests.embedding.services import EmbeddingService, serving
from tests.support import embedding_count, until

QUESTION = SearchRequest("what does the customer have to pay")


def _indexed_with(model: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", model)
    client = local_client()
    client.open(project).indexing.index_tree()
    return client


def test_the_former_model_answers_until_the_new_one_is_complete(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_LS_EMBEDDING_BACKEND", "auto")
    first = _indexed_with("auto", shop, monkeypatch)
    former = first.open(shop).store.embeddings
    assert first.open(shop).indexing.wait_until_idle(60)
    default_id = locate("auto").id
    assert former.active_model() == default_id
    first.close()

    folder = shutil.copytree(locate("auto").folder, tmp_path / "other-model")
    other_id = locate(str(folder)).id
    client = _indexed_with(str(folder), shop, monkeypatch)
    view = client.open(shop)
    answer = view.search(QUESTION, wait_for_model_s=60)
    assert answer.stats.dense
    assert view.store.embeddings.active_model() == default_id
    assert other_id in view.status().note
    assert until(lambda: view.store.embeddings.active_model() == other_id, 120)
    assert view.store.queue_lengths() == (0, 0)
    answer = view.search(QUESTION, wait_for_model_s=60)
    assert answer.stats.dense
    assert answer.hits[0].matched_by[0] == "dense"
    client.close()


def test_going_back_to_the_former_model_embeds_nothing_again(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = _indexed_with("auto", shop, monkeypatch)
    view = client.open(shop)
    assert view.indexing.wait_until_idle(60)
    vectors = embedding_count(view)
    view.store.embeddings.activate("another-model@1")
    assert view.store.queue_lengths()[1] > 0
    view.store.embeddings.activate(locate("auto").id)
    assert view.store.queue_lengths()[1] == 0
    assert embedding_count(view) == vectors
    client.close()


def test_a_text_that_the_new_model_refuses_does_not_keep_it_from_taking_over(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _indexed_with("auto", shop, monkeypatch).close()
    client = _indexed_with("auto", shop, monkeypatch)
    assert client.open(shop).indexing.wait_until_idle(60)
    client.close()
    # The text begins with it, so that no shortening helps.
    with serving(EmbeddingService(refused="total_price")) as service:
        monkeypatch.setenv("RAG_LS_EMBEDDING_PROVIDER", "ollama")
        monkeypatch.setenv("RAG_LS_EMBEDDING_ENDPOINT", service.url)
        client = _indexed_with("auto", shop, monkeypatch)
        view = client.open(shop)
        assert until(lambda: view.store.embeddings.active_model().startswith("ollama/"), 60)
        assert view.indexing.wait_until_idle(60)
        asked = len(service.asked)
        assert view.indexing.wait_until_idle(60)
        assert len(service.asked) == asked < 200
        client.close()
