"""Vectors in Qdrant: its client's local mode, and what a server that cannot be asked makes of a question."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag_ls.embedding import EMBEDDED_TEXTS
from rag_ls.engine.requests import SearchRequest
from rag_ls.errors import StoreUnavailable
from rag_ls.storage.qdrant.vectors import QdrantVectors
from tests.indexing.test_sharing import user
from tests.support import PATIENCE_S, SHOP, digest, unit_vectors, write

MODEL = "model@1"
FILES = {**SHOP, **{f"src/part_{number}.py": f"def part_{number}():\n    return {number}\n" for number in range(12)}}


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[QdrantVectors]:
    store = QdrantVectors(f"qdrant://{tmp_path}/qdrant", "shop")
    yield store
    store.close()


def _hashes(*texts: object) -> list[bytes]:
    return [digest(str(text)) for text in texts]


def test_what_was_put_is_there_after_the_store_was_closed(tmp_path: Path, vectors: QdrantVectors) -> None:
    made = unit_vectors(3, 16)
    vectors.put(MODEL, _hashes(*range(3)), made)
    vectors.close()
    again = QdrantVectors(f"qdrant://{tmp_path}/qdrant", "shop")
    found = again.get(MODEL, _hashes(*range(4)))
    assert np.allclose([found[each] for each in _hashes(*range(3))], made, atol=1e-3)
    again.close()
    with pytest.raises(StoreUnavailable, match="the engine ends"):
        again.get(MODEL, _hashes(1))


@pytest.mark.slow
def test_a_folder_that_another_process_has_is_told_so(tmp_path: Path, vectors: QdrantVectors) -> None:
    vectors.put(MODEL, _hashes(1), unit_vectors(1, 16))
    code = (
        "from rag_ls.storage.qdrant.vectors import QdrantVectors\n"
        f"QdrantVectors('qdrant://{tmp_path}/qdrant', 'shop').missing('{MODEL}', [b'x' * 32])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "is in use by another process" in done.stderr


def test_what_somebody_else_damaged_is_left_out(vectors: QdrantVectors) -> None:
    vectors.put(MODEL, _hashes("one", "two"), unit_vectors(2, 16))
    with vectors._server.client() as client:
        points, _ = client.scroll(client.get_collections().collections[0].name, with_payload=True)
        wrong = next(point for point in points if (point.payload or {})["chunk_hash"] == digest("one").hex())
        stored = client._client.collections[client.get_collections().collections[0].name]  # type: ignore[attr-defined]
        stored.vectors[""][stored.ids[wrong.id]] = 7.0
    assert set(vectors.get(MODEL, _hashes("one", "two"))) == {digest("two")}


def test_a_model_of_another_dimension_is_refused(vectors: QdrantVectors) -> None:
    vectors.put(MODEL, _hashes("one"), unit_vectors(1, 16))
    with pytest.raises(StoreUnavailable, match="vectors of 16 numbers for model@1, this machine makes 8"):
        vectors.put(MODEL, _hashes("two"), unit_vectors(1, 8))


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("qdrant://:hush@127.0.0.1:1", "qdrant://127.0.0.1:1 cannot be reached"),
        ("qdrant://", "no URL of Qdrant"),
        ("qdrant://host:port", "no URL of Qdrant"),
    ],
)
def test_a_server_that_cannot_be_asked_is_named_without_its_key(url: str, words: str) -> None:
    with pytest.raises(StoreUnavailable, match=words) as refused:
        QdrantVectors(url, "shop").missing(MODEL, _hashes("one"))
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("search", ["local", "server"])
def test_a_second_user_embeds_nothing(search: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LS_STORE_URL", f"qdrant://{tmp_path}/qdrant")
    monkeypatch.setenv("RAG_LS_STORE_SEARCH", search)
    first, second = write(tmp_path / "first" / "shop", FILES), write(tmp_path / "second" / "shop", FILES)
    with user(tmp_path / "home1", first, monkeypatch) as (client, _):
        assert client.engine.counts[EMBEDDED_TEXTS] >= len(FILES)
    with user(tmp_path / "home2", second, monkeypatch) as (client, view):
        found = view.search(SearchRequest("price of all that is in the cart"), wait_for_model_s=PATIENCE_S)
        assert found.stats.dense
        assert client.engine.counts[EMBEDDED_TEXTS] == 0
        assert view.status().complete
        assert view.status().note == ""


def test_points_that_nobody_of_us_made_are_passed_over(vectors: QdrantVectors) -> None:
    from qdrant_client import models

    vectors.put(MODEL, _hashes("one", "two"), unit_vectors(2, 16))
    with vectors._server.client() as client:
        name = client.get_collections().collections[0].name
        payloads: list[dict[str, str]] = [
            {"project_id": "shop"}, {"project_id": "shop", "chunk_hash": "no hash"},
            {"project_id": "shop", "chunk_hash": digest("three").hex()},
        ]  # fmt: skip
        client.upsert(
            name,
            [models.PointStruct(id=number, vector=[1.0] * 16, payload=each) for number, each in enumerate(payloads)],
        )
    assert {each.text_hash for each in vectors.nearest(MODEL, unit_vectors(1, 16)[0], 10)} == set(_hashes("one", "two"))
