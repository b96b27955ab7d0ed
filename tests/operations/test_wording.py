"""Agents hear of tools, editors of commands; a verb that only the shell has is for the user."""

from __future__ import annotations

import pytest

from rag_ls.operations.tools import in_words_of_agents, in_words_of_editors, reword_notes

_USER = " (only the user runs `rag-ls {}`; no tool does)"


@pytest.mark.parametrize(
    ("message", "agents", "editors"),
    [
        ("known are a, b (`rag-ls project list`)", "known are a, b (list_repos)", "known are a, b (ragLs.listRepos)"),
        ("`rag-ls list` shows the ids", "list_memories shows the ids", "ragLs.listMemories shows the ids"),
        ("read it with get_memory", "read it with get_memory", "read it with ragLs.getMemory"),
        (
            "run `rag-ls index --force`",
            f"run `rag-ls index --force`{_USER.format('index --force')}",
            "run `rag-ls index --force`",
        ),
        ("`rag-ls rules index` mends it", "rag_index mends it", "ragLs.rulesIndex mends it"),
        ("`rag-ls doctor` may help", f"`rag-ls doctor` may help{_USER.format('doctor')}", "`rag-ls doctor` may help"),
        ("the user runs `rag-ls trust`", "the user runs `rag-ls trust`", "the user runs `rag-ls trust`"),
        ("index_status says what is", "index_status says what is", "ragLs.status says what is"),
    ],
)
def test_each_surface_has_its_own_words(message: str, agents: str, editors: str) -> None:
    assert in_words_of_agents(message) == agents
    assert in_words_of_editors(message) == editors


def test_notes_are_reworded_and_records_are_not() -> None:
    text = "`rag-ls list` shows them"
    answer = {"results": [{"text": text}], "note": text, "notes": [text], "stats": {"note": text}, "content": text}
    said = "list_memories shows them"
    assert reword_notes(answer, in_words_of_agents) == {
        "results": [{"text": text}], "note": said, "notes": [said], "stats": {"note": said}, "content": text,
    }  # fmt: skip
