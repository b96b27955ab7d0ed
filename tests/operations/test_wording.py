"""Agents hear of the tools that they have, editors of commands; what only the shell has is the user's to run."""

from __future__ import annotations

import pytest

from rag_ls.mcp.tools import TOOLSETS, offer_tools
from rag_ls.operations.wording import in_words_of_agents, in_words_of_editors, reword_notes

_FOR_THE_USER = "; `rag-ls` lines are for the user to run, at the shell: ask for it"


@pytest.mark.parametrize(
    ("message", "agents", "editors"),
    [
        ("known are a, b (`rag-ls project list`)", "known are a, b (list_repos)", "known are a, b (ragLs.listRepos)"),
        ("`rag-ls list` shows the ids", "list_memories shows the ids", "ragLs.listMemories shows the ids"),
        ("read it with get_memory", "read it with get_memory", "read it with ragLs.getMemory"),
        (
            "say with `rag-ls index --force`",
            f"say with `rag-ls index --force`{_FOR_THE_USER}",
            "say with `rag-ls index --force`",
        ),
        (
            "`rag-ls rules setup --force` replaces it",
            "rag_setup with force = true replaces it",
            "ragLs.rulesSetup with force = true replaces it",
        ),
        (
            "`rag-ls status --skipped` lists them",
            "index_status with skipped = true lists them",
            "ragLs.status with skipped = true lists them",
        ),
        (
            "`rag-ls rules setup --publish` does",
            f"`rag-ls rules setup --publish` does{_FOR_THE_USER}",
            "`rag-ls rules setup --publish` does",
        ),
        (
            "the user may, at the shell: `rag-ls trust /a`",
            "the user may, at the shell: `rag-ls trust /a`",
            "the user may, at the shell: `rag-ls trust /a`",
        ),
        ("`rag-ls rules index` mends it", "rag_index mends it", "ragLs.rulesIndex mends it"),
        ("`rag-ls doctor` may help.", f"`rag-ls doctor` may help{_FOR_THE_USER}", "`rag-ls doctor` may help."),
        ("index_status says what is", "index_status says what is", "ragLs.status says what is"),
    ],
)
def test_each_surface_has_its_own_words(message: str, agents: str, editors: str) -> None:
    assert in_words_of_agents(message) == agents
    assert in_words_of_editors(message) == editors


def test_an_agent_hears_of_no_tool_that_it_lacks_as_if_it_had_it() -> None:
    offered = offer_tools(("rules",))
    assert in_words_of_agents("rag_index reads it anew", offered) == "rag_index reads it anew"
    said = in_words_of_agents("index_status says what is; `rag-ls search` finds it", offered)
    assert said.startswith(
        "index_status (not offered here: mcp.toolsets leaves code out) says what is; `rag-ls search`"
    )
    assert said.endswith(_FOR_THE_USER)
    assert in_words_of_agents("`rag-ls search` finds it", offer_tools(("memory",))) == "search_memory finds it"


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_what_a_tool_says_of_an_empty_answer_names_tools_of_its_own_toolset(toolset: str) -> None:
    offered = offer_tools((toolset,))
    for item in offered.values():
        assert item.tool is not None
        assert in_words_of_agents(item.tool.nothing, offered) == item.tool.nothing


def test_notes_are_reworded_and_records_are_not() -> None:
    text = "`rag-ls list` shows them"
    answer = {"results": [{"text": text}], "note": text, "notes": [text], "stats": {"note": text}, "content": text}
    said = "list_memories shows them"
    assert reword_notes(answer, in_words_of_agents) == {
        "results": [{"text": text}], "note": said, "notes": [said], "stats": {"note": said}, "content": text,
    }  # fmt: skip
