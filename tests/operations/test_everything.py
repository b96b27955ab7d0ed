"""Code, memories and rules in one answer, as the shell and the page ask for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.operations import Operations
from tests.conftest import IndexedProjects
from tests.support import PATIENCE_S, SHOP, until

_NOTE = "Refunds are paid back within nine days to the card that was charged"


@pytest.fixture
def operations(client: Client, indexed_projects: IndexedProjects, tmp_path: Path) -> Operations:
    """The operations on a shop with one memory and a rule."""
    view = client.open(
        indexed_projects.copy({**SHOP, "CONSTRAINTS.md": "# Money\n\nNever use floats.\n"}, tmp_path / "shop")
    )
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    operations.run("store_memory", {"content": _NOTE, "scope": "project"})
    return operations


def test_what_answers_best_comes_first_whatever_it_is(operations: Operations) -> None:
    question = {"query": "when are refunds paid back to the card", "kinds": ["code", "memory", "rules"]}
    found = operations.run("search", question)["results"]
    assert found[0]["content"] == _NOTE
    scores = [hit["score"] for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert operations.run("search", {"query": "total_price"})["results"][0]["path"] == "src/cart.py"


def test_a_use_at_the_shell_is_a_recall(operations: Operations) -> None:
    operations.run("search", {"query": "when are refunds paid back to the card"})
    (memory,) = operations.run("list_memories", {})["memories"]
    assert until(lambda: operations.run("get_memory", {"id": memory["id"]})["uses"] == 1)


def test_other_places_have_their_texts_where_they_are_asked_for(operations: Operations) -> None:
    for place_texts in (False, True):
        found = operations.run("search", {"query": "price", "kinds": ["code"], "place_texts": place_texts})["results"]
        places = [place for hit in found for place in hit.get("places", ())]
        assert all(("whole" in place) is place_texts for place in places)
        assert all(place["text"] in (place.get("whole") or place["text"]) for place in places)
