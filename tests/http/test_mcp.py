"""MCP over Streamable HTTP, with the real client of the mcp library and with raw requests."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2 as httpx
import pytest
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from rag_ls.http.tokens import Access
from tests.http.conftest import Serve, Served
from tests.support import PATIENCE_S, until, write

_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
_BOTH = "application/json, text/event-stream"


@asynccontextmanager
async def agent(served: Served, token: str, path: str = "mcp", **options: Any) -> AsyncIterator[McpClient]:
    """An agent that is connected to one address."""
    async with httpx.AsyncClient(headers={"x-rag-token": token}, timeout=PATIENCE_S) as web:
        transport = streamable_http_client(served.server.url + path, http_client=web)
        async with McpClient(transport, **options) as client:
            yield client


async def call(client: McpClient, tool: str, **arguments: Any) -> Any:
    """The answer of a tool that must succeed."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


def raw(served: Served, token: str, path: str = "/mcp") -> tuple[httpx.Client, str]:
    """A client with a session that was opened by hand, and the session's id."""
    caller = served.caller(token, accept=_BOTH)
    opened = caller.post(path, json=_INITIALIZE)
    assert opened.status_code == 200, opened.text
    return caller, opened.headers["mcp-session-id"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_agent_asks_over_http_what_it_asks_over_stdio(two_projects: Served, mode: Any) -> None:
    async with agent(two_projects, two_projects.token(), "rag-mcp/shop", mode=mode) as client:
        found = await call(client, "search_code", query="renew an expired login")
        assert found["results"][0]["path"] == "src/auth.py"
        stored = await call(client, "store_memory", content="Invoices are rounded half up.", scope="project")
        recalled = await call(client, "search_memory", query="how are invoices rounded")
        assert recalled["results"][0]["id"] == stored["id"]


async def test_sessions_on_two_projects_see_nothing_of_each_other(two_projects: Served) -> None:
    token = two_projects.token()
    async with (
        agent(two_projects, token, "rag-mcp/shop") as shop,
        agent(two_projects, token, "rag-mcp/clinic") as clinic,
    ):
        await call(shop, "store_memory", content="The shop closes at six.", scope="project")
        await call(clinic, "store_memory", content="The clinic closes at eight.", scope="project")
        await call(clinic, "store_memory", content="The nurse is called Ada.", scope="session")
        held = (await call(shop, "list_memories"))["memories"]
        assert [item["content"] for item in held] == ["The shop closes at six."]
        found = await call(shop, "search_code", query="book an appointment", project="all")
        assert {hit["path"] for hit in found["results"]}.isdisjoint({"clinic.py"})
        other = await clinic.call_tool("search_code", {"query": "login", "project": "shop"})
        assert other.is_error


async def test_tools_are_those_that_the_token_allows(served: Served) -> None:
    async with agent(served, served.token("reader", Access.READ)) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
    assert {"search_code", "search_memory"} <= tools
    assert tools.isdisjoint({"store_memory", "delete_memory", "rag_index"})


def test_a_session_belongs_to_its_token_and_its_project(two_projects: Served) -> None:
    _, session = raw(two_projects, two_projects.token("first"), "/rag-mcp/shop")
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    thief = two_projects.caller(two_projects.token("second"), accept=_BOTH, **{"mcp-session-id": session})
    assert thief.post("/rag-mcp/shop", json=ping).status_code == 404
    caller, session = raw(two_projects, two_projects.token("third"), "/rag-mcp/shop")
    caller.headers["mcp-session-id"] = session
    assert caller.post("/rag-mcp/shop", json=ping).status_code == 200
    for elsewhere in ("/rag-mcp/clinic", "/mcp"):
        assert caller.post(elsewhere, json=ping).status_code == 404
    caller.headers["mcp-session-id"] = "unknown"
    assert caller.post("/rag-mcp/shop", json=ping).status_code == 404
    assert caller.post("/rag-mcp/nowhere", json=_INITIALIZE).status_code == 404


def test_a_deleted_session_is_gone_with_its_client(served: Served) -> None:
    caller, session = raw(served, served.token())
    assert until(lambda: len(served.engine.clients()) == 1)
    caller.headers["mcp-session-id"] = session
    assert caller.delete("/mcp").status_code == 200
    assert until(lambda: not served.engine.clients())
    assert caller.post("/mcp", json={"jsonrpc": "2.0", "id": 2, "method": "ping"}).status_code == 404


@pytest.mark.parametrize("body", ["[]", "", "7", '"text"', "null", "{", json.dumps([_INITIALIZE]), "{}", '{"id": 1}'])
@pytest.mark.parametrize("in_session", [False, True])
def test_what_is_no_message_is_refused_in_a_few_words(served: Served, body: str, in_session: bool) -> None:
    caller, session = raw(served, served.token())
    headers = {"content-type": "application/json"} | ({"mcp-session-id": session} if in_session else {})
    refused = caller.post("/mcp", content=body, headers=headers)
    assert refused.status_code == 400
    found = refused.json()
    assert (found["jsonrpc"], found["id"], found["error"]["code"] in (-32700, -32600)) == ("2.0", None, True)
    assert "message" in found["error"]["message"]
    assert len(found["error"]["message"]) < 100
    assert "pydantic" not in refused.text


@pytest.mark.slow
def test_open_sessions_of_a_token_are_limited(serve: Serve) -> None:
    served = serve(max_sessions=2)
    token = served.token()
    raw(served, token)
    raw(served, token)
    refused = served.caller(token, accept=_BOTH).post("/mcp", json=_INITIALIZE)
    assert refused.status_code == 429
    assert refused.headers["retry-after"]
    raw(served, served.token("other"))


@pytest.mark.slow
def test_idle_sessions_end_and_make_room(serve: Serve) -> None:
    served = serve(max_sessions=1, session_idle_minutes=0.01)
    token = served.token()
    raw(served, token)
    assert until(lambda: not served.engine.clients()), "their time is up"
    raw(served, token)


@pytest.mark.slow
def test_a_revoked_token_ends_its_open_streams(served: Served) -> None:
    caller, session = raw(served, served.token("short"))
    caller.headers["mcp-session-id"] = session
    with caller.stream("GET", "/mcp") as stream:
        assert stream.status_code == 200
        served.tokens.revoke("short")
        list(stream.iter_bytes())
    assert caller.get("/mcp").status_code == 401


@pytest.mark.slow
async def test_progress_arrives_while_an_agent_waits(two_projects: Served, tmp_path: Path) -> None:
    steps: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message)

    async with agent(two_projects, two_projects.token(), "rag-mcp/shop", mode="legacy") as client:
        await call(client, "rag_setup", project_root=str(tmp_path / "shop"))
        await client.call_tool("rag_index", {}, progress_callback=note)
    assert steps


