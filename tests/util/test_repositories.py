"""Which repository a folder belongs to, read from git's files without git."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.util.repositories import Repository, find_repository
from tests.support import git, git_repository, write


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A repository that others would like to be taken for."""
    return git_repository(tmp_path / "private", {"a.py": ""})


def _found(folder: Path) -> Repository:
    found = find_repository(folder)
    assert found is not None
    assert not found.fault
    return found


def test_a_clone_and_its_work_trees_own_their_trees(private: Path, tmp_path: Path) -> None:
    git(private, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    (tmp_path / "link").symlink_to(private)
    for folder in (private, tmp_path / "tree", tmp_path / "link"):
        assert _found(folder).owns_tree
    assert _found(tmp_path / "tree").common.resolve() == private / ".git"


def test_a_submodule_owns_its_tree(private: Path, tmp_path: Path) -> None:
    outer = git_repository(tmp_path / "outer", {"b.py": ""})
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(private), "inner")
    assert _found(outer / "inner").owns_tree


@pytest.mark.parametrize("named", ["../private/.git", "{private}/.git"])
def test_a_folder_that_names_another_repository_is_not_its_tree(private: Path, tmp_path: Path, named: str) -> None:
    write(tmp_path / "foreign", {".git": f"gitdir: {named.format(private=private)}\n"})
    assert not _found(tmp_path / "foreign").owns_tree


@pytest.mark.parametrize("folder", ["evil", ".git"])
def test_a_folder_that_brings_its_own_back_pointer_is_no_work_tree(private: Path, tmp_path: Path, folder: str) -> None:
    foreign = tmp_path / "foreign"
    files = {"HEAD": "ref: refs/heads/main\n", "commondir": f"{private}/.git\n", "gitdir": f"{foreign}/.git\n"}
    write(foreign, {f"{folder}/{name}": text for name, text in files.items()})
    if folder != ".git":
        write(foreign, {".git": f"gitdir: {folder}\n"})
    assert not _found(foreign).owns_tree


def test_a_tree_is_not_owned_after_its_repository_has_forgotten_it(private: Path, tmp_path: Path) -> None:
    git(private, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    (tmp_path / "tree").rename(tmp_path / "moved")
    assert not _found(tmp_path / "moved").owns_tree
