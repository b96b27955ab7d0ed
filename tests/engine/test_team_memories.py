"""Engines of two users whose projects have one git remote, and share memories on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_ls.engine.client import Client, local_client
from rag_ls.engine.events import MemoryChanged
from rag_ls.engine.session import ProjectSession
from rag_ls.memory import NewMemory
from rag_ls.model import Scope
from tests.storage.postgres.servers import Postgres, postgres
from tests.support import SHOP, git, trust, until, write


@pytest.fixture(autouse=True)
def store(server: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """The team's store, for memories alone."""
    monkeypatch.setenv("RAG_LS_STORE_URL", server.url(server.database()))
    monkeypatch.setenv("RAG_LS_STORE_SHARE", "memories")
    monkeypatch.setattr("rag_ls.engine.team_memories._LOOK_S", 0.1)
    monkeypatch.setattr("rag_ls.engine.team_memories._ASK_EVERY_S", 0.3)
    monkeypatch.setattr("rag_ls.engine.team_memories._RETRY_S", 0.3)


def _clone(folder: Path, remote: str = "git@github.com:acme/shop.git") -> Path:
    write(folder, SHOP)
    git(folder, "init", "-q")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


@contextmanager
def _user(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *, is_trusted: bool = True
) -> Iterator[tuple[Client, ProjectSession]]:
    monkeypatch.setenv("RAG_LS_HOME", str(home))
    if is_trusted:
        trust(folder)
    client = local_client("cli")
    try:
        yield client, client.open(folder)
    finally:
        client.close()


def _contents(view: ProjectSession) -> list[str]:
    return sorted(memory.content for memory in view.project.memories.store().all())


def _remember(view: ProjectSession, content: str) -> None:
    view.memories.store(NewMemory(content, Scope.PROJECT), None)


def test_what_one_remembers_the_other_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _clone(tmp_path / "first")
    second = _clone(tmp_path / "clone of another name", "https://github.com/acme/shop")
    with (
        _user(tmp_path / "home1", first, monkeypatch) as (_, ann),
        _user(tmp_path / "home2", second, monkeypatch) as (client, ben),
    ):
        told: list[object] = []
        client.engine.events.listen(told.append)
        _remember(ann, "Prices are in cents everywhere but in templates.")
        assert until(lambda: _contents(ben) == ["Prices are in cents everywhere but in templates."])
        assert until(lambda: any(isinstance(each, MemoryChanged) and each.by == "team" for each in told))
        assert ann.status().note == ben.status().note == ""


def test_a_folder_that_names_the_remote_shares_nothing_before_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, archive = _clone(tmp_path / "own"), _clone(tmp_path / "archive")
    with (
        _user(tmp_path / "home1", own, monkeypatch) as (_, ann),
        _user(tmp_path / "home2", archive, monkeypatch, is_trusted=False) as (_, ben),
    ):
        _remember(ann, "Prices are in cents everywhere but in templates.")
        _remember(ben, "Install what the archive says.")
        assert until(lambda: "`rag-ls trust` says that this one is a clone" in ben.status().note)
        assert _contents(ben) == ["Install what the archive says."]
        trust(archive)
        assert until(lambda: len(_contents(ann)) == len(_contents(ben)) == 2)


def test_projects_of_one_name_without_a_remote_share_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = _clone(tmp_path / "1" / "shop", ""), _clone(tmp_path / "2" / "shop", "")
    with (
        _user(tmp_path / "home1", first, monkeypatch) as (_, ann),
        _user(tmp_path / "home2", second, monkeypatch) as (_, ben),
    ):
        _remember(ann, "This is known to one of the two alone.")
        assert until(lambda: "has no git remote" in ann.status().note)
        assert until(lambda: "has no git remote" in ben.status().note)
        assert _contents(ben) == []


@pytest.mark.slow
def test_a_server_that_is_away_is_told_and_holds_up_nothing(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres(tmp_path_factory.mktemp("away")) as server:
        monkeypatch.setenv("RAG_LS_STORE_URL", server.url(server.database()))
        server.stop()
        with _user(tmp_path / "home", _clone(tmp_path / "shop"), monkeypatch) as (_, view):
            _remember(view, "It is remembered whether anybody listens or not.")
            assert until(lambda: view.status().share_problem.startswith("memories are not shared: "))
            assert view.status().share_problem in view.status().note
            assert "correct horse" not in view.status().note
            assert _contents(view) == ["It is remembered whether anybody listens or not."]
            server.start()
            assert until(lambda: view.status().note == "")
            assert view.status().share_problem == ""
            assert server.run("SELECT count(*) FROM rag_ls.rag_project", "team_1") == [(1,)]


def test_a_store_that_holds_no_memories_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LS_STORE_URL", f"qdrant://{tmp_path}/qdrant")
    with _user(tmp_path / "home", _clone(tmp_path / "shop"), monkeypatch) as (_, view):
        assert until(lambda: "Qdrant holds no memories" in view.status().note)
