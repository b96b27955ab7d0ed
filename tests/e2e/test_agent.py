"""What an agent sees of `rag-ls mcp`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_ls.mcp.code_text import is_text
from tests.agents import tool_operations
from tests.e2e.clients import agent, eventually
from tests.support import trust

pytestmark = pytest.mark.shared_engine


@pytest.mark.slow
async def test_the_agent_finds_reads_and_follows_code(project: Path) -> None:
    async with agent(project) as ag:
        await ag.until_complete()
        answer = await ag.call("search_code", query="where are invoice amounts rounded", k=3)
        hit = answer["results"][0]
        assert (hit["kind"], hit["path"], hit["symbol"]) == ("chunk", "src/billing/invoice.py", "round_amount")
        assert hit["freshness"] == "disk"
        assert 0 <= hit["score"] <= 1
        assert answer["stats"]["complete"] is True
        assert (await ag.call("get_chunk", id=hit["id"]))["text"] == hit["text"]
        related = await ag.call("find_related", path="src/net/client.py", line=5, k=3)
        assert related["results"][0]["path"] == "src/queue/retry.go"


@pytest.mark.slow
async def test_filters_keep_other_code_out(project: Path) -> None:
    async with agent(project) as ag:
        await ag.until_complete()
        by_language = await ag.call("search_code", query="retry with backoff", language="go")
        assert {hit["language"] for hit in by_language["results"]} == {"go"}
        by_path = await ag.call("search_code", query="retry with backoff", path_glob="docs/**")
        assert {hit["path"] for hit in by_path["results"]} == {"docs/decisions.md"}


async def test_memories_are_stored_recalled_listed_and_deleted(project: Path) -> None:
    async with agent(project) as ag:
        stored = await ag.call(
            "store_memory", content="Amounts are rounded half up.", scope="project", metadata={"tags": ["money"]}
        )
        assert (stored["status"], stored["version"]) == ("inserted", 1)
        again = await ag.call("store_memory", content="Amounts are rounded half up.", scope="project")
        assert (again["status"], again["id"]) == ("duplicate", stored["id"])
        found = await ag.call("search_memory", query="how do we round money?")
        assert [hit["id"] for hit in found["results"]] == [stored["id"]]
        assert (await ag.call("get_memory", id=stored["id"]))["metadata"]["tags"] == ["money"]
        listed = await ag.call("list_memories", filters={"tags": ["money"]})
        assert (listed["total"], listed["limit"], listed["offset"]) == (1, 50, 0)
        assert (await ag.call("delete_memory", id=stored["id"]))["deleted"] is True
        assert (await ag.call("list_memories"))["total"] == 0
        assert "list_memories" in await ag.refusal("get_memory", id=stored["id"])


async def test_global_memories_outlive_the_project_and_session_ones_the_server_does_not(project: Path) -> None:
    trust(project)
    async with agent(project) as ag:
        for scope in ("session", "project", "global"):
            await ag.call("store_memory", content=f"a {scope} fact", scope=scope)
    async with agent(project) as ag:
        assert {item["scope"] for item in (await ag.call("list_memories"))["memories"]} == {"project", "global"}


async def test_refusals_name_the_argument_and_the_server_goes_on(project: Path) -> None:
    async with agent(project) as ag:
        assert "needs 'query'" in await ag.refusal("search_code")
        assert "a whole number" in await ag.refusal("search_code", query="x", k="many")
        assert "outside the project" in await ag.refusal("find_related", path="../secret.py", line=1)
        assert "search_code" in await ag.refusal("no_such_tool")
        assert "no chunk has the id" in await ag.refusal("get_chunk", id="0" * 16)
        assert (await ag.call("index_status"))["version"]


async def test_every_tool_is_annotated_and_typed_and_the_list_is_lean(project: Path) -> None:
    async with agent(project) as ag:
        tools = (await ag.session.list_tools()).tools
    offered = tool_operations(("code", "memory", "rules"))
    assert [tool.name for tool in tools] == list(offered)
    for tool in tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint or tool.annotations.destructive_hint is not None
        assert (tool.output_schema is None) == is_text(offered[tool.name])
    listed = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools], separators=(",", ":"))
    # As it is sent, JSON of this kind has 4.1 characters a token, counted with a model's own tokenizer: 2,500 tokens.
    assert len(listed) / 4.1 < 2500


@pytest.mark.slow
async def test_tools_that_are_listed_before_the_library_is_there_are_the_library_s(project: Path) -> None:
    async with agent(project, "--standalone") as ag:
        early = await ag.session.list_tools()
        assert (await ag.call("index_status"))["version"]
        assert await ag.session.list_tools() == early


async def test_a_project_setting_takes_a_toolset_away(project: Path) -> None:
    (project / "rag-ls.toml").write_text('[mcp]\ntoolsets = ["code"]\n')
    async with agent(project) as ag:
        names = {tool.name for tool in (await ag.session.list_tools()).tools}
        assert "search_code" in names
        assert "store_memory" not in names


@pytest.mark.slow
async def test_what_the_agent_writes_with_its_own_tools_is_found_without_an_editor(project: Path) -> None:
    async with agent(project) as ag:
        await ag.until_complete()
        (project / "src/new_tool.py").write_text("def wombat_burrow():\n    return 'cube'\n")

        async def found() -> bool:
            hits = (await ag.call("search_code", query="wombat_burrow"))["results"]
            return bool(hits) and "wombat_burrow" in hits[0]["text"] and hits[0]["freshness"] == "disk"

        assert await eventually(found)


@pytest.mark.slow
async def test_a_place_that_the_code_has_not_is_no_anchor(project: Path) -> None:
    async with agent(project) as ag:
        await ag.until_complete()
        place = {"source_file": "src/net/client.py", "symbol": "no_such_function"}
        assert "declares no 'no_such_function'" in await ag.refusal(
            "store_memory", content="x", scope="project", metadata=place
        )
        place = {"source_file": "src/net/client.py", "line": 9999}
        assert "line 9999 is outside" in await ag.refusal("store_memory", content="x", scope="project", metadata=place)
        assert (await ag.call("list_memories"))["total"] == 0


@pytest.mark.slow
@pytest.mark.own_engine
async def test_in_a_folder_of_all_kinds_of_things_an_agent_has_the_users_memories_and_nothing_is_read(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    async with agent(project) as ag:
        assert "which is no project" in await ag.refusal("search_code", query="rounding")
        stored = await ag.call("store_memory", content="We deploy on Fridays.", scope="global")
        listed = await ag.call("list_memories")
    assert [item["id"] for item in listed["memories"]] == [stored["id"]]
    assert not (project / ".rag-ls").exists()
