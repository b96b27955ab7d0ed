"""What differs from a commit is what git says, without git's filters."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_ls.errors import InvalidRequest
from rag_ls.rules.checks.project import changed_files
from rag_ls.rules.diffs import read_changes
from rag_ls.util.git import GitSilent
from rag_ls.util.git_changes import ChangeStatus, Difference, list_differences
from tests.support import git, git_repository, write

_FILES = {"a.py": "x = 1\ny = 2\nz = 3\n", "b.py": "y = 1\n", "sub/c.py": "z = 1\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository in which nothing differs, with an index older than any change to come."""
    root = git_repository(tmp_path / "project", _FILES)
    for path in (*_FILES, ".git/index"):
        os.utime(root / path, (1_700_000_000 + path.startswith("."),) * 2)
    return root


def _differences(root: Path) -> dict[str, str]:
    return {each.path: each.status for each in list_differences(root, "HEAD")}


def _touch(root: Path) -> None:
    os.utime(root / "a.py")


def _use_line_ends_of_windows(root: Path) -> None:
    write(root, {"a.py": _FILES["a.py"].replace("\n", "\r\n")})


def _stage_and_take_back(root: Path) -> None:
    write(root, {"a.py": "x = 2\n"})
    git(root, "add", "a.py")
    write(root, {"a.py": _FILES["a.py"]})


def _leave_out(root: Path) -> None:
    git(root, "update-index", "--skip-worktree", "a.py")
    (root / "a.py").unlink()


def _add_and_remove(root: Path) -> None:
    write(root, {"new.py": "n = 1\n"})
    git(root, "add", "new.py")
    (root / "new.py").unlink()


@pytest.mark.parametrize(
    "change", [_touch, _use_line_ends_of_windows, _stage_and_take_back, _leave_out, _add_and_remove]
)
def test_what_holds_the_same_does_not_differ(root: Path, change: Callable[[Path], None]) -> None:
    change(root)
    assert _differences(root) == {}


def test_each_way_to_differ_is_told(root: Path) -> None:
    write(root, {"a.py": "x = 3\n", "new.py": "", "planned.py": "p = 1\n"})
    git(root, "add", "--intent-to-add", "planned.py")
    git(root, "mv", "sub/c.py", "sub/d.py")
    (root / "b.py").unlink()
    assert set(list_differences(root, "HEAD")) == {
        Difference("a.py", "a.py", ChangeStatus.CHANGED),
        Difference("b.py", "b.py", ChangeStatus.DELETED),
        Difference("sub/d.py", "sub/c.py", ChangeStatus.RENAMED),
        Difference("new.py", "", ChangeStatus.ADDED),
        Difference("planned.py", "", ChangeStatus.ADDED),
    }
    assert _differences(root / "sub") == {"d.py": ChangeStatus.RENAMED}


