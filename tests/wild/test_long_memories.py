"""Situations of long memories: what is accepted is found, each part, and the part that answers is what is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_ls.errors import InvalidRequest
from rag_ls.memory.parts import MAX_PARTS_AT_ONCE, parts_of
from rag_ls.operations import ClientSession
from tests.agents import agent_session
from tests.support import PATIENCE_S, until

pytestmark = pytest.mark.slow

_PARAGRAPH = (
    "The quarterly report describes how the marketing department plans its campaigns. Every campaign has a budget, a "
    "list of channels and a person who is responsible. Minutes of the meeting follow, with those who were there.\n\n"
)
_FACTS = {
    2_100: ("How long do tokens of the gateway live?", "Access tokens of the gateway expire after ninety minutes."),
    16_000: ("Which queue takes refunds?", "Refunds are put into the queue named pelican, never into the default one."),
    48_000: ("Who may rotate the signing key?", "The signing key is rotated by the platform team alone, each spring."),
    96_000: ("What happens at Zanzibar midnight?", "At midnight in Zanzibar the ledger is closed for eleven minutes."),
}


def _handbook() -> str:
    """A memory of nearly 100,000 characters, with a fact here and there."""
    text = "# Handbook of the shop\n\n"
    for at, (_, fact) in _FACTS.items():
        text += _PARAGRAPH * ((at - len(text)) // len(_PARAGRAPH)) + fact + "\n\n"
    return (text + _PARAGRAPH * 20)[:99_000]


@pytest.fixture(scope="module")
def handbook() -> str:
    """The memory's text."""
    return _handbook()


@pytest.fixture
def session(shop: Path) -> Iterator[ClientSession]:
    """An agent's client that works in the shop."""
    with agent_session(shop) as session:
        session.client.projects()[0].project.model(PATIENCE_S)
        yield session


def _run(session: ClientSession, operation: str, **arguments: Any) -> Any:
    return session.operations.run(operation, arguments)


def test_each_part_is_found_and_the_part_that_answers_is_shown(session: ClientSession, handbook: str) -> None:
    stored = _run(session, "store_memory", content=handbook, scope="project")
    for question, fact in _FACTS.values():
        found = _run(session, "search_memory", query=question)
        assert [hit["id"] for hit in found["results"]] == [stored["id"]], question
        (hit,) = found["results"]
        assert fact in hit["content"], question
        assert hit["truncated"]
        assert hit["length"] == len(handbook.strip())
        assert hit["content"].startswith("# Handbook of the shop")
        assert fact in found["context"]
        # The page from there has it, too.
        page = _run(session, "get_memory", id=hit["id"], offset=hit["start"])
        assert fact in page["content"]


def test_each_part_gets_its_vector_in_the_background(session: ClientSession) -> None:
    """More than 24 parts are not embedded while the agent waits: a model takes seconds for them."""
    text = _PARAGRAPH * 80 + "Access tokens of the gateway expire after ninety minutes.\n\n" + _PARAGRAPH * 4
    stored = _run(session, "store_memory", content=text, scope="project")

    def is_embedded() -> bool:
        embedding = _run(session, "get_memory", id=stored["id"], embedding=True).get("embedding")
        return embedding is not None and len(embedding["vectors"]) == len(parts_of(text.strip()))

    assert len(parts_of(text.strip())) > MAX_PARTS_AT_ONCE
    assert until(is_embedded)


def test_what_becomes_of_a_long_memory_is_said_when_it_is_stored(session: ClientSession, handbook: str) -> None:
    stored = _run(session, "store_memory", content=handbook, scope="project")
    assert "characters (at most 100,000 are kept): each part is found" in stored["note"]
    assert "note" not in _run(session, "store_memory", content="Invoices are rounded half up.", scope="project")
    with pytest.raises(InvalidRequest, match=r"at most 100,000 are kept; store a summary and name the source"):
        _run(session, "store_memory", content=handbook + handbook, scope="project")


def test_a_long_memory_comes_by_pages_that_give_it_back(session: ClientSession, handbook: str) -> None:
    stored = _run(session, "store_memory", content=handbook, scope="project")
    text, offset = "", 0
    for _ in range(20):
        page = _run(session, "get_memory", id=stored["id"], offset=offset)
        assert len(json.dumps(page)) < 40_000
        text += page["content"]
        offset += len(page["content"])
        if offset == page["length"]:
            break
        assert page["note"].endswith(f"; get_memory with offset = {offset} has the next")
    assert text == handbook.strip()
    assert _run(session, "get_memory", id=stored["id"], budget_tokens=0)["content"] == text
    _run(session, "update_memory", id=stored["id"], content=text + "\n\nThe end.")
    _run(session, "update_memory", id=stored["id"], content=text + "\n\nThe very end.")
    assert len(json.dumps(_run(session, "get_memory", id=stored["id"], history=True))) < 40_000


def test_a_list_of_many_fits_and_says_where_it_goes_on(session: ClientSession) -> None:
    for number in range(25):
        content = f"Decision {number}. " + f"Step {number} of the release is done by hand, and noted in the log. " * 20
        _run(session, "store_memory", content=content, scope="session", force=True)
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = _run(session, "list_memories", limit=1000, offset=offset, scope="session")
        assert len(json.dumps(page)) < 40_000
        seen += [memory["id"] for memory in page["memories"]]
        offset = page.get("next_offset")
        if offset is not None:
            assert page["note"] == f"more did not fit one answer: offset = {offset} has the next"
    assert len(set(seen)) == len(seen) == page["total"] == 25
    found = _run(session, "search_memory", query="release steps done by hand", k=100, min_similarity=0.0)
    assert len(json.dumps(found["results"])) < 40_000
    assert "more memories did not fit one answer" in found["stats"]["note"]
