"""Operations on collections, with the real model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rag_ls.engine.client import Client, local_client
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.locations import user_config_file
from rag_ls.operations import ClientSession
from tests.embedding.services import EmbeddingService, serving
from tests.memory.chat_server import chat_server
from tests.support import until, write

_NOTES = {
    "billing": "Invoices are rounded half up, to whole cents, when the order is closed.",
    "support": "A customer waits two hours at most before a person answers.",
}
_JANUARY = {"start": "2026-01-01", "end": "2030-01-31"}


@pytest.fixture
def session() -> Iterator[ClientSession]:
    """A client with the model loaded."""
    client = local_client("http")
    models = client.engine.models
    assert until(lambda: models.get(models.configured().id) is not None)
    yield ClientSession(client)
    client.close()


@pytest.fixture
def pushed(session: ClientSession) -> ClientSession:
    """The same, with a text in each of two projects."""
    for project, text in _NOTES.items():
        run(session, "push", text=text, project=project, tags="notes, notes", source_uri=f"wiki/{project}")
    return session


def run(session: ClientSession, operation: str, **arguments: Any) -> Any:
    return session.operations.run(operation, arguments)


def test_what_was_pushed_is_found_by_meaning_with_citations(pushed: ClientSession) -> None:
    found = run(pushed, "search_collection", query="how are bills rounded", k=1)
    (result,) = found["results"]
    assert result["text"] == _NOTES["billing"]
    assert result["metadata"]["tags"] == ["notes"]
    assert 0 < result["score"] <= 1
    assert found["context"].startswith("[1] Invoices are rounded")
    assert "wiki/billing" in found["context"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"project_id": "support"}, {"support"}), ({"tags": ["notes"]}, {"billing", "support"}), ({"tags": "none"}, set()),
        ({"memory_type": "procedural"}, set()), ({"time_range": {"start": "2020-01-01", "end": "2020-01-02"}}, set()),
        ({"time_range": {"start": "2020-01-01T00:00:00Z"}}, {"billing", "support"}), ({"score_threshold": 1.0}, set()),
    ],
)  # fmt: skip
def test_filters_leave_out_the_rest(pushed: ClientSession, filters: dict[str, Any], expected: set[str]) -> None:
    found = run(pushed, "search_collection", query_text="customer invoices answers", **filters)
    assert {item["metadata"]["project_id"] for item in found["results"]} == expected


def test_pushing_twice_keeps_one(pushed: ClientSession) -> None:
    again = run(pushed, "push", text=_NOTES["billing"], project_id="billing")
    assert (again["inserted"], again["skipped_duplicates"]) == (0, 1)
    metrics = run(pushed, "collection_metrics")
    assert (metrics["documents"], metrics["chunks"], metrics["collections"]) == (2, 2, 1)


def test_a_summary_is_kept_once(pushed: ClientSession) -> None:
    first = run(pushed, "summarize_collection", time_range=_JANUARY, project_id="billing")
    again = run(pushed, "summarize_collection", time_range=_JANUARY, project_id="billing")
    assert "rounded half up" in first["summary"]
    assert (first["strategy"], first["provider"]) == ("extractive", "local")
    assert first["summary_key"] == again["summary_key"]
    assert first["upserted_memory_id"] == again["upserted_memory_id"]
    assert len(first["source_memory_ids"]) == 1
    found = run(pushed, "search_collection", query="rounded", project_id="billing")
    assert {item["id"] for item in found["results"]} == {first["upserted_memory_id"], *first["source_memory_ids"]}
    # A summary is made of texts that were pushed, and pushing them again replaces no summary.
    later = run(pushed, "summarize_collection", time_range=_JANUARY, project_id="billing", max_words=50)
    assert later["source_memory_ids"] == first["source_memory_ids"]


@pytest.mark.parametrize(
    ("operation", "arguments", "words"),
    [
        ("summarize_collection", {"time_range": {"start": "2026-01-01"}}, "start and end"),
        ("summarize_collection", {"time_range": _JANUARY, "strategy": "abstractive"}, "summaries.endpoint"),
        ("new_collection", {"name": "other", "vector_size": 7000}, "makes vectors of"),
        ("new_collection", {"name": "../up"}, "collection's name"),
        ("push", {"text": "  "}, "text"),
        ("search_collection", {}, "query_text"),
    ],
)
def test_bad_requests_name_the_remedy(
    pushed: ClientSession, operation: str, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidRequest, match=words):
        run(pushed, operation, **arguments)


def test_collections_are_apart(pushed: ClientSession) -> None:
    assert run(pushed, "new_collection", name="Docs")["status"] == "created"
    assert run(pushed, "new_collection", name="docs")["status"] == "unchanged"
    held = {item["name"]: item["count"] for item in run(pushed, "get_collections")["collections"]}
    assert held == {"default": 2, "docs": 0}
    with pytest.raises(NotFound, match="the nearest is docs"):
        run(pushed, "search_collection", query="x", collection="dots")
    assert run(pushed, "list_memories")["total"] == 0, "they are none of the user's memories"


def test_facts_are_those_of_the_resources(pushed: ClientSession) -> None:
    assert run(pushed, "collection_facts", what="projects")["names"] == ["billing", "support"]
    assert run(pushed, "collection_facts", what="tags", project_id="billing")["names"] == ["notes"]
    assert run(pushed, "collection_facts", what="health")["values"] == {"live": True, "store": True, "model": True}
    assert "procedural" in run(pushed, "collection_facts", what="memory-types")["names"]


def test_health_knows_that_the_model_s_server_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(EmbeddingService()) as server:
        monkeypatch.setenv("RAG_LS_EMBEDDING_PROVIDER", "ollama")
        monkeypatch.setenv("RAG_LS_EMBEDDING_ENDPOINT", server.url)
        monkeypatch.setenv("RAG_LS_EMBEDDING_TIMEOUT_S", "1")
        client = local_client("http")
        models = client.engine.models
        assert until(lambda: models.get(models.configured().id) is not None)
        session = ClientSession(client)
        assert run(session, "collection_facts", what="health")["values"]["model"] is True
    assert run(session, "collection_facts", what="health")["values"]["model"] is False
    client.close()


def test_sizes_of_chunks_are_tokens(session: ClientSession) -> None:
    text = "settle " * 20
    assert run(session, "push", text=text)["chunk_size"] == run(session, "collection_metrics")["last_chunk_size"]
    assert 20 <= run(session, "collection_metrics")["last_chunk_size"] <= 40 < len(text) // 2


def test_a_client_of_one_project_sees_its_texts_alone(pushed: ClientSession, tmp_path: Any) -> None:
    engine = pushed.client.engine
    engine.registry.add(tmp_path, "billing")
    limited = ClientSession(Client(engine, about=pushed.client.about, only=("billing",)))
    found = run(limited, "search_collection", query="customer invoices answers")
    assert {item["metadata"]["project_id"] for item in found["results"]} == {"billing"}
    assert run(limited, "get_collections")["collections"][0]["count"] == 1
    assert run(limited, "collection_facts", what="projects")["names"] == ["billing"]
    with pytest.raises(NotFound):
        run(limited, "search_collection", query="customer", project_id="support")
    run(limited, "push", text="A credit note is an invoice with a minus.")
    assert (
        run(pushed, "search_collection", query="credit note", k=1)["results"][0]["metadata"]["project_id"] == "billing"
    )
    limited.client.close()


def test_a_collection_is_resized_only_on_purpose_and_found_by_meaning_afterwards(pushed: ClientSession) -> None:
    assert run(pushed, "get_collections")["collections"] == [{"name": "default", "vector_size": 384, "count": 2}]
    with pytest.raises(InvalidRequest, match="would lose its vectors"):
        run(pushed, "new_collection", name="default", vector_size=128)
    resized = run(pushed, "new_collection", name="default", vector_size=128, force=True)
    assert (resized["status"], resized["vector_size"], resized["count"]) == ("resized", 128, 2)
    assert run(pushed, "collection_metrics")["pending_embeddings"] == 2
    found = run(pushed, "search_collection", query="how are bills rounded", k=1)
    assert found["results"][0]["text"] == _NOTES["billing"]
    assert run(pushed, "collection_metrics")["pending_embeddings"] == 0
    assert run(pushed, "get_collections")["collections"][0]["vector_size"] == 128
    assert run(pushed, "new_collection", name="small", vector_size=64)["status"] == "created"
    run(pushed, "push", text=_NOTES["support"], collection="small")
    found = run(pushed, "search_collection", query="how long do people wait", collection="small")
    assert found["results"][0]["text"] == _NOTES["support"]


def test_a_model_that_the_user_names_writes_summaries_from_then_on_and_it_is_told_who_did(
    pushed: ClientSession,
) -> None:
    asked = {"time_range": _JANUARY, "strategy": "auto"}
    assert run(pushed, "summarize_collection", **asked)["strategy"] == "extractive"
    with chat_server() as server:
        file = user_config_file()
        write(file.parent, {file.name: f'[summaries]\nendpoint = "{server.url}/v1"\nmodel = "small"\n'})
        server.speaks_openai("Invoices are rounded, people wait two hours at most.")
        written = run(pushed, "summarize_collection", **asked)
        assert (written["strategy"], written["provider"]) == ("abstractive", "127.0.0.1")
        server.status, server.answer = 500, {"error": "out of memory"}
        failed = run(pushed, "summarize_collection", **asked)
    assert (failed["strategy"], failed["provider"]) == ("extractive", "local")
    assert "500" in failed["note"]
