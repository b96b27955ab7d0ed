"""A server that was started in no project works in the folders that the agent's program names, or says what to do."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest

from tests.e2e.clients import agent
from tests.support import write

# Folders of all kinds of things, as home is.
_STARTS = (Path("/"), Path(tempfile.gettempdir()).resolve())


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write(
        tmp_path / "my shop",
        {".git/HEAD": "ref: refs/heads/main\n", "src/cart.py": "def wombat_total():\n    return 1\n"},
    )


@pytest.mark.parametrize("start", _STARTS)
@pytest.mark.parametrize("options", [(), ("--standalone",)])
async def test_the_folder_that_the_program_names_is_the_agents_own(
    shop: Path, start: Path, options: tuple[str, ...]
) -> None:
    async def roots() -> list[Path]:
        return [shop]

    async with agent(start, *options, roots=roots) as ag:
        await ag.until_complete()
        (hit,) = (await ag.call("search_code", query="wombat_total"))["results"]
        assert hit["path"] == "src/cart.py"


@pytest.mark.slow
async def test_folders_that_are_no_projects_here_are_passed_over(shop: Path, tmp_path: Path) -> None:
    async def roots() -> list[Path]:
        return [Path("/"), tmp_path / "gone", _STARTS[1], shop]

    async with agent(Path("/"), roots=roots) as ag:
        await ag.until_complete()
        assert (await ag.call("search_code", query="wombat_total"))["results"]


async def test_a_program_that_does_not_say_its_folders_keeps_no_call_waiting(shop: Path) -> None:
    async def roots() -> list[Path]:
        await asyncio.sleep(3600)
        return [shop]

    async with agent(Path("/"), roots=roots) as ag:
        assert "ask the user" in await asyncio.wait_for(ag.refusal("search_code", query="wombat_total"), 60)
        assert await ag.call("list_memories")


@pytest.mark.parametrize("start", _STARTS)
async def test_without_any_folder_an_agent_is_told_what_to_do_in_its_own_words(start: Path) -> None:
    async with agent(start) as ag:
        said = await ag.refusal("search_code", query="wombat_total")
        assert f"started in {start}, which is no project" in said
        assert "ask the user" in said
        assert "list_repos" in said
        assert "`rag-ls" not in said


async def test_a_folder_that_is_a_project_is_not_left_for_another(shop: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", {".git/HEAD": "ref: refs/heads/main\n", "b.py": "other_name = 1\n"})

    async def roots() -> list[Path]:
        return [other]

    async with agent(shop, roots=roots) as ag:
        await ag.until_complete()
        assert (await ag.call("search_code", query="wombat_total"))["results"][0]["path"] == "src/cart.py"
