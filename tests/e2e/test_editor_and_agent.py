"""One project, an editor and an agent at once: two processes of the installed command, one memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.clients import agent, editor, eventually

pytestmark = [pytest.mark.slow, pytest.mark.own_engine, pytest.mark.usefixtures("installed_command")]


async def test_what_the_editor_saved_a_moment_ago_the_agent_finds(project: Path) -> None:
    file = project / "src/billing/invoice.py"
    async with editor(project) as ed, agent(project) as ag:
        await ed.until_complete()
        await ag.until_complete()
        ed.open(file)
        text = file.read_text() + "\n\ndef dunning_letter(customer):\n    return 'please pay'\n"
        ed.replace_all(file, text)
        ed.save(file, text)
        await ed.command("status")

        async def found() -> bool:
            hits = (await ag.call("search_code", query="dunning_letter"))["results"]
            return bool(hits) and "dunning_letter" in hits[0]["text"] and hits[0]["freshness"] == "disk"

        assert await eventually(found)


async def test_an_unsaved_edit_is_found_by_the_agent(project: Path) -> None:
    file = project / "src/billing/invoice.py"
    async with editor(project) as ed, agent(project) as ag:
        await ed.until_complete()
        ed.open(file)
        ed.type(file, "def unsaved_pelican():\n    return 'beak'\n\n\n", at=(3, 0))
        await ed.command("status")
        hit = (await ag.call("search_code", query="unsaved_pelican"))["results"][0]
        assert "unsaved_pelican" in hit["text"]
        assert hit["freshness"] == "buffer"
    async with agent(project) as ag:
        hits = (await ag.call("search_code", query="unsaved_pelican"))["results"]
        assert all("unsaved_pelican" not in hit["text"] for hit in hits)


async def test_a_memory_that_the_agent_stores_shows_in_the_editors_hover(project: Path) -> None:
    file = project / "src/net/client.py"
    async with editor(project) as ed, agent(project) as ag:
        await ed.until_complete()
        ed.open(file)
        metadata = {"source_file": "src/net/client.py", "line": 6}
        await ag.call("store_memory", content="Backoff is capped by the caller.", scope="project", metadata=metadata)
        assert "Backoff is capped by the caller." in await ed.hover(file, 3, 6)


async def test_a_memory_that_the_agent_stores_or_deletes_is_told_to_the_editor_at_once(project: Path) -> None:
    async with editor(project) as ed, agent(project) as ag:
        await ed.until_complete()

        async def told() -> bool:
            return "memoryChanged" in ed.client.events and ed.client.lens_refreshes > 0

        stored = await ag.call("store_memory", content="Backoff is capped by the caller.", scope="project")
        assert await eventually(told)
        ed.client.events.clear()
        ed.client.lens_refreshes = 0
        await ag.call("delete_memory", id=stored["id"])
        assert await eventually(told)


async def test_both_write_at_once_and_nothing_is_lost(project: Path) -> None:
    file = project / "src/billing/invoice.py"
    async with editor(project) as ed, agent(project) as ag:
        ed.open(file)
        for number in range(20):
            ed.type(file, f"# edit {number}\n")
            await ag.call("store_memory", content=f"agent fact {number}", scope="project")
            await ed.command("storeMemory", content=f"editor fact {number}", scope="project")
        assert (await ag.call("list_memories"))["total"] == 40
        await ed.until_complete()
        await ag.until_complete()
