"""Agents in the process of a test: a client's session in a folder, and an MCP client of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from mcp import Client as McpClient

from rag_ls.engine.client import local_client
from rag_ls.mcp.server import create_server
from rag_ls.operations import ClientSession, Operations
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
