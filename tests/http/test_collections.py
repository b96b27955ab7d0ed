"""Collections over HTTP: the addresses and the tools of the contract."""

from __future__ import annotations

from pathlib import Path

from rag_ls.http.tokens import Access
from rag_ls.locations import user_config_file
from tests.http.conftest import Serve, Served
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
    figures = caller.get("/metrics").json()
    assert figures["rag_ls_pushed_chunks{collection=default}"] == 1
    assert figures["rag_ls_pushed_chunks{collection=docs}"] == 0


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


def test_without_a_model_by_choice_no_answer_waits_for_one(serve: Serve) -> None:
    file = user_config_file()
    write(file.parent, {file.name: '[embedding]\nmodel = "none"\n'})
    served = serve()
    caller = served.caller(served.token())
    assert caller.post("/index", json={"text": _TEXT}).json()["inserted"] == 1
    found = caller.post("/api/search_collection", json={"query": "rounded invoices"}).json()
    assert (found["results"][0]["text"], found.get("note", "")) == (_TEXT, "")
    # The engine does both at each look, and would log what they raise.
    served.engine.global_memories()
    served.engine.embed_global_memories()
    served.engine.embed_collections()


def test_a_token_of_some_projects_sees_nothing_that_was_pushed_under_other_names(serve: Serve) -> None:
    served = serve()
    everybody = served.caller(served.token())
    assert everybody.post("/index", json={"text": _TEXT, "project_id": "clinic"}).status_code == 200
    # Its project is not known yet, or no longer.
    caller = served.caller(served.token("shop alone", Access.ADMIN, ("shop",)))
    assert caller.post("/api/search_collection", json={"query": "invoices"}).status_code == 404
    assert caller.get("/collections").json()["collections"] == []
    assert served.ask(caller, "collection_metrics")["chunks"] == 0
    assert served.ask(caller, "collection_facts", what="tags").get("names", []) == []
    everything = {"start": "2020-01-01", "end": "2100-01-01"}
    assert caller.post("/api/summarize_collection", json={"time_range": everything}).status_code == 404
    assert caller.post("/index", json={"text": "anything at all"}).status_code == 400


def test_summaries_of_callers_that_see_other_projects_stay_apart(two_projects: Served) -> None:
    callers = {
        name: two_projects.caller(two_projects.token(name, Access.WRITE, (name,))) for name in ("shop", "clinic")
    }
    asked = {"time_range": {"start": "2020-01-01", "end": "2100-01-01"}}
    ids = set()
    for name, caller in callers.items():
        assert caller.post("/index", json={"text": f"The {name} closes at six."}).status_code == 200
        made = caller.post("/api/summarize_collection", json=asked).json()
        again = caller.post("/api/summarize_collection", json=asked).json()
        assert made["upserted_memory_id"] == again["upserted_memory_id"]
        assert name in again["summary"]
        ids.add(made["upserted_memory_id"])
    assert len(ids) == 2
