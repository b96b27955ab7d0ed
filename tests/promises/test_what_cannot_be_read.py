"""What cannot be looked at just now hides no memory, and nothing is stored where the next start does not look.

A folder is closed here by its permissions, as a drive that is away or a network mount closes it. Real git, the real command.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_ls.config.identity import Identity
from rag_ls.config.memory_homes import FOLDER as HOMES_FOLDER
from rag_ls.config.memory_homes import MemoryHomes
from rag_ls.config.settings import Settings
from rag_ls.config.trust import users_trusted_folders
from rag_ls.locations import user_data_folder
from rag_ls.memory import Memories, NewMemory, utc_now
from rag_ls.model import Scope
from rag_ls.project import Project
from rag_ls.storage import open_memories
from rag_ls.util.files import create_private_file, give_to_owner, restrict_to_user
from tests.commands import RAG_LS
from tests.daemon.engines import run
from tests.support import IS_ROOT, PATIENCE_S, SHOP, git, git_repository, memories_file, trust, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="other systems have no modes"),
    pytest.mark.skipif(IS_ROOT and shutil.which("setpriv") is None, reason="permissions do not bind root"),
]

_NET = "Cart prices are net of tax"
_REFUNDS = "Refunds take fourteen days"
_NOBODY = 65534


class Somebody:
    """A repository, and the user-level state of somebody whom permissions bind, as they do not bind root."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.shop = git_repository(folder / "shop", {**SHOP, "drive/notes.py": "def note():\n    return 1\n"})
        self.home.mkdir()
        self.own(folder)

    def own(self, folder: Path) -> None:
        if IS_ROOT:
            for each in (folder, *folder.rglob("*")):
                os.chown(each, _NOBODY, _NOBODY, follow_symlinks=False)

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        another = ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups") if IS_ROOT else ()
        done = subprocess.run(
            [*another, RAG_LS, *arguments, "--standalone"], cwd=self.home.parent, capture_output=True, text=True,
            timeout=PATIENCE_S, check=False,
            env={**os.environ, "RAG_LS_HOME": str(self.home), "HOME": str(self.home), "TMPDIR": "/tmp"},
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    def ask(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--project", str(self.shop), "--json").stdout)

    def listed(self) -> set[str]:
        return {item["content"] for item in self.ask("list")["memories"]}

    def refusal(self, *arguments: str) -> str:
        return self.run(*arguments, "--project", str(self.shop), code=1).stderr


@pytest.fixture
def somebody() -> Iterator[Somebody]:
    folder = Path(tempfile.mkdtemp(prefix="rag-ls-promise-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield Somebody(folder)
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", str(folder)], check=True)
        shutil.rmtree(folder)


def test_a_closed_place_of_one_memory_hides_no_other(somebody: Somebody) -> None:
    somebody.ask("add", _NET)
    somebody.ask("add", _REFUNDS, "--at", str(somebody.shop / "drive/notes.py"))
    somebody.ask("add", "Notes are numbered", "--at", f"{somebody.shop}/drive/notes.py:1")
    (somebody.shop / "drive").chmod(0)
    states = {item["content"]: (item["anchor"] or {}).get("state") for item in somebody.ask("list")["memories"]}
    assert states == {_NET: None, _REFUNDS: "unknown", "Notes are numbered": "unknown"}
    found = somebody.ask("search", "refunds and notes", "--in", "memory")["results"]
    assert {_REFUNDS, "Notes are numbered"} <= {item["content"] for item in found}
    (somebody.shop / "drive").chmod(0o700)
    states = {item["content"]: (item["anchor"] or {}).get("state") for item in somebody.ask("list")["memories"]}
    assert states == {_NET: None, _REFUNDS: "fresh", "Notes are numbered": "fresh"}


@pytest.mark.parametrize(
    "closed",
    [
        "shop",
        "shop/.git",
        "shop/.git/config",
        "shop/.git/logs/HEAD",
        "home/data/projects/[0-9a-f]*",
        "home/data/projects/[0-9a-f]*/home.json",
    ],
)
def test_what_is_closed_is_named_and_nothing_is_stored_elsewhere(somebody: Somebody, closed: str) -> None:
    somebody.ask("add", _NET)
    (place,) = somebody.home.parent.glob(closed)
    mode = place.stat().st_mode
    place.chmod(0)
    for question in (("list",), ("add", _REFUNDS), ("export",)):
        assert f"{place}" in somebody.refusal(*question)
    place.chmod(mode)
    assert somebody.listed() == {_NET}
    assert len(list((somebody.home / "data/projects").glob("*/home.json"))) == 1


def test_a_project_on_a_drive_whose_folder_is_closed_is_named(somebody: Somebody) -> None:
    drive = somebody.shop.parent / "drive"
    drive.mkdir()
    somebody.shop = somebody.shop.rename(drive / "shop")
    somebody.own(drive)
    somebody.ask("add", _NET)
    drive.chmod(0)
    assert "cannot be looked at (Permission denied)" in somebody.refusal("list")
    assert str(somebody.shop) in somebody.refusal("add", _REFUNDS)
    drive.chmod(0o755)
    assert somebody.listed() == {_NET}


def test_a_home_of_another_user_is_one_clear_error(somebody: Somebody) -> None:
    somebody.ask("add", _NET)
    somebody.home.chmod(0)
    for question in (("search", "prices"), ("add", _REFUNDS), ("status",), ("doctor",), ("list",)):
        assert "set RAG_LS_HOME to a folder of your own" in somebody.refusal(*question)
    somebody.home.chmod(0o700)
    assert somebody.listed() == {_NET}


def _states(folder: Path) -> dict[str, str]:
    done = run("list", "--json", folder=folder, RAG_LS_DAEMON_MODE="never")
    assert done.returncode == 0, done.stderr
    return {item["content"]: item["anchor"]["state"] for item in json.loads(done.stdout)["memories"]}


def _anchor_two(folder: Path) -> None:
    for at in ("drive/notes.py", "drive/notes.py:1"):
        done = run("add", f"Notes are numbered, see {at}", "--at", at, folder=folder, RAG_LS_DAEMON_MODE="never")
        assert done.returncode == 0, done.stderr


def test_what_a_sparse_checkout_leaves_out_is_not_gone(repository: Path) -> None:
    write(repository, {"drive/notes.py": "def note():\n    return 1\n"})
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message", "notes")
    _anchor_two(repository)
    git(repository, "sparse-checkout", "set", "src")
    assert set(_states(repository).values()) == {"unknown"}
    git(repository, "sparse-checkout", "disable")
    assert set(_states(repository).values()) == {"fresh"}
    git(repository, "rm", "--quiet", "drive/notes.py")
    git(repository, "sparse-checkout", "set", "src")
    assert set(_states(repository).values()) == {"orphaned"}


def test_what_lies_in_a_folder_that_is_mounted_away_is_not_gone(repository: Path, tmp_path: Path) -> None:
    drive = repository / "drive"
    drive.mkdir()
    away = write(tmp_path / "away", {"notes.py": "def note():\n    return 1\n"})
    mounting = ["mount", "--bind", str(away), str(drive)]
    if subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        assert run("index", folder=repository, RAG_LS_DAEMON_MODE="never").returncode == 0
        _anchor_two(repository)
        assert set(_states(repository).values()) == {"fresh"}
    finally:
        subprocess.run(["umount", str(drive)], check=True)
    assert set(_states(repository).values()) == {"unknown"}


# --- root once, its user after


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    if not IS_ROOT:
        pytest.skip("only root can act as root")
    monkeypatch.setenv("RAG_LS_DAEMON_MODE", "never")


def _owners(*folders: Path) -> set[int]:
    return {each.lstat().st_uid for folder in folders for each in (folder, *folder.rglob("*"))}


@pytest.mark.usefixtures("as_root")
def test_what_root_makes_in_a_folder_belongs_to_its_owner(somebody: Somebody) -> None:
    for command in (("index",), ("add", _NET), ("search", "refunds"), ("add", _REFUNDS, "--scope", "global")):
        assert run(*command, folder=somebody.shop, RAG_LS_HOME=str(somebody.home)).returncode == 0
    assert _owners(somebody.shop, somebody.home / "data") == {_NOBODY}
    assert somebody.listed() == {_NET, _REFUNDS}
    assert somebody.ask("add", "Notes are numbered")["status"] == "inserted"
    assert somebody.ask("search", "total_price")["results"]


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize(
    "left", [".rag-ls", ".rag-ls/index.db", ".rag-ls/sessions", ".rag-ls/index.lock", ".rag-ls/memories.db"]
)
def test_what_root_left_behind_keeps_nobody_from_memories(somebody: Somebody, left: str) -> None:
    """As an earlier version left it, or a container in which the folder has another owner."""
    somebody.ask("add", _NET)
    place = somebody.shop / left
    if place.is_dir():
        for each in place.rglob("*"):
            os.chown(each, 0, 0)
    os.chown(place, 0, 0)
    assert somebody.listed() == {_NET}
    somebody.ask("add", _REFUNDS)
    assert _NET in somebody.run("export", "--project", str(somebody.shop)).stdout
    assert somebody.ask("search", "total_price")["results"]
    note = somebody.ask("status").get("note", "")
    assert left == ".rag-ls/memories.db" or f"{place} was made by another user (root, perhaps)" in note
    somebody.own(somebody.shop)
    assert somebody.listed() == {_NET, _REFUNDS}
    assert "another user" not in somebody.ask("status").get("note", "")


def test_an_index_that_cannot_be_opened_is_made_elsewhere_and_said(somebody: Somebody) -> None:
    (somebody.shop / ".rag-ls/index.db").mkdir(parents=True)
    somebody.own(somebody.shop)
    somebody.ask("add", _NET)
    assert somebody.listed() == {_NET}
    assert "it is a folder; move it away" in somebody.ask("status").get("note", "")


def test_a_link_in_place_of_what_root_makes_changes_no_other_owner(tmp_path: Path) -> None:
    if not IS_ROOT:
        pytest.skip("only root can act as root")
    theirs, roots = tmp_path / "theirs", write(tmp_path, {"roots": "x"}) / "roots"
    theirs.mkdir()
    os.chown(theirs, _NOBODY, _NOBODY)
    (theirs / "link").symlink_to(roots)
    os.link(roots, theirs / "hard")
    for name in ("link", "hard", "missing"):
        give_to_owner(theirs / name)
    assert roots.stat().st_uid == 0
    create_private_file(theirs / "made")
    assert (theirs / "made").stat().st_uid == _NOBODY


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot change the mode of an open file so")
def test_a_link_that_comes_after_the_look_changes_no_other_file_s_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"roots": "x", "theirs/made": "x"})
    (tmp_path / "roots").chmod(0o644)
    looked = os.lstat(tmp_path / "theirs/made")
    (tmp_path / "theirs/made").unlink()
    (tmp_path / "theirs/made").symlink_to(tmp_path / "roots")
    monkeypatch.setattr(os, "lstat", lambda file: looked)
    restrict_to_user(tmp_path / "theirs/made")
    monkeypatch.undo()
    assert stat.S_IMODE((tmp_path / "roots").stat().st_mode) == 0o644
    (tmp_path / "theirs/plain").touch(0o644)
    restrict_to_user(tmp_path / "theirs/plain")
    assert stat.S_IMODE((tmp_path / "theirs/plain").stat().st_mode) == 0o600


# --- what an earlier version, or an engine that took the folder for another one, stored meanwhile


def _listed(folder: Path) -> set[str]:
    done = run("list", "--json", folder=folder, RAG_LS_DAEMON_MODE="never")
    assert done.returncode == 0, done.stderr
    return {item["content"] for item in json.loads(done.stdout)["memories"]}


def _store(folder: Path, content: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    store = open_memories(folder, Scope.PROJECT, Settings())
    Memories({Scope.PROJECT: lambda: store}, utc_now).store(NewMemory(content, Scope.PROJECT), None)
    store.close()


def _home_by_path(root: Path) -> Path:
    """A home such as a folder without git gets."""
    homes = MemoryHomes(user_data_folder() / HOMES_FOLDER, users_trusted_folders())
    return homes.create(Identity(str(root))).folder


def _add(folder: Path, content: str) -> None:
    assert run("add", content, folder=folder, RAG_LS_DAEMON_MODE="never").returncode == 0


def test_what_was_stored_while_git_could_not_be_read_is_taken_over(repository: Path) -> None:
    _add(repository, _NET)
    stray = _home_by_path(repository)
    _store(stray, _REFUNDS)
    assert _listed(repository) == {_NET, _REFUNDS}
    _store(stray, "Stored by an engine that has it open still")
    assert _listed(repository) == {_NET, _REFUNDS, "Stored by an engine that has it open still"}
    git(repository, "clean", "-fdx")
    assert len(_listed(repository)) == 3


def test_what_was_stored_beside_an_index_elsewhere_is_taken_over(repository: Path) -> None:
    _add(repository, _NET)
    _store(Project(repository).data_folder_elsewhere, _REFUNDS)
    assert _listed(repository) == {_NET, _REFUNDS}


def test_memories_of_a_former_project_at_the_path_are_not_taken_over(repository: Path, tmp_path: Path) -> None:
    _add(repository, _NET)
    plain = write(tmp_path / "plain", SHOP)
    _store(_home_by_path(plain), _REFUNDS)
    shutil.rmtree(plain)
    git(tmp_path, "clone", "--quiet", str(repository), "plain")
    trust(plain)
    for _ in range(2):
        assert _listed(plain) == {_NET}


def test_a_damaged_record_of_a_home_hides_no_memory(repository: Path) -> None:
    _add(repository, _NET)
    record = memories_file(repository).with_name("home.json")
    record.write_text("{")
    assert _listed(repository) == {_NET}
    assert json.loads(record.read_text())["roots"] == [str(repository)]
