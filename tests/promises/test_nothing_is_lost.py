"""Nothing precious is lost: what people and git do to a folder, and what its memories say afterwards.

Real git and the real command. Each situation is one that happened to somebody.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rag_ls.config.settings import Settings
from rag_ls.memory import Memories, NewMemory, utc_now
from rag_ls.model import Scope
from rag_ls.storage import open_memories
from tests.daemon.engines import run
from tests.support import SHOP, git, git_repository, trust, write

pytestmark = [pytest.mark.slow, pytest.mark.shared_engine]

_NET = "Cart prices are net of tax"
_REFUNDS = "Refunds take fourteen days"


def _run(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = run(*arguments, folder=folder)
    assert done.returncode == code, done.stderr
    return done


def _listed(folder: Path) -> set[str]:
    found = json.loads(_run(folder, "list", "--json").stdout)
    return {item["content"] for item in found["memories"]}


@pytest.fixture(params=["standalone", "engine"])
def _how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Once with an engine that has the project open all the time, once with a process for each command."""
    if request.param == "standalone":
        monkeypatch.setenv("RAG_LS_DAEMON_MODE", "never")
    return str(request.param)


@pytest.fixture
def shop(repository: Path) -> Path:
    """The shop, a repository without a remote, with two memories."""
    _run(repository, "add", _NET)
    _run(repository, "add", _REFUNDS)
    return repository


_BOTH = {_NET, _REFUNDS}


@pytest.mark.usefixtures("_how")
class TestAFolderThatIsSwept:
    def test_git_clean(self, shop: Path) -> None:
        git(shop, "clean", "-fdx")
        assert not (shop / ".rag-ls").exists()
        done = _run(shop, "list")
        assert ".rag-ls was gone; its memories were kept in" in done.stderr
        assert "was gone" not in _run(shop, "list").stderr
        assert _listed(shop) == _BOTH

    def test_git_worktree_remove(self, shop: Path, tmp_path: Path) -> None:
        tree = tmp_path / "tree"
        git(shop, "worktree", "add", "--quiet", str(tree))
        assert _listed(tree) == _BOTH
        _run(tree, "add", "Stored in the work tree")
        git(shop, "worktree", "remove", str(tree))
        assert not tree.exists()
        assert _listed(shop) == {*_BOTH, "Stored in the work tree"}

    def test_rm_of_the_data_folder_without_git(self, tmp_path: Path) -> None:
        folder = write(tmp_path / "plain", SHOP)
        _run(folder, "index")
        _run(folder, "add", _NET)
        shutil.rmtree(folder / ".rag-ls")
        assert _listed(folder) == {_NET}

    def test_moving_the_folder(self, shop: Path) -> None:
        shop.rename(shop.with_name("renamed"))
        assert _listed(shop.with_name("renamed")) == _BOTH

    def test_moving_the_folder_after_a_clean(self, shop: Path) -> None:
        git(shop, "clean", "-fdx")
        shop.rename(shop.with_name("renamed"))
        assert _listed(shop.with_name("renamed")) == _BOTH

    def test_a_copy_of_the_folder(self, shop: Path) -> None:
        copy = shop.with_name("copy")
        shutil.copytree(shop, copy, symlinks=True)
        _run(copy, "add", "Stored in the copy")
        assert _listed(copy) == _listed(shop) == {*_BOTH, "Stored in the copy"}

    def test_moving_a_clone_with_a_remote_after_a_clean(self, shop: Path) -> None:
        git(shop, "remote", "add", "origin", "https://example.org/acme/shop.git")
        assert _listed(shop) == _BOTH
        git(shop, "clean", "-fdx")
        shop.rename(shop.with_name("renamed"))
        assert _listed(shop.with_name("renamed")) == _BOTH

    def test_a_second_clone_once_it_is_trusted(self, shop: Path, tmp_path: Path) -> None:
        git(tmp_path, "clone", "--quiet", str(shop), "clone")
        _run(tmp_path / "clone", "add", "Stored in the clone")
        assert _listed(tmp_path / "clone") == {"Stored in the clone"}
        assert f"2 memories of {shop}/.git, kept for {shop}, wait" in _run(tmp_path / "clone", "doctor").stdout
        _run(tmp_path / "clone", "trust", "--yes")
        every = {*_BOTH, "Stored in the clone"}
        assert "1 added" in _run(tmp_path / "clone", "list").stderr
        assert _listed(tmp_path / "clone") == _listed(shop) == every
        git(shop, "remote", "add", "origin", "https://example.org/acme/shop.git")
        assert _listed(shop) == every
        git(tmp_path, "clone", "--quiet", str(shop), "third")
        git(tmp_path / "third", "remote", "set-url", "origin", "git@example.org:acme/shop.git")
        assert _listed(tmp_path / "third") == set()
        _run(tmp_path / "third", "trust", "--yes")
        assert _listed(tmp_path / "third") == every
        git(tmp_path / "third", "clean", "-fdx")
        assert _listed(tmp_path / "third") == every

    def test_what_an_untrusted_clone_stores_is_found_again_and_united_later(self, shop: Path, tmp_path: Path) -> None:
        git(tmp_path, "clone", "--quiet", str(shop), "clone")
        clone = tmp_path / "clone"
        _run(clone, "add", "Stored in the clone")
        git(clone, "clean", "-fdx")
        assert _listed(clone) == {"Stored in the clone"}
        git(clone, "clean", "-fdx")
        _run(clone, "trust", "--yes")
        assert _listed(clone) == _listed(shop) == {*_BOTH, "Stored in the clone"}