def test_a_file_of_the_same_size_whose_time_was_put_back_differs(root: Path) -> None:
    before = (root / "b.py").stat()
    write(root, {"b.py": "y = 2\n"})
    os.utime(root / "b.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert _differences(root) == {"b.py": ChangeStatus.CHANGED}


def test_what_a_link_in_a_folder_s_place_leads_to_is_not_compared(root: Path, tmp_path: Path) -> None:
    write(tmp_path, {"outside/c.py": "z = 1\n"})
    (root / "sub/c.py").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(tmp_path / "outside")
    assert _differences(root) == {"sub/c.py": ChangeStatus.DELETED, "sub": ChangeStatus.ADDED}


def test_a_link_differs_once_it_leads_elsewhere(root: Path) -> None:
    (root / "link").symlink_to("a.py")
    git(root, "add", "link")
    git(root, "commit", "--quiet", "--message", "link")
    assert _differences(root) == {}
    (root / "link").unlink()
    (root / "link").symlink_to("b.py")
    assert _differences(root) == {"link": ChangeStatus.CHANGED}
    (root / "link").unlink()
    write(root, {"link": "a.py"})
    assert _differences(root) == {"link": ChangeStatus.CHANGED}


def test_an_unfinished_merge_differs(root: Path) -> None:
    git(root, "checkout", "--quiet", "-b", "other")
    write(root, {"a.py": "x = 4\n"})
    git(root, "commit", "--quiet", "--all", "--message", "other")
    git(root, "checkout", "--quiet", "-")
    write(root, {"a.py": "x = 5\n"})
    git(root, "commit", "--quiet", "--all", "--message", "own")
    with pytest.raises(Exception, match="merge"):
        git(root, "merge", "other")
    assert [each.path for each in list_differences(root, "HEAD")] == ["a.py"]


def test_a_repository_with_longer_hashes_is_compared_alike(tmp_path: Path) -> None:
    (tmp_path / "long").mkdir()
    git(tmp_path / "long", "init", "--quiet", "--object-format=sha256")
    root = git_repository(tmp_path / "long", _FILES)
    assert _differences(root) == {}
    write(root, {"a.py": "x = 2\n"})
    assert _differences(root) == {"a.py": ChangeStatus.CHANGED}


def test_a_file_with_a_filter_differs_once_its_stamps_do(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--quiet")
    git(root, "config", "filter.mine.clean", "tr a-z A-Z")
    write(root, {".gitattributes": "*.dat filter=mine\n", "a.dat": "a\n"})
    for path in (".gitattributes", "a.dat"):
        os.utime(root / path, (1_700_000_000,) * 2)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "first")
    assert git(root, "show", "HEAD:a.dat") == "A\n"
    assert _differences(root) == {}
    os.utime(root / "a.dat")
    assert _differences(root) == {"a.dat": ChangeStatus.CHANGED}


def test_a_folder_in_a_file_s_place_is_no_change_of_it(root: Path) -> None:
    (root / "a.py").unlink()
    write(root, {"a.py/b.py": "x = 1\n"})
    assert _differences(root) == {"a.py": ChangeStatus.DELETED, "a.py/b.py": ChangeStatus.ADDED}


def test_a_file_that_is_said_to_be_as_in_the_index_differs_where_that_does(root: Path) -> None:
    write(root, {"a.py": "x = 2\n"})
    git(root, "commit", "--quiet", "--all", "--message", "second")
    git(root, "update-index", "--assume-unchanged", "a.py")
    assert _differences(root) == {}
    assert list(list_differences(root, "HEAD~1")) == [Difference("a.py", "a.py", ChangeStatus.CHANGED)]


def test_a_file_that_a_merge_brings_although_it_was_deleted_is_new(root: Path) -> None:
    git(root, "checkout", "--quiet", "-b", "other")
    write(root, {"a.py": "x = 4\n"})
    git(root, "commit", "--quiet", "--all", "--message", "other")
    git(root, "checkout", "--quiet", "-")
    git(root, "rm", "--quiet", "a.py")
    git(root, "commit", "--quiet", "--message", "own")
    with pytest.raises(Exception, match="merge"):
        git(root, "merge", "other")
    assert list(list_differences(root, "HEAD")) == [Difference("a.py", "", ChangeStatus.ADDED)]


def test_a_file_that_cannot_be_looked_at_is_not_called_deleted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.lstat

    def fail(file: str | os.PathLike[str], **options: int) -> os.stat_result:
        if os.fspath(file) == str(root / "sub/c.py"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), os.fspath(file))
        return real(file, **options)

    monkeypatch.setattr(os, "lstat", fail)
    assert ChangeStatus.DELETED not in _differences(root).values()


@pytest.mark.parametrize("revision", ["a\0b", "\ud800", "a" * 300_000])
def test_what_no_program_can_be_given_is_no_revision(root: Path, revision: str) -> None:
    with pytest.raises(GitSilent, match="cannot be asked"):
        list(list_differences(root, revision))
    for ask in (read_changes, changed_files):
        with pytest.raises(InvalidRequest):
            ask(root, revision)
