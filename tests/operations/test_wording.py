"""Agents hear of tools, editors of commands; what only the shell has stays as it is."""

from __future__ import annotations

import pytest

from rag_ls.operations.wording import in_words_of_agents, in_words_of_editors


@pytest.mark.parametrize(
    ("message", "agents", "editors"),
    [
        ("known are a, b (`rag-ls project list`)", "known are a, b (list_repos)", "known are a, b (ragLs.listRepos)"),
        ("`rag-ls list` shows the ids", "list_memories shows the ids", "ragLs.listMemories shows the ids"),
        ("read it with get_memory", "read it with get_memory", "read it with ragLs.getMemory"),
        ("say with `rag-ls index --force`", "say with `rag-ls index --force`", "say with `rag-ls index --force`"),
        ("`rag-ls rules index` mends it", "rag_index mends it", "ragLs.rulesIndex mends it"),
        ("`rag-ls doctor` may help", "`rag-ls doctor` may help", "`rag-ls doctor` may help"),
        ("index_status says what is", "index_status says what is", "ragLs.status says what is"),
    ],
)
def test_each_surface_has_its_own_words(message: str, agents: str, editors: str) -> None:
    assert in_words_of_agents(message) == agents
    assert in_words_of_editors(message) == editors
