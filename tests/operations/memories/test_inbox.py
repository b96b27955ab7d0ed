"""Operations on the inbox, and the text with which an agent's session begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.operations import Operations
from tests.support import SHOP, git_repository, until, write

FACT = "Never call the payment gateway in tests, because it charges real cards."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    code = "# HACK: wait here, because the scanner drops its first byte\ndef scan():\n    wait()\n"
    return git_repository(tmp_path / "shop", SHOP | {"src/scan.py": code})


@pytest.fixture
def operations(client: Client, root: Path) -> Operations:
    client.open(root).keep_indexed()
    operations = Operations(client)
    assert until(lambda: operations.run("index_status", {})["complete"])
    return operations


def _transcript(folder: Path, *said: str) -> str:
    lines = [json.dumps({"type": "user", "message": {"role": "user", "content": text}}) for text in said]
    return str(write(folder, {"session.jsonl": "\n".join(lines)}) / "session.jsonl")


def test_what_a_session_said_waits_until_it_is_kept(operations: Operations, tmp_path: Path) -> None:
    added = operations.run("propose_memories", {"transcript": _transcript(tmp_path, "Fix the test please.", FACT)})
    assert [each["content"] for each in added["proposals"]] == [FACT]
    assert operations.run("search_memory", {"query": "payment gateway in tests"})["results"] == []
    (proposal,) = operations.run("list_inbox", {})["proposals"]
    assert (proposal["kind"], proposal["origin"]) == ("proposal", "session session")
    stored = operations.run(
        "keep_proposal", {"id": proposal["id"][:8], "content": "Tests never call the payment gateway"}
    )
    assert stored["status"] == "inserted"
    assert operations.run("list_inbox", {})["total"] == 0
    (memory,) = operations.run("list_memories", {"scope": "project"})["memories"]
    assert (memory["content"], memory["metadata"].get("custom", {})) == ("Tests never call the payment gateway", {})
    assert "Tests never call the payment gateway" in operations.run("session_context", {})["text"]


def test_a_wrong_id_drops_nothing(operations: Operations, tmp_path: Path) -> None:
    operations.run("propose_memories", {"transcript": _transcript(tmp_path, FACT)})
    (proposal,) = operations.run("list_inbox", {})["proposals"]
    with pytest.raises(NotFound, match="no proposal has the id 'nothing'"):
        operations.run("drop_proposals", {"ids": [proposal["id"], "nothing"]})
    assert operations.run("list_inbox", {})["total"] == 1
    assert operations.run("drop_proposals", {"ids": [proposal["id"]], "never": True})["dropped"] == [proposal["id"]]
    assert operations.run("propose_memories", {"transcript": _transcript(tmp_path, FACT)})["proposals"] == []


def test_comments_that_say_why_are_proposed_at_their_code(operations: Operations) -> None:
    (proposal,) = operations.run("propose_memories", {})["proposals"]
    assert (proposal["content"], proposal["anchor"]["path"]) == (
        "wait here, because the scanner drops its first byte",
        "src/scan.py",
    )


def test_a_memory_whose_code_has_changed_comes_to_the_inbox(operations: Operations, root: Path) -> None:
    metadata = {"source_file": "src/scan.py", "symbol": "scan"}
    operations.run("store_memory", {"content": "The scanner is slow", "scope": "project", "metadata": metadata})
    assert operations.run("list_inbox", {})["total"] == 0
    write(root, {"src/scan.py": "def scan():\n    return read_byte() or read_byte()\n"})
    (item,) = operations.run("list_inbox", {})["proposals"]
    assert (item["kind"], item["content"]) == ("drifted", "The scanner is slow")


def test_a_transcript_that_cannot_be_read_is_named(operations: Operations, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"missing\.jsonl cannot be read"):
        operations.run("propose_memories", {"transcript": str(tmp_path / "missing.jsonl")})


def test_a_session_begins_with_at_most_six_hundred_tokens(operations: Operations) -> None:
    for number in range(30):
        operations.run("store_memory", {"content": f"Fact {number} about " + "many words " * 60, "scope": "project"})
    text = operations.run("session_context", {})["text"]
    assert "Fact" in text
    assert len(text) < 4 * 600
