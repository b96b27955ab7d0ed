"""The MCP server and its client in one process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client as McpClient
from mcp import MCPError

from rag_ls.operations import ClientSession
from tests.agents import agent_of, agent_session

_USUAL = ("code", "memory")
_NOTE = "Invoices are rounded half up."


@pytest.fixture
def session(shop: Path) -> Iterator[ClientSession]:
    """An agent's client that works in the shop."""
    with agent_session(shop) as session:
        yield session


async def _call(agent: McpClient, tool: str, **arguments: Any) -> Any:
    answer = await agent.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    if tool != "search_code":
        assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


async def test_tools_find_code_and_keep_memories(session: ClientSession) -> None:
    async with agent_of(session, _USUAL) as agent:
        found = await _call(agent, "search_code", query="renew an expired login")
        assert found["results"][0]["symbol"].startswith("Session")
        stored = await _call(agent, "store_memory", content=_NOTE, scope="project")
        recalled = await _call(agent, "search_memory", query="how are invoices rounded")
        assert recalled["results"][0]["id"] == stored["id"]


async def test_tools_say_what_they_change(session: ClientSession) -> None:
    async with agent_of(session, _USUAL) as agent:
        tools = {tool.name: tool.annotations for tool in (await agent.list_tools()).tools}
    assert tools["search_code"].read_only_hint
    assert not tools["store_memory"].read_only_hint
    assert tools["delete_memory"].destructive_hint
    assert not tools["store_memory"].destructive_hint


async def test_errors_are_words_and_the_server_goes_on(session: ClientSession) -> None:
    async with agent_of(session, _USUAL) as agent:
        for tool, arguments, words in (
            ("search_code", {"query": "x", "k": -1}, "k"),
            ("search_code", {}, "query"),
            ("get_memory", {"id": "none"}, "no memory has the id 'none'"),
            ("zebra", {}, "there is no tool 'zebra'"),
            ("serch_code", {"query": "x"}, "the nearest are search_code, "),
        ):
            answer = await agent.call_tool(tool, arguments)
            assert answer.is_error
            assert words in answer.content[0].text
        await _call(agent, "list_memories")


async def test_memories_are_resources_by_pages(session: ClientSession) -> None:
    async with agent_of(session, _USUAL) as agent:
        stored = await _call(agent, "store_memory", content=_NOTE, scope="project")
        listed = (await agent.list_resources()).resources
        fixed = ["memory://list", "memory://inbox", "memory://stats"]
        assert [str(item.uri) for item in listed] == [*fixed, f"memory://{stored['id']}"]
        (waiting,) = (await agent.read_resource("memory://inbox")).contents
        assert json.loads(waiting.text)["total"] == 0
        (content,) = (await agent.read_resource(f"memory://{stored['id']}")).contents
        assert json.loads(content.text)["content"] == _NOTE
        with pytest.raises(MCPError, match="no memory has the id"):
            await agent.read_resource("memory://nothing")


async def test_prompts_bring_what_is_known(session: ClientSession) -> None:
    async with agent_of(session, _USUAL) as agent:
        await _call(agent, "store_memory", content=_NOTE, scope="project")
        (message,) = (await agent.get_prompt("recall", {"topic": "rounding of {context} invoices"})).messages
        assert _NOTE in message.content.text
        assert "rounding of {context} invoices" in message.content.text
        with pytest.raises(MCPError, match="needs 'topic'"):
            await agent.get_prompt("recall", {})


async def test_without_their_toolset_memories_are_nowhere(session: ClientSession) -> None:
    async with agent_of(session, ("code",)) as agent:
        assert "store_memory" not in {tool.name for tool in (await agent.list_tools()).tools}
        assert (await agent.list_resources()).resources == (await agent.list_prompts()).prompts == []
        assert (await agent.call_tool("store_memory", {"content": _NOTE})).is_error
