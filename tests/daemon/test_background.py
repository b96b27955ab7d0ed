"""An engine that starts has the listed projects indexed, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.daemon.background import ConfiguredProjects
from rag_ls.engine.engine import Engine
from rag_ls.locations import user_config_file
from rag_ls.project import Project
from rag_ls.storage import index_summary
from tests.support import git_repository, until, write


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An engine without clients."""
    engine = Engine()
    yield engine
    engine.close()


def _list(*entries: str) -> None:
    user_config_file().parent.mkdir(parents=True, exist_ok=True)
    user_config_file().write_text("\n".join(f"[[projects]]\n{entry}" for entry in entries))


def _is_complete(root: Path) -> bool:
    found = index_summary(Project(root))
    return found is not None and found.is_complete(int)


def test_listed_projects_are_indexed_without_being_opened(engine: Engine, shop: Path, tmp_path: Path) -> None:
    zoo = write(tmp_path / "zoo", {"zebra.py": "def zebra():\n    return 1\n"})
    _list(f'name = "gone"\nroots = ["{tmp_path / "gone"}"]', f'name = "shop"\nroots = ["{shop}", "{zoo}"]')
    ConfiguredProjects(engine, first_s=0).start()
    assert until(lambda: _is_complete(shop) and _is_complete(zoo))
    assert until(lambda: [users for _, users in engine.projects()] == [0, 0])
    assert {item.name for item in engine.registry.projects()} == {"shop"}


def test_projects_on_another_branch_or_not_to_be_indexed_by_themselves_are_left_alone(
    engine: Engine, shop: Path, tmp_path: Path
) -> None:
    other = git_repository(tmp_path / "other", {"a.py": "alpha = 1\n"})
    write(shop, {"rag-ls.toml": "[index]\non_open = false\n"})
    last = write(tmp_path / "last", {"a.py": "alpha = 1\n"})
    _list(
        f'name = "other"\nroots = ["{other}"]\nbranch = "no-such-branch"', f'name = "shop"\nroots = ["{shop}"]',
        f'name = "last"\nroots = ["{last}"]',
    )  # fmt: skip
    ConfiguredProjects(engine, first_s=0).start()
    assert until(lambda: _is_complete(last))
    assert not (other / ".rag-ls").exists()
    assert not (shop / ".rag-ls").exists()


def test_what_was_indexed_already_is_not_opened(engine: Engine, shop: Path) -> None:
    _list(f'name = "shop"\nroots = ["{shop}"]')
    ConfiguredProjects(engine, first_s=0).start()
    assert until(lambda: _is_complete(shop) and not any(users for _, users in engine.projects()))
    engine.close_idle(0)
    again = ConfiguredProjects(engine, first_s=0)
    again.start()
    assert until(lambda: not again._thread.is_alive())
    assert engine.projects() == []
