"""Collections over HTTP: the addresses and the tools of the contract."""

from __future__ import annotations

from pathlib import Path

from rag_ls.project import user_config_file
from tests.http.conftest import Serve
from tests.http.test_mcp import agent, call
from tests.support import write

_TEXT = "Invoices are rounded half up, to whole cents, when the order is closed."
_TOOLS = {"push", "index", "search", "summarize", "get_collections", "new_collection", "metrics"}


def test_texts_are_pushed_and_collections_made_over_http(serve: Serve) -> None:
    served = serve()
    caller = served.caller(served.token())
    pushed = caller.post(
        "/index", json={"text": _TEXT, "project": "billing", "tags": "a, b", "type": "episodic"}
    ).json()
    assert (pushed["collection"], pushed["inserted"], len(pushed["memory_ids"])) == ("default", 1, 1)
    assert caller.post("/collections", json={"name": "docs"}).json()["status"] == "created"
    names = {item["name"] for item in caller.get("/collections").json()["collections"]}
    assert names == {"default", "docs"}
    found = caller.post("/api/search_collection", json={"query": "rounded invoices"}).json()
    assert found["results"][0]["metadata"]["tags"] == ["a", "b"]


async def test_the_toolset_is_offered_where_it_is_switched_on(serve: Serve, home: Path) -> None:
    file = Path(user_config_file())
    write(file.parent, {file.name: '[mcp]\ntoolsets = ["collections"]\n'})
    served = serve()
    async with agent(served, served.token()) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == _TOOLS
        assert (await call(client, "index", text=_TEXT))["inserted"] == 1
        assert (await call(client, "push", text=_TEXT))["skipped_duplicates"] == 1
        found = await call(client, "search", query="rounded invoices", k=3)
        assert found["results"][0]["text"] == _TEXT
        uris = {str(item.uri) for item in (await client.list_resources()).resources}
        assert "collections://usage" in uris
        tags = await client.read_resource("collections://projects/default/tags")
        assert '"tags"' in tags.contents[0].text
