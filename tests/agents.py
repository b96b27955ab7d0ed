"""Agents in the process of a test: a client's session in a folder, an MCP client of it, and answers as agents see them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import mcp_types as types
from mcp import Client as McpClient

from rag_ls.engine.client import local_client
from rag_ls.mcp import code_text
from rag_ls.mcp import compact as lean
from rag_ls.mcp.server import create_server
from rag_ls.operations import OPERATIONS, ClientSession, Json, Operation, Operations
from rag_ls.operations.operation import Tool
from rag_ls.operations.tools import TOOLSETS, offer_tools
from scripts.surfaces import make_tool
from tests.support import PATIENCE_S


@contextmanager
def agent_session(folder: Path) -> Iterator[ClientSession]:
    """An agent's client that works in a folder, once it is indexed."""
    client = local_client("mcp")
    session = ClientSession(client)
    session.work_in(folder)
    assert client.projects()[0].indexing.wait_until_idle(PATIENCE_S)
    yield session
    client.close()


@asynccontextmanager
async def agent_of(session: ClientSession, toolsets: Collection[str]) -> AsyncIterator[McpClient]:
    """An agent that is offered these toolsets."""

    async def operations() -> Operations:
        return session.operations

    async with McpClient(create_server(operations, toolsets)) as agent:
        yield agent


def compact(tool: str, answer: object, *, names_project: bool = False) -> Json:
    """The lean JSON of an answer of the tool with a name."""
    return lean.compact(_tool_named(tool), answer, names_project=names_project)


def render_answer(tool: str, answer: object, *, names_project: bool = False) -> Json:
    """An answer as agents get it from the tool with a name."""
    return code_text.render_answer(_tool_named(tool), answer, names_project=names_project)


def tool_operations(toolsets: Collection[str] = TOOLSETS) -> dict[str, Operation]:
    """The operations of some toolsets by the names of their tools."""
    return {name: OPERATIONS.find(operation) for name, operation in offer_tools(toolsets).items()}


def describe_tool(operation: Operation, name: str = "") -> types.Tool:
    """An operation as MCP describes it."""
    return types.Tool.model_validate(make_tool(operation, name))


def _tool_named(name: str) -> Tool:
    tool = tool_operations()[name].tool
    assert tool is not None
    return tool
