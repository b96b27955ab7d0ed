"""One memory for the editor, the agent and the shell: stored by one, seen and changed by the others."""

from __future__ import annotations

import ast
import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from mcp import MCPError

from tests.e2e.clients import RAG_LS, Agent, Editor, agent, editor, eventually
from tests.support import trust, write

pytestmark = pytest.mark.shared_engine

_RULE = "The backoff is capped at thirty seconds, because the load balancer gives up after forty."


async def _shell(folder: Path, *arguments: str, code: int = 0) -> Any:
    done = await asyncio.to_thread(
        subprocess.run,
        [RAG_LS, *arguments, "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
async def test_a_memory_goes_from_the_agent_to_the_editor_to_the_shell_and_to_another_project(
    project: Path, tmp_path: Path
) -> None:
    file = project / "src/net/client.py"
    async with editor(project) as ed, agent(project) as ag:
        await ed.until_complete()
        ed.open(file)
        place = {"source_file": "src/net/client.py", "symbol": "retry_with_backoff", "tags": ["retries"]}
        stored = await ag.call("store_memory", content=_RULE, scope="project", metadata=place)
        assert (stored["status"], stored["version"]) == ("inserted", 1)
        assert _RULE in await ed.hover(file, 3, 6)

        changed = await _shell(
            project, "update", stored["id"][:8], "--content", f"{_RULE} Ask ops first.", "--tag", "ops"
        )
        assert (changed["status"], changed["version"]) == ("updated", 2)
        assert "Ask ops first." in await ed.hover(file, 3, 6)

        await ag.call("store_memory", content=f"{_RULE} Ask ops first", scope="project")
        done = await ed.command("consolidateMemories", scope="project", threshold=0.8)
        assert [len(item["merged"]) for item in done["merges"]] == [1]
        left = (await ag.call("list_memories", scope="project"))["memories"]
        assert [(item["content"], item["metadata"]["tags"]) for item in left] == [(f"{_RULE} Ask ops first", ["ops"])]
        assert left[0]["anchor"]["symbol"] == "retry_with_backoff"

    backup, other = tmp_path / "backup.json", write(tmp_path / "other", {"a.py": "x = 1\n"})
    assert (await _shell(project, "export", "--output", str(backup)))["exported"] == 1
    assert (await _shell(other, "import", "--input", str(backup), "--yes"))["inserted"] == 1
    assert (await _shell(other, "import", "--input", str(backup)))["unchanged"] == 1
    (found,) = (await _shell(other, "search", "when does the load balancer give up", "--scope", "project"))["results"]
    assert (found["id"], found["anchor"]["state"]) == (left[0]["id"], "orphaned")


async def test_of_two_agents_that_update_one_memory_none_is_lost_and_the_second_is_told(project: Path) -> None:
    async with agent(project) as one, agent(project) as two:
        memory = (await one.call("store_memory", content=_RULE, scope="project"))["id"]
        await one.call("update_memory", id=memory, content=f"{_RULE} (one)", expected_version=1)
        refusal = await two.refusal("update_memory", id=memory, content=f"{_RULE} (two)", expected_version=1)
        assert "version 2" in refusal
        assert "get_memory" in refusal
        await two.call("update_memory", id=memory, content=f"{_RULE} (two)", expected_version=2)
        record = await one.call("get_memory", id=memory, history=True)
        assert record["content"] == f"{_RULE} (two)"
        assert [item["content"] for item in record["history"]] == [f"{_RULE} (one)", _RULE]


@pytest.mark.slow
async def test_an_agent_uses_every_tool_of_the_memory(project: Path) -> None:
    trust(project)
    async with agent(project) as ag:
        await ag.until_complete()
        ids = [
            (await ag.call("store_memory", content=text, scope=scope, metadata={"tags": "db", "importance": 0.9}))["id"]
            for text, scope in (
                ("Orders live in Postgres 15", "project"),
                ("We no longer keep orders in Postgres 15", "project"),
                ("I like terse answers", "global"),
                ("Right now I am renaming the order table", "session"),
            )
        ]
        found = await ag.call("search_memory", query="which Postgres holds our orders", top_k=2, type="semantic")
        assert {hit["id"] for hit in found["results"]} == set(ids[:2])
        assert found["context"].startswith("[1] ")
        assert "] Orders live in Postgres 15 (project, " in found["context"]
        tight = await ag.call("search_memory", query="which Postgres holds our orders", budget_tokens=20)
        assert len(tight["context"]) < len(found["context"])

        plan = await ag.call("consolidate_memories", dry_run=True)
        assert (plan["merges"], len(plan["contradictions"])) == ([], 1)
        summary = await ag.call("summarize_memories", time_range={"start": "2020-01-01"}, scope="project", max_words=30)
        again = await ag.call("summarize_memories", time_range={"start": "2020-01-01"}, scope="project", max_words=30)
        assert (again["id"], sorted(again["source_memory_ids"])) == (summary["id"], sorted(ids[:2]))
        assert "Postgres" in again["summary"]

        assert (await ag.call("clear_session"))["cleared"] == 1
        assert "no memory has the id" in await ag.refusal("get_memory", id=ids[3])
        await ag.call("delete_memory", id=ids[2])
        listed = await ag.call("list_memories", filters={"tags": ["DB"], "time_range": {"end": "2999-01-01"}}, limit=1)
        assert (listed["total"], listed["next_offset"], len(listed["memories"])) == (2, 1, 1)


async def test_memories_are_resources_and_prompts_bring_them(project: Path) -> None:
    async with agent(project) as ag:
        stored = await ag.call("store_memory", content=_RULE, scope="project")
        listed = (await ag.session.list_resources()).resources
        assert [str(item.uri) for item in listed] == [
            "memory://list",
            "memory://inbox",
            "memory://stats",
            f"memory://{stored['id']}",
        ]
        assert len((await ag.session.list_resource_templates()).resource_templates) == 2
        assert (await _read(ag, f"memory://{stored['id']}"))["content"] == _RULE
        assert (await _read(ag, "memory://stats"))["scopes"]["project"]["memories"] == 1
        page = await _read(ag, "memory://list?limit=1&offset=1")
        assert (page["memories"], page["total"]) == ([], 1)
        with pytest.raises(MCPError, match="no memory has the id"):
            await _read(ag, "memory://nothing")
        with pytest.raises(MCPError, match="memory://list"):
            await _read(ag, "file:///etc/passwd")

        names = [prompt.name for prompt in (await ag.session.list_prompts()).prompts]
        assert names == ["remember", "recall", "explain_with_memories"]
        recalled = await ag.session.get_prompt("recall", {"topic": "how long do we back off?"})
        assert f"[1] {_RULE}" in recalled.messages[0].content.text
        with pytest.raises(MCPError, match="needs 'topic'"):
            await ag.session.get_prompt("recall", {})


@pytest.mark.slow
async def test_a_selection_is_remembered_and_asked_about_by_code_actions(project: Path) -> None:
    file = project / "src/net/client.py"
    async with editor(project) as ed:
        await ed.until_complete()
        ed.open(file)
        line = file.read_text().split("\n")[3]
        actions = await _actions(ed, file, types.Range(types.Position(3, 0), types.Position(3, len(line))))
        assert [action.title.split(":")[0] for action in actions] == [
            "Remember a note about this", "Remember a note for all projects", "What do we know about this?",
        ]  # fmt: skip
        ed.client.notes.append("Callers cap the backoff.")
        stored = await _run(ed, actions[0])
        assert (await ed.command("getMemory", id=stored["id"]))["content"] == "Callers cap the backoff."
        assert (stored["status"], stored["anchor"]["symbol"]) == ("inserted", "retry_with_backoff")
        assert await eventually(lambda: _said(ed, "is remembered for this project"))
        (lens,) = await _lenses(ed, file)
        assert lens.command.title == "1 memory"
        known = await _run(ed, lens)
        assert [hit["id"] for hit in known["results"]] == [stored["id"]]
        assert "Callers cap the backoff." in known["context"]
        # Asked again, the user is told of it, and may leave it at that.
        assert (await _run(ed, actions[0]))["status"] == "cancelled"
        assert [question.known[0].content for question in ed.client.questions[1:]] == ["Callers cap the backoff."]
        asked = await _run(ed, (await _actions(ed, file, types.Range(types.Position(3, 0), types.Position(3, 0))))[0])
        assert [hit["id"] for hit in asked["results"]] == [stored["id"]]
        ed.type(file, "    changed = True\n", at=(5, 0))

        async def drifted() -> bool:
            return [item.command.title for item in await _lenses(ed, file)] == [
                "1 memory (1 from before this code changed)"
            ]

        assert await eventually(drifted)
        confirmed = await ed.command("updateMemory", id=stored["id"])
        assert (confirmed["version"], confirmed["anchor"]["state"]) == (2, "fresh")


@pytest.mark.slow
@pytest.mark.own_engine
async def test_settings_files_count_at_once_and_a_broken_edit_changes_nothing_but_is_told(
    project: Path, home: Path
) -> None:
    async with editor(project) as ed, agent(project) as ag:
        await ed.until_complete()
        for number in range(4):
            await ag.call("store_memory", content=f"Retry rule number {number}", scope="project")

        async def hits() -> int:
            return len((await ag.call("search_memory", query="retry rule number"))["results"])

        assert await hits() == 4
        write(home, {"config/config.toml": "[search]\ndefault_k = 2\n"})
        assert await eventually(lambda: _is(hits, 2))
        write(project, {"rag-ls.toml": "[search]\ndefault_k = 3\n"})
        assert await eventually(lambda: _is(hits, 3))
        # As most editors save: the file is never empty, which would be a setting of nothing.
        (write(home, {"saved.toml": "[search]\ndefault_k = \n"}) / "saved.toml").replace(project / "rag-ls.toml")
        assert await eventually(lambda: _said(ed, "rag-ls.toml: is not TOML"))
        assert await hits() == 3


async def _is(count: Any, wanted: int) -> bool:
    return bool(await count() == wanted)


async def _said(ed: Editor, text: str) -> bool:
    return any(text in message.message for message in ed.client.messages)


async def _read(ag: Agent, uri: str) -> Any:
    return json.loads((await ag.session.read_resource(uri)).contents[0].text)


async def _actions(ed: Editor, file: Path, selected: types.Range) -> list[types.CodeAction]:
    document = types.TextDocumentIdentifier(file.as_uri())
    params = types.CodeActionParams(document, selected, types.CodeActionContext([]))
    found = await ed.client.text_document_code_action_async(params) or []
    # The test client's library takes a code action that carries a command for that command, its object made a string.
    commands = [types.Command(**ast.literal_eval(item.command)) for item in found]
    return [types.CodeAction(item.title, command=command) for item, command in zip(found, commands, strict=True)]


async def _lenses(ed: Editor, file: Path) -> list[types.CodeLens]:
    params = types.CodeLensParams(types.TextDocumentIdentifier(file.as_uri()))
    return list(await ed.client.text_document_code_lens_async(params) or [])


async def _run(ed: Editor, item: types.CodeAction | types.CodeLens) -> Any:
    assert item.command is not None
    params = types.ExecuteCommandParams(item.command.command, item.command.arguments)
    return await ed.client.workspace_execute_command_async(params)