@pytest.mark.own_engine
class TestAContainer:
    def test_whose_home_is_thrown_away(self, shop: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        _run(shop, "stop")
        monkeypatch.setenv("RAG_LS_HOME", str(tmp_path / "new home"))
        trust(shop)
        assert _listed(shop) == _BOTH
        _run(shop, "add", "Stored in the container")
        _run(shop, "stop")

    def test_and_its_host_that_use_one_folder_in_turn(
        self, shop: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        # An engine writes the copy within seconds, and when it ends.
        _run(shop, "stop")
        monkeypatch.setenv("RAG_LS_DAEMON_MODE", "never")
        host, container = os.environ["RAG_LS_HOME"], str(tmp_path / "container")
        expected = set(_BOTH)
        for home in (container, host):
            monkeypatch.setenv("RAG_LS_HOME", home)
            trust(shop)
        for number in range(2):
            for home in (container, host):
                monkeypatch.setenv("RAG_LS_HOME", home)
                assert _listed(shop) == expected
                _run(shop, "add", f"Turn {number} was stored in the {Path(home).name}")
                expected.add(f"Turn {number} was stored in the {Path(home).name}")


class TestAStoreOfAnEarlierVersion:
    """Which had its memories in the project."""

    @pytest.fixture(autouse=True)
    def alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RAG_LS_DAEMON_MODE", "never")

    def _old(self, folder: Path, content: str) -> None:
        """Memories as they were kept, with a backup, in a folder that is trusted: nothing else tells whose they are."""
        trust(folder)
        (folder / ".rag-ls").mkdir(exist_ok=True)
        memories = Memories({Scope.PROJECT: lambda: store}, utc_now)
        store = open_memories(folder / ".rag-ls", Scope.PROJECT, Settings())
        memories.store(NewMemory(content, Scope.PROJECT), None)
        store.close()

    def test_moves_without_a_question_when_it_is_read(self, repository: Path) -> None:
        self._old(repository, _NET)
        assert _listed(repository) == {_NET}
        git(repository, "clean", "-fdx")
        assert _listed(repository) == {_NET}
        assert "nothing" in _run(repository, "restore", "--backup", "latest", "--dry-run").stdout

    def test_moves_while_an_older_engine_writes_it(self, repository: Path) -> None:
        self._old(repository, _NET)
        older = open_memories(repository / ".rag-ls", Scope.PROJECT, Settings())
        memories = Memories({Scope.PROJECT: lambda: older}, utc_now)
        memories.store(NewMemory("Stored before", Scope.PROJECT), None)
        assert _listed(repository) == {_NET, "Stored before"}
        memories.store(NewMemory("Stored by the older one", Scope.PROJECT), None)
        _run(repository, "add", "Stored by the newer one")
        older.close()
        every = {_NET, "Stored before", "Stored by the older one", "Stored by the newer one"}
        assert _listed(repository) == every
        git(repository, "clean", "-fdx")
        assert _listed(repository) == every

    def test_unites_with_those_of_other_work_trees(self, repository: Path, tmp_path: Path) -> None:
        git(repository, "worktree", "add", "--quiet", str(tmp_path / "tree"))
        self._old(repository, _NET)
        self._old(tmp_path / "tree", _REFUNDS)
        assert _listed(repository) == {_NET}
        done = _run(tmp_path / "tree", "list")
        assert "were united" in done.stderr
        assert _listed(tmp_path / "tree") == _listed(repository) == _BOTH

    def test_that_is_damaged_stays_where_it_is_and_is_named(self, repository: Path) -> None:
        self._old(repository, _NET)
        file = repository / ".rag-ls/memories.db"
        file.write_bytes(b"garbage" * 1000)
        done = _run(repository, "list", code=1)
        assert str(file) in done.stderr
        assert "the newest good backup is" in done.stderr
        assert file.read_bytes() == b"garbage" * 1000
        _run(repository, "restore", "--backup", "latest", "--yes")
        assert _listed(repository) == {_NET}
        git(repository, "clean", "-fdx")
        assert _listed(repository) == {_NET}


class TestMemoriesOfTwoProjects:
    """Are never mixed."""

    @pytest.fixture(autouse=True)
    def alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RAG_LS_DAEMON_MODE", "never")

    def test_a_repository_at_the_path_of_another_one(self, shop: Path) -> None:
        shutil.rmtree(shop)
        git_repository(shop, {"other.py": "x = 1\n"})
        git(shop, "commit", "--quiet", "--allow-empty", "--message", "another one")
        assert _listed(shop) == set()
        _run(shop, "add", "Amounts of the other one are gross")
        assert _listed(shop) == {"Amounts of the other one are gross"}

    def test_a_copy_that_becomes_another_project_keeps_what_it_had_and_goes_its_way(self, shop: Path) -> None:
        git(shop, "remote", "add", "origin", "https://example.org/acme/shop")
        assert _listed(shop) == _BOTH
        fork = shop.with_name("fork")
        shutil.copytree(shop, fork, symlinks=True)
        git(fork, "remote", "set-url", "origin", "https://example.org/zoo/shop")
        assert _listed(fork) == _BOTH
        _run(fork, "add", "Amounts of the fork are gross")
        assert _listed(shop) == _BOTH
        git(fork, "clean", "-fdx")
        assert _listed(fork) == {*_BOTH, "Amounts of the fork are gross"}

    def test_folders_of_one_repository_that_are_projects_of_their_own(self, shop: Path) -> None:
        (shop / "docs/.rag-ls").mkdir()
        _run(shop / "docs", "add", "Docs are written in Markdown")
        assert _listed(shop / "docs") == {"Docs are written in Markdown"}
        assert _listed(shop) == _BOTH

    def test_what_nobody_can_tell_is_named_and_not_taken(self, tmp_path: Path) -> None:
        folder = write(tmp_path / "one/plain", SHOP)
        _run(folder, "index")
        _run(folder, "add", _NET)
        shutil.rmtree(folder / ".rag-ls")
        (tmp_path / "two").mkdir()
        moved = folder.rename(tmp_path / "two/plain")
        _run(moved, "index")
        done = _run(moved, "list")
        assert f"those of {folder}, which is gone, in " in done.stderr
        file = re.search(r"in (\S+memories\.db)", done.stderr)
        assert file is not None
        _run(moved, "restore", "--backup", file[1], "--yes")
        assert _listed(moved) == {_NET}

    def test_a_plain_folder_that_moves_to_a_very_long_path_and_back_keeps_them(self, tmp_path: Path) -> None:
        folder = write(tmp_path / "plain", SHOP)
        _run(folder, "index")
        _run(folder, "add", _NET)
        for target in (
            tmp_path.joinpath("d" * 200, "e" * 200, "plain"),
            tmp_path.joinpath("f" * 250, "e" * 200, "q"),
            folder,
        ):
            target.parent.mkdir(parents=True, exist_ok=True)
            folder = folder.rename(target)
            assert _listed(folder) == {_NET}

    def test_what_a_folder_had_as_another_repository_is_named(self, shop: Path, tmp_path: Path) -> None:
        """Its `origin` was changed and a clone has the former one, or its history was begun anew; then it was cleaned."""
        git(shop, "remote", "add", "origin", "https://example.org/former/shop")
        assert _listed(shop) == _BOTH
        git(tmp_path, "clone", "--quiet", str(shop), "clone")
        git(tmp_path / "clone", "remote", "set-url", "origin", "https://example.org/former/shop")
        trust(tmp_path / "clone")
        assert _listed(tmp_path / "clone") == _BOTH
        for change in (("remote", "set-url", "origin", "https://example.org/latter/shop"), ("clean", "-fdx")):
            git(shop, *change)
        done = _run(shop, "list")
        file = re.search(rf"those that {shop} had before, in (\S+memories\.db)", done.stderr)
        assert file is not None
        _run(shop, "restore", "--backup", file[1], "--yes")
        assert _listed(shop) == _BOTH
        assert "had before" not in _run(shop, "list").stderr
        for swept in (".git", ".rag-ls"):
            shutil.rmtree(shop / swept)
        git_repository(shop, {"again.py": "x = 1\n"})
        assert "had before" in _run(shop, "list").stderr


class TestRemovingAProject:
    @pytest.fixture(autouse=True)
    def alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RAG_LS_DAEMON_MODE", "never")

    def test_keeps_its_memories(self, shop: Path) -> None:
        _run(shop, "projects", "remove", str(shop), "--yes")
        assert _listed(shop) == _BOTH

    def test_with_its_memories_names_who_shares_them_and_keeps_a_copy(self, shop: Path, tmp_path: Path) -> None:
        tree = tmp_path / "tree"
        git(shop, "worktree", "add", "--quiet", str(tree))
        assert _listed(tree) == _BOTH
        done = _run(shop, "projects", "remove", str(shop), "--memories", "--yes")
        assert f"the memories of {tree} too" in done.stdout
        assert _listed(tree) == _listed(shop) == set()
        copy = re.search(r"--backup (\S+)`", done.stdout)
        assert copy is not None
        _run(tree, "restore", "--backup", copy[1], "--yes")
        assert _listed(tree) == _listed(shop) == _BOTH


@pytest.mark.own_engine
def test_asking_where_no_project_is_makes_nothing(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LS_DAEMON_MODE", "never")
    folder = write(tmp_path / "folder", {"a.txt": "text"})
    for question in (("list",), ("search", "prices", "--in", "memory"), ("list", "--deleted")):
        run(*question, folder=folder)
    assert [each.name for each in folder.rglob("*")] == ["a.txt"]
    assert not (home / "data/projects").exists()
