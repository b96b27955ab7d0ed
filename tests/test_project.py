"""Where a project's files and data are, and the guard that keeps every path inside it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from rag_ls.errors import NotIndexed, PathOutsideProject, ProjectUnavailable, RagLsError
from rag_ls.locations import user_config_file, user_data_folder
from rag_ls.project import Project, check_may_become_project, existing_project, find_project, is_guest, shared_name
from tests.support import git, write


def test_the_nearest_data_folder_marks_the_root(tmp_path: Path) -> None:
    write(tmp_path, {"outer/.git/HEAD": "", "outer/inner/.rag-ls/x": "", "outer/inner/src/a.py": ""})
    assert find_project(tmp_path / "outer/inner/src").root == tmp_path / "outer/inner"
    assert find_project(tmp_path / "outer/inner/src/a.py").root == tmp_path / "outer/inner"
    assert find_project(tmp_path / "outer").root == tmp_path / "outer"


def test_a_repository_inside_a_project_is_one_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, {"outer/.rag-ls/x": "", "outer/inner/.git/HEAD": ""})
    assert find_project(tmp_path / "outer/inner").root == tmp_path / "outer/inner"


def test_home_and_the_like_are_no_projects_unless_somebody_made_one_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path, {".git/HEAD": "", "notes/a.md": "", "work/.git/HEAD": ""})
    for folder in (tmp_path, tmp_path / "notes", Path("/"), Path("/tmp")):
        with pytest.raises(NotIndexed, match="is no project"):
            existing_project(folder)
    assert existing_project(tmp_path / "work").root == tmp_path / "work"
    for folder in (tmp_path, Path("/"), Path("/tmp")):
        with pytest.raises(NotIndexed, match="rag-ls index"):
            check_may_become_project(folder)
    check_may_become_project(tmp_path / "notes")
    write(tmp_path, {".rag-ls/index.db": ""})
    assert existing_project(tmp_path / "notes").root == tmp_path
    check_may_become_project(tmp_path)


def test_without_a_mark_the_folder_itself_is_the_project(tmp_path: Path) -> None:
    write(tmp_path, {"plain/a.py": ""})
    assert find_project(tmp_path / "plain").root == tmp_path / "plain"
    assert find_project(tmp_path / "plain/a.py").root == tmp_path / "plain"


def test_a_git_worktree_is_a_project(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "other")
    assert find_project(tmp_path / "tree/src").root == tmp_path / "tree"


def test_the_folder_of_user_level_state_is_no_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LS_HOME", str(tmp_path / ".rag-ls"))
    write(tmp_path, {".rag-ls/data/memories.db": "", "work/a.py": ""})
    assert find_project(tmp_path / "work").root == tmp_path / "work"


def test_a_folder_that_does_not_exist_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ProjectUnavailable, match="missing"):
        find_project(tmp_path / "missing")


def test_a_link_to_a_project_is_that_project(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(shop)
    project = find_project(tmp_path / "link")
    assert project.root == shop
    assert project.relative(tmp_path / "link/src/auth.py") == "src/auth.py"


@pytest.mark.parametrize(
    ("path", "relative"),
    [
        ("src/auth.py", "src/auth.py"), ("./src//auth.py", "src/auth.py"), ("src/../docs/guide.md", "docs/guide.md"),
        ("new/file.py", "new/file.py"), ("..hidden", "..hidden"), (".", "."),
    ],
)  # fmt: skip
def test_paths_inside_are_made_relative(shop: Path, path: str, relative: str) -> None:
    project = Project(shop)
    assert project.relative(path) == relative
    assert project.relative(f"{shop}/{path}") == relative


@pytest.mark.parametrize("path", ["..", "../other.py", "src/../../x", "/etc/passwd", "/", "src/../../shop-sibling/x"])
def test_paths_outside_are_refused_by_name(shop: Path, path: str) -> None:
    with pytest.raises(PathOutsideProject, match="outside the project"):
        Project(shop).relative(path)


def test_a_sibling_whose_name_begins_alike_is_outside(shop: Path) -> None:
    with pytest.raises(PathOutsideProject):
        Project(shop).relative(f"{shop}-other/a.py")


def test_links_that_lead_out_are_refused_and_links_inside_are_not(shop: Path, tmp_path: Path) -> None:
    write(tmp_path, {"outside/a.py": ""})
    (shop / "out").symlink_to(tmp_path / "outside")
    (shop / "out.py").symlink_to(tmp_path / "outside/a.py")
    (shop / "in").symlink_to(shop / "src")
    for path in ("out/a.py", "out/new.py", "out.py", "out"):
        with pytest.raises(PathOutsideProject):
            Project(shop).relative(path)
    assert Project(shop).relative("in/auth.py") == "in/auth.py"


def test_a_path_with_a_nul_is_refused_as_bad_input(shop: Path) -> None:
    with pytest.raises(RagLsError):
        Project(shop).relative("src/\0.py")


def test_the_data_folder_is_the_user_s_alone_and_ignored_by_git(repository: Path) -> None:
    for _ in range(2):
        folder = Project(repository).create_data_folder()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert (folder / ".gitignore").read_text() == "*\n"
        folder.chmod(0o755)
    assert git(repository, "status", "--porcelain") == ""


def test_a_data_folder_that_cannot_be_made_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    write(tmp_path, {".rag-ls": "a file in the way"})
    with pytest.raises(ProjectUnavailable, match="is a file; remove it, rag-ls makes a folder there"):
        Project(tmp_path).create_data_folder()
    assert (tmp_path / ".rag-ls").read_text() == "a file in the way"


def test_where_neither_the_project_nor_the_home_can_hold_the_index_the_remedy_is_another_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root is refused nothing, so the project's path is too long here, and a file is in the place of the home.
    (tmp_path / "file").touch()
    monkeypatch.setenv("RAG_LS_HOME", str(tmp_path / "file" / "home"))
    root = tmp_path.joinpath("d" * 200, "e" * 200, "f" * 100)
    root.mkdir(parents=True)
    with pytest.raises(ProjectUnavailable, match="set RAG_LS_HOME to a folder of your own"):
        Project(root).create_data_folder()


def test_all_user_level_state_is_below_the_home_that_the_environment_names(home: Path) -> None:
    assert user_config_file() == home / "config/config.toml"
    assert user_data_folder() == home / "data"


def test_guests_are_absolute_paths_and_uris() -> None:
    assert [path for path in ("/x/a.py", "untitled:1", "git:/a.py", "src/a.py", "src/a:b.py") if is_guest(path)] == [
        "/x/a.py", "untitled:1", "git:/a.py",
    ]  # fmt: skip


def test_a_data_folder_that_is_a_link_is_refused(shop: Path, tmp_path: Path) -> None:
    """A cloned repository may bring one that leads anywhere."""
    (tmp_path / "elsewhere").mkdir()
    (shop / ".rag-ls").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ProjectUnavailable, match="symbolic link"):
        Project(shop).create_data_folder()
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("git@github.com:acme/shop.git", "github.com/acme/shop"),
        ("https://github.com/acme/shop", "github.com/acme/shop"),
        ("https://me:secret@GitHub.com/acme/shop.git/", "github.com/acme/shop"),
        ("ssh://git@git.example.com:2222/team/a/shop.git", "git.example.com/team/a/shop"),
        ("https://user:p@ss@host.com/acme/x", "host.com/acme/x"),
        ("https://a.b@corp.com:token@github.com/acme/x", "github.com/acme/x"),
        ("https://user:pa/ss@host.com/acme/x", "clone"),
        ("git@gitserver:acme/shop.git", "gitserver/acme/shop"),
        ("ssh://git@localhost:2222/shop.git", "clone"),
        ("file:///srv/git/shop.git", "clone"),
        ("/srv/git/shop.git", "clone"),
        ("../elsewhere", "clone"),
        ("", "clone"),
    ],
)
def test_a_project_has_one_name_for_all_who_cloned_it(address: str, name: str, tmp_path: Path) -> None:
    root = tmp_path / "clone"
    (root / "part" / "inner").mkdir(parents=True)
    assert shared_name(root) == "clone", "without git too"
    git(root, "init", "-q")
    if address:
        git(root, "remote", "add", "origin", address)
    assert shared_name(root) == name
    inner = shared_name(root / "part" / "inner")
    assert inner == ("inner" if name == "clone" else f"{name}#part/inner")