def test_garbage_is_answered_and_the_server_goes_on(served: Served) -> None:
    token = served.token()
    caller, session = raw(served, token)
    caller.headers["mcp-session-id"] = session
    as_json = {"content-type": "application/json"}
    for body in (b"", b"{", b"\xff", b"[]", b"null", b"[" * 100_000, b'{"jsonrpc": "2.0"}', b'{"id": {}}'):
        answer = caller.post("/mcp", content=body, headers=as_json)
        assert 400 <= answer.status_code < 500, (body[:20], answer.status_code)
    assert caller.post("/mcp", content=b"{}", headers={"content-type": "text/plain"}).status_code == 400
    assert caller.put("/mcp", json={}).status_code == 405
    assert caller.post("/mcp", json={"jsonrpc": "2.0", "id": 2, "method": "ping"}).status_code == 200


@pytest.mark.slow
def test_a_tool_can_be_cancelled_though_all_that_a_token_may_ask_at_once_is_taken(serve: Serve, tmp_path: Path) -> None:
    served = serve(max_searches=1)
    # Its vectors take much longer than a request waits for its turn.
    body = "\n\n".join(
        f"def walrus_{{0}}_{number}(pool, header):\n    return pool.resize({number})\n" for number in range(20)
    )
    root = write(tmp_path / "shop", {f"src/module_{number}.py": body.format(number) for number in range(240)})
    (root / ".rag-ls").mkdir()
    served.engine.registry.add(root, "shop")
    token = served.token()
    caller, session = raw(served, token)
    waiting = served.caller(token, accept=_BOTH, **{"mcp-session-id": session})
    asked = {
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "index_status", "arguments": {"wait_s": 600, "project": "all"}},
    }  # fmt: skip
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(waiting.post("/mcp", json=asked).text), daemon=True)
    caller.headers["mcp-session-id"] = session
    thread.start()
    assert until(lambda: bool(served.engine.projects()))
    busy = served.caller(token).post("/api/list_memories", json={})
    assert busy.status_code == 429, busy.text
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    assert caller.post("/mcp", json=cancelled).status_code == 202
    ping = {"jsonrpc": "2.0", "id": 8, "method": "ping"}
    assert caller.post("/mcp", json=ping).status_code == 200
    thread.join(PATIENCE_S)
    assert answers
    assert '"isError":false' not in answers[0]
    assert until(lambda: served.caller(token).post("/api/list_memories", json={}).status_code == 200)


async def test_no_tool_reaches_a_folder_that_is_no_project_of_the_token(two_projects: Served, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    async with agent(two_projects, two_projects.token()) as client:
        for tool in ("rag_setup", "rag_index"):
            refused = await client.call_tool(tool, {"project_root": str(private)})
            assert refused.is_error
            assert "no project that this token sees" in refused.content[0].text
    assert list(private.iterdir()) == []


def test_a_project_is_named_by_its_root_too(two_projects: Served, tmp_path: Path) -> None:
    raw(two_projects, two_projects.token(), f"/rag-mcp/{quote(str(tmp_path / 'shop'), safe='')}")
