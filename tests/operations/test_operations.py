"""What every surface offers: JSON objects in, JSON objects out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.errors import InvalidRequest, NotFound, PathOutsideProject, ProjectUnavailable, RagLsError
from rag_ls.operations import Operations
from rag_ls.operations.parsing import parse_request
from tests.support import PATIENCE_S, write


@pytest.fixture
def shop(indexed_shop: Path) -> Path:
    """A little project, which is indexed already."""
    return indexed_shop


@pytest.fixture
def operations(client: Client, shop: Path) -> Operations:
    """The operations on the indexed shop."""
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    return Operations(client, wait_for_model_s=PATIENCE_S)


def test_a_search_answers_in_the_public_shape(operations: Operations) -> None:
    answer = operations.run("search_code", {"query": "exchange an expired access token", "k": 2})
    assert json.loads(json.dumps(answer)) == answer
    best = answer["results"][0]
    assert best.keys() == {
        "kind", "id", "path", "file", "start_line", "end_line", "language", "symbol", "node_type", "score", "matched_by", "freshness",
        "why", "text",
    }  # fmt: skip
    assert "words" in best["why"]
    assert (best["kind"], best["path"], best["language"], best["freshness"]) == (
        "chunk",
        "src/auth.py",
        "python",
        "disk",
    )
    assert (answer["stats"]["dense"], answer["stats"]["complete"]) == (True, True)
    assert all(0 <= hit["score"] <= 1 for hit in answer["results"])


def test_a_request_is_read_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def read_request(name: str, request: type, arguments: object) -> object:
        read.append(name)
        return parse_request(name, request, arguments)

    monkeypatch.setattr("rag_ls.operations.operations.parse_request", read_request)
    operations = Operations(client)
    assert operations.run("list_memories", {"scope": "session", "limit": 5})["limit"] == 5
    assert read == ["list_memories"]


def test_a_chunk_is_got_by_its_id(operations: Operations) -> None:
    hit = operations.run("search_code", {"query": "discount"})["results"][0]
    assert operations.run("get_chunk", {"id": hit["id"]})["text"] == hit["text"]
    with pytest.raises(NotFound, match="search_code"):
        operations.run("get_chunk", {"id": "0" * 16})


def test_filters_and_least_scores_are_obeyed(operations: Operations) -> None:
    paths = {
        hit["path"] for hit in operations.run("search_code", {"query": "customer", "language": "javascript"})["results"]
    }
    assert paths == {"src/mail.js"}
    assert operations.run("search_code", {"query": "customer", "min_score": 1.0})["results"] == []


@pytest.mark.parametrize(
    "arguments",
    [{}, {"query": " "}, {"query": {}}, {"query": "x", "k": 0}, {"query": "x", "k": "many"}, {"query": "x", "what": 1},
     {"query": "x", "min_score": 2}],
)  # fmt: skip
def test_a_bad_question_is_refused(operations: Operations, arguments: dict) -> None:
    with pytest.raises(InvalidRequest):
        operations.run("search_code", arguments)


def test_related_code_is_found_by_place_symbol_and_snippet(operations: Operations) -> None:
    for question in ({"path": "src/cart.py", "line": 1}, {"symbol": "total_price"}, {"snippet": "sum of prices"}):
        assert operations.run("find_related", question)["results"]
    for question in ({"path": "src/cart.py"}, {"path": "src/cart.py", "line": 1, "snippet": "sum of prices"}):
        assert "src/cart.py" not in {hit["path"] for hit in operations.run("find_related", question)["results"]}


@pytest.mark.slow
def test_all_of_a_long_snippet_counts(operations: Operations) -> None:
    other = "def unrelated_matter(telescope):\n    return telescope.focus()\n" * 30
    snippet = other[:1000] + "def total_price(items):\n    return sum(item.price for item in items)\n" * 60

    def first(text: str) -> str:
        return operations.run("find_related", {"snippet": text})["results"][0]["symbol"]

    assert first(snippet) == "total_price"


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ({}, InvalidRequest), ({"path": "src/missing.py"}, NotFound), ({"symbol": "missing"}, NotFound),
        ({"path": "src/cart.py", "line": 999}, InvalidRequest), ({"path": "../x.py"}, PathOutsideProject),
    ],
)  # fmt: skip
def test_an_impossible_place_is_refused(operations: Operations, question: dict, error: type[RagLsError]) -> None:
    with pytest.raises(error):
        operations.run("find_related", question)


def test_a_line_beyond_all_files_is_refused(operations: Operations) -> None:
    with pytest.raises(InvalidRequest):
        operations.run("find_related", {"path": "src/cart.py", "line": 10**30})


def test_half_a_surrogate_pair_in_a_question_does_no_harm(operations: Operations) -> None:
    try:
        answer = operations.run("search_code", {"query": "discount \ud83d"})
    except RagLsError:
        return
    assert answer["results"][0]["path"] == "src/cart.py"


def test_a_memory_lives_from_storing_to_deleting(operations: Operations) -> None:
    stored = operations.run(
        "store_memory", {"content": "Prices are net", "scope": "project", "metadata": {"tags": ["money"]}}
    )
    assert (stored["status"], stored["version"], stored["scope"]) == ("inserted", 1, "project")
    assert operations.run("get_memory", {"id": stored["id"]})["content"] == "Prices are net"
    again = operations.run("store_memory", {"content": "Prices are net", "scope": "project", "tags": ["tax"]})
    assert (again["status"], again["version"], again["duplicate_of"]) == ("updated", 2, stored["id"])
    assert operations.run("search_memory", {"query": "net prices"})["results"][0]["metadata"]["tags"] == [
        "money",
        "tax",
    ]
    assert operations.run("delete_memory", {"id": stored["id"]}) == {
        "id": stored["id"],
        "deleted": True,
        "scope": "project",
    }
    with pytest.raises(NotFound):
        operations.run("get_memory", {"id": stored["id"]})


def test_memories_are_listed_by_page(operations: Operations) -> None:
    for number in range(5):
        operations.run("store_memory", {"content": f"fact {number}", "scope": "session"})
    page = operations.run("list_memories", {"limit": 2, "offset": 3})
    assert (len(page["memories"]), page["total"], page["limit"], page["offset"]) == (2, 5, 2, 3)
    assert operations.run("list_memories", {"scope": "global"})["total"] == 0


def test_a_memory_s_anchor_follows_the_code(operations: Operations, client: Client, shop: Path) -> None:
    stored = operations.run(
        "store_memory",
        {
            "content": "net of tax",
            "scope": "project",
            "metadata": {"source_file": "src/cart.py", "symbol": "total_price"},
        },
    )
    assert stored["anchor"] == {"path": "src/cart.py", "state": "fresh", "symbol": "total_price", "line": 1}
    write(shop, {"src/cart.py": "import os\n\n\n" + (shop / "src/cart.py").read_text().replace("1 -", "2 -")})
    _read_again(client)
    assert operations.run("get_memory", {"id": stored["id"]})["anchor"]["state"] == "drifted"
    (shop / "src/cart.py").unlink()
    _read_again(client)
    assert operations.run("get_memory", {"id": stored["id"]})["anchor"]["state"] == "orphaned"


@pytest.mark.parametrize(
    "arguments",
    [{"content": "x"}, {"content": " ", "scope": "project"}, {"content": "x", "scope": "team"}, {"scope": "project"},
     {"content": "x", "scope": "project", "metadata": {"unknown": 1}}, {"content": "x", "scope": "project", "importance_score": 7},
     {"content": "x", "scope": "project", "memory_type": "vague"}],
)  # fmt: skip
def test_a_bad_memory_is_refused_and_nothing_is_stored(operations: Operations, arguments: dict) -> None:
    with pytest.raises(InvalidRequest):
        operations.run("store_memory", arguments)
    assert operations.run("list_memories")["total"] == 0


def test_a_memory_about_a_place_outside_is_refused(operations: Operations) -> None:
    with pytest.raises(PathOutsideProject):
        operations.run(
            "store_memory", {"content": "x", "scope": "project", "metadata": {"source_file": "../../etc/passwd"}}
        )


def test_several_projects_answer_together_or_one_by_name(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    other = client.open(write(tmp_path / "other", {"zoo.py": "def discount_for_zebras():\n    return 1\n"}))
    other.indexing.index_tree()
    assert other.indexing.wait_until_idle(PATIENCE_S)
    paths = {hit["path"] for hit in operations.run("search_code", {"query": "discount"})["results"]}
    assert {"src/cart.py", "zoo.py"} <= paths
    only = operations.run("search_code", {"query": "discount", "project": "other"})["results"]
    assert {hit["path"] for hit in only} == {"zoo.py"}
    with pytest.raises(NotFound, match="no open project"):
        operations.run("search_code", {"query": "discount", "project": "third"})


def test_without_a_project_every_operation_says_what_to_do(client: Client) -> None:
    with pytest.raises(ProjectUnavailable, match="open a folder"):
        Operations(client).run("search_code", {"query": "x"})


def test_the_status_is_answered_where_the_project_s_memories_are_damaged(operations: Operations, shop: Path) -> None:
    write(shop, {".rag-ls/memories.db": b"garbage" * 1000})
    status = operations.run("index_status")
    assert (status["complete"], status.get("note")) == (True, None)


def _read_again(client: Client) -> None:
    (view,) = client.projects()
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
