"""Folders that cannot be read: what could not be looked at is kept, and said to be unknown."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.indexing import is_all_known, scan_tree
from rag_ls.storage import CheckoutIndex
from tests.support import IS_ROOT, git_repository, until, write
from tests.wild.project import WildProject

_NOBODY = 65534
_FILES = {
    "src/a.py": "def apple():\n    return 1\n",
    "src/deep/b.py": "def banana():\n    return 2\n",
    "c.py": "cherry = 3\n",
}

as_root = pytest.mark.skipif(not IS_ROOT or os.name != "posix", reason="only root can become another user, and mount")


@contextlib.contextmanager
def nobody(store: CheckoutIndex) -> Iterator[None]:
    """This process as a user who may read what is open to all; this thread keeps its connection to the store, which it could not open."""
    with store._database.in_use() as connection:
        assert connection
        os.seteuid(_NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that all users can reach."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def status(project: WildProject) -> dict[str, object]:
    """How the project stands."""
    found: dict[str, object] = project.ask("index_status", skipped=True)["projects"][0]
    return found


@as_root
@pytest.mark.parametrize("has_git", [True, False])
@pytest.mark.parametrize("closed", ["src", "src/deep", "."])
def test_a_folder_that_cannot_be_read_any_more_keeps_its_files(
    client: Client, place: Path, has_git: bool, closed: str
) -> None:
    root = (git_repository if has_git else write)(place / "shop", _FILES)
    write(root, {"src/deep/new.py": "def damson():\n    return 4\n"})
    project = WildProject(client, root, {})
    held = {*_FILES, "src/deep/new.py"}
    store = project.session.store
    assert set(store.documents()) >= held
    (root / closed).chmod(0o600)
    with nobody(store):
        opened = project.session.project
        # What each answer tells, as far as nobody but this user looks: a question of root's looks again.
        scan_tree(opened.folder, opened.index.checkout, opened.documents, opened.exclusions.patterns)
        assert not is_all_known(store)
        assert "cannot be looked at" in opened.exclusions.note
        assert "unreadable" in store.skipped_counts()
    assert set(store.documents()) >= held
    # Once it can be read again, nothing is unknown, and what is gone is gone.
    (root / closed).chmod(0o755)
    (root / "src/deep/new.py").unlink()
    project.index()
    found = status(project)
    assert (found["complete"], found["skipped"], found.get("note", "")) == (True, {}, "")
    assert "src/deep/new.py" not in store.documents()


def test_a_folder_in_a_file_s_place_and_special_files_do_no_harm(client: Client, tmp_path: Path) -> None:
    root = git_repository(tmp_path / "shop", {"a.py": "apple = 1\n", "b.py": "banana = 1\n"})
    (root / "a.py").unlink()
    write(root, {"a.py/inner.py": "cherry = 1\n"})
    os.mkfifo(root / "pipe.py")
    (root / "loop.py").symlink_to("loop.py")
    (root / "round").symlink_to(root)
    project = WildProject(client, root, {})
    assert project.search("cherry") == ["a.py/inner.py"]
    assert set(project.session.store.documents()) == {"a.py/inner.py", "b.py"}
    assert status(project)["skipped"] == {"symbolic link": 2}
    assert status(project)["complete"] is True


@pytest.mark.skipif(sys.platform != "linux", reason="about the longest path of Linux")
@pytest.mark.parametrize("prepare", [git_repository, write])
def test_a_path_that_is_too_long_to_be_opened_is_told_and_not_tried_by_each_scan(
    client: Client, tmp_path: Path, prepare: Callable[..., Path]
) -> None:
    root = prepare(tmp_path / "shop", _FILES)
    folder = os.open(root, os.O_RDONLY)
    for _ in range(43):
        os.mkdir("d" * 100, dir_fd=folder)
        inner = os.open("d" * 100, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(os.open("deep.py", os.O_CREAT, dir_fd=folder))
    os.close(folder)
    project = WildProject(client, root, {})
    opened = project.session.project
    for _ in range(2):
        assert status(project)["skipped"] == {"unreadable": 1}
        assert scan_tree(opened.folder, opened.index.checkout, opened.documents, opened.exclusions.patterns).queued == 0
    assert status(project)["complete"] is True


@as_root
def test_a_file_that_alone_cannot_be_read_is_unknown_and_not_tried_by_each_scan(client: Client, place: Path) -> None:
    root = git_repository(place / "shop", _FILES)
    project = WildProject(client, root, {})
    store, opened = project.session.store, project.session.project
    (root / "c.py").chmod(0)
    with nobody(store):
        found = [
            scan_tree(opened.folder, opened.index.checkout, opened.documents, opened.exclusions.patterns) for _ in "12"
        ]
    assert [each.queued for each in found] == [0, 0]
    assert not is_all_known(store)
    assert "c.py" in store.documents()
    (root / "c.py").chmod(0o644)
    project.index()
    assert status(project)["complete"] is True


@pytest.mark.slow
@as_root
@pytest.mark.parametrize("closed", ["src", "src/deep", "c.py"])
def test_what_can_be_read_again_is_found_by_the_next_question(client: Client, place: Path, closed: str) -> None:
    root = git_repository(place / "shop", _FILES)
    project = WildProject(client, root, {})
    opened, store = project.session.project, project.session.store
    (root / closed).chmod(0)
    with nobody(store):
        scan_tree(opened.folder, store, opened.documents, opened.exclusions.patterns)
    assert not is_all_known(store)
    (root / closed).chmod(0o755)
    assert until(lambda: status(project)["complete"] is True)
    assert status(project)["skipped"] == {}
