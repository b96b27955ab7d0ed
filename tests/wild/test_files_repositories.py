"""Repositories in repositories: submodules, clones, and work trees, as people have them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.errors import InvalidRequest, NotFound, PathOutsideProject
from rag_ls.indexing import Buffer
from tests.support import PATIENCE_S, git, git_repository, until, write
from tests.wild.project import WildProject

_CART = "from libs.money.money import add_up\n\n\ndef cart_total(items):\n    return add_up(items)\n"
_MONEY = "def add_up(items):\n    return sum(items)\n"


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A library with a library of its own in it, and files that it ignores."""
    deep = git_repository(tmp_path / "deep", {"coin.py": "def wombat_coin():\n    return 1\n"})
    money = git_repository(tmp_path / "money", {".gitignore": "/local.py\n", "money.py": _MONEY})
    add_submodule(money, deep, "deps/coin")
    return money


def add_submodule(root: Path, origin: Path, path: str) -> None:
    """Make a clone of `origin` a submodule, with its own submodules."""
    allow = ("-c", "protocol.file.allow=always")
    git(root, *allow, "submodule", "--quiet", "add", str(origin), path)
    git(root, *allow, "submodule", "--quiet", "update", "--init", "--recursive")
    git(root, "commit", "--quiet", "--all", "--message", f"{path} is a submodule")


def holding(project: WildProject, text: str) -> list[str]:
    """The files that hold a text."""
    return sorted({hit["path"] for hit in project.ask("search_code", query=text, match="exact")["exact"]["places"]})


def skipped(project: WildProject) -> dict[str, str]:
    """What was left out, and why."""
    found = project.ask("index_status", skipped=True)["projects"][0]["skipped_files"]
    return {each["path"]: each["reason"] for each in found}


@pytest.mark.slow
def test_submodules_are_read_by_their_own_rules(client: Client, tmp_path: Path, origin: Path) -> None:
    root = git_repository(tmp_path / "shop", {".gitignore": "money.py\n", "src/cart.py": _CART})
    add_submodule(root, origin, "libs/money")
    write(root, {"libs/money/local.py": "wombat_local = 1\n", "libs/money/new.py": "def wombat_new():\n    pass\n"})
    project = WildProject(client, root, {})
    # The outer rule says nothing of what is in the submodule; its own does.
    assert "libs/money/money.py" in holding(project, "add_up")
    assert holding(project, "wombat_new") == ["libs/money/new.py"]
    assert holding(project, "wombat_coin") == ["libs/money/deps/coin/coin.py"]
    assert holding(project, "wombat_local") == []
    # Uses and impact go through.
    uses = project.ask("find_references", symbol="add_up")["references"]
    assert "src/cart.py" in {use["path"] for use in uses}
    impact = project.ask("rag_query_impact", file_path="libs/money/money.py")
    assert "src/cart.py" in str(impact)
    assert skipped(project) == {}


def test_a_setting_leaves_submodules_out_and_they_are_named(client: Client, tmp_path: Path, origin: Path) -> None:
    root = git_repository(tmp_path / "shop", {"rag-ls.toml": "[index]\nsubmodules = false\n", "src/cart.py": _CART})
    add_submodule(root, origin, "libs/money")
    project = WildProject(client, root, {})
    assert holding(project, "wombat_coin") == []
    assert skipped(project) == {"libs/money": "submodule (index.submodules leaves it out)"}
    assert "libs/money" in project.ask("search_code", query="wombat_coin")["stats"]["note"]
    write(root, {"rag-ls.toml": ""})
    project.session.project.settings_changed()
    project.index()
    assert holding(project, "wombat_coin") == ["libs/money/deps/coin/coin.py"]
    assert skipped(project) == {}


def test_what_is_not_checked_out_and_clones_that_are_none_of_it_are_named(
    client: Client, tmp_path: Path, origin: Path
) -> None:
    root = git_repository(tmp_path / "shop", {"src/cart.py": _CART})
    add_submodule(root, origin, "libs/money")
    git(root, "submodule", "--quiet", "deinit", "--force", "libs/money")
    git(tmp_path, "clone", "--quiet", str(origin), str(root / "clone"))
    git(root, "worktree", "add", "--quiet", ".trees/feature")
    # Folders that are called as git calls its own are ordinary ones.
    for place in ("modules/net", "worktrees/mine"):
        git(tmp_path, "clone", "--quiet", str(origin), str(root / place))
    project = WildProject(client, root, {})
    assert {path: reason.partition(" (")[0] for path, reason in skipped(project).items()} == {
        "libs/money": "submodule without its files", "clone": "other repository", ".trees/feature": "other checkout",
        "modules/net": "other repository", "worktrees/mine": "other repository",
    }  # fmt: skip
    note = project.ask("search_code", query="wombat_coin")["stats"]["note"]
    assert "5 files were not looked at" in note
    # Once it is checked out, it is read.
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
    project.index()
    assert holding(project, "wombat_coin") == ["libs/money/deps/coin/coin.py"]
    assert "libs/money" not in skipped(project)


@pytest.mark.slow
def test_what_git_ignores_in_a_submodule_that_was_given_up_is_not_read_again_and_again(
    client: Client, tmp_path: Path, origin: Path
) -> None:
    root = git_repository(tmp_path / "shop", {"src/cart.py": _CART})
    add_submodule(root, origin, "libs/money")
    project = WildProject(client, root, {})
    git(root, "submodule", "--quiet", "deinit", "--force", "libs/money")
    # As an index of rag-ls, or what was built there.
    write(root, {"libs/money/.rag-ls/index.db": "", "libs/money/build/money.o": ""})
    project.index()
    assert skipped(project) == {"libs/money": "submodule without its files (git submodule update --init)"}
    project.session.indexing.index_tree()
    assert project.session.indexing.wait_until_idle(PATIENCE_S)
    assert not project.session.store.queue.has_any()
    assert project.session.status().complete


@pytest.mark.slow
def test_a_repository_of_submodules_alone_is_read(client: Client, tmp_path: Path, origin: Path) -> None:
    root = git_repository(tmp_path / "all", {})
    for name in ("one", "two"):
        add_submodule(root, origin, name)
    write(root, {"two/money.py": "def wombat_two():\n    return 2\n"})
    project = WildProject(client, root, {})
    assert holding(project, "wombat_two") == ["two/money.py"]
    # A submodule that moved is where it is now.
    git(root, "mv", "two", "moved")
    project.index()
    assert holding(project, "wombat_two") == ["moved/money.py"]


@pytest.mark.slow
def test_changes_in_a_submodule_are_seen_and_its_head_may_move(client: Client, tmp_path: Path, origin: Path) -> None:
    root = git_repository(tmp_path / "shop", {"src/cart.py": _CART})
    add_submodule(root, origin, "libs/money")
    project = WildProject(client, root, {})
    assert until(lambda: project.session.project.sync_state == "watching")
    inner = root / "libs/money"
    write(inner, {"pkg/zebra.py": "def zebra_price():\n    return 1\n"})
    assert until(lambda: holding(project, "zebra_price") == ["libs/money/pkg/zebra.py"])
    git(inner, "add", "--all")
    git(inner, "commit", "--quiet", "--message", "zebra")
    git(inner, "checkout", "--quiet", "HEAD~1")
    assert until(lambda: holding(project, "zebra_price") == [])
    write(inner, {"local.py": "def zebra_local():\n    return 1\n", "seen.py": "def zebra_seen():\n    return 1\n"})
    assert until(lambda: holding(project, "zebra_seen") == ["libs/money/seen.py"])
    assert holding(project, "zebra_local") == []


def test_a_submodule_s_file_that_an_editor_opens_and_closes_stays(client: Client, tmp_path: Path, origin: Path) -> None:
    root = git_repository(tmp_path / "shop", {"src/cart.py": _CART})
    add_submodule(root, origin, "libs/money")
    project = WildProject(client, root, {})
    session = project.session
    session.buffer_changed(Buffer("libs/money/money.py", _MONEY + "\n\ndef wombat_typed():\n    pass\n"))
    assert until(lambda: holding(project, "wombat_typed") == ["libs/money/money.py"])
    session.buffer_closed("libs/money/money.py")
    assert until(lambda: holding(project, "wombat_typed") == [])
    assert "libs/money/money.py" in holding(project, "add_up")


def test_a_link_in_the_place_of_a_submodule_is_not_followed(client: Client, tmp_path: Path, origin: Path) -> None:
    root = git_repository(tmp_path / "shop", {"src/cart.py": _CART})
    add_submodule(root, origin, "libs/money")
    shutil.rmtree(root / "libs/money")
    (root / "libs/money").symlink_to(origin)
    project = WildProject(client, root, {})
    assert holding(project, "add_up") == ["src/cart.py"]


def test_of_one_repository_in_a_folder_of_clones_the_clone_itself_is_read(client: Client, tmp_path: Path) -> None:
    work, other = tmp_path / "work", git_repository(tmp_path / "seed", {"fee.py": "def wombat_fee():\n    return 1\n"})
    work.mkdir()
    git(work, "clone", "--quiet", str(other), "shop")
    git(work / "shop", "worktree", "add", "--quiet", "-b", "feature", str(work / "a-feature"))
    git_repository(work / "blog", {"post.py": "def wombat_post():\n    return 1\n"})
    project = WildProject(client, work, {})
    assert holding(project, "wombat_fee") == ["shop/fee.py"]
    assert holding(project, "wombat_post") == ["blog/post.py"]
    assert list(skipped(project)) == ["a-feature"]
    assert holding(project, "gitdir") == []
    # One whose repository has forgotten it is still no clone of its own.
    shutil.rmtree(work / "shop/.git/worktrees")
    project.index()
    assert holding(project, "wombat_fee") == ["shop/fee.py"]


def test_a_path_in_another_checkout_is_refused_by_the_name_of_that_checkout(
    client: Client, tmp_path: Path, origin: Path
) -> None:
    root = tmp_path / "shop"
    git(tmp_path, "clone", "--quiet", str(origin), str(root))
    git(root, "worktree", "add", "--quiet", "-b", "inside", "wt/inside")
    git(root, "worktree", "add", "--quiet", "-b", "outside", str(tmp_path / "outside"))
    git(tmp_path, "clone", "--quiet", str(origin), str(tmp_path / "clone"))
    project = WildProject(client, root, {"main.py": "def main():\n    return 1\n"})
    places = {
        "wt/inside/money.py": f"another work tree of this repository, {root / 'wt/inside'}",
        str(root / "wt/inside/money.py"): f"another work tree of this repository, {root / 'wt/inside'}",
        str(tmp_path / "outside/money.py"): f"another work tree of this repository, {tmp_path / 'outside'}",
        str(tmp_path / "clone/money.py"): f"another checkout, {tmp_path / 'clone'}",
    }
    for path, told in places.items():
        for operation, arguments in (
            ("get_chunk", {"id": f"{path}:1"}), ("rag_query_impact", {"file_path": path}), ("list_symbols", {"path": path}),
            ("find_references", {"path": path, "line": 1}), ("related_tests", {"path": path, "line": 1}),
            ("find_related", {"path": path, "line": 1}),
        ):  # fmt: skip
            with pytest.raises((NotFound, PathOutsideProject), match=re.escape(told)):
                project.ask(operation, **arguments)
        for match in ("auto", "exact"):
            answer = project.ask("search_code", query="add_up", path_glob=path, match=match)
            assert (answer["results"], told in str(answer)) == ([], True)
    for path in ("wt/inside/money.py", str(root / "wt/inside/money.py")):
        # Nothing here ever learns whether that file has changed.
        with pytest.raises(InvalidRequest, match="another work tree of this repository"):
            project.ask("store_memory", content="Sums are exact.", scope="project", source_file=path, line=1)
    # A file that is nowhere is not said to be elsewhere.
    with pytest.raises(NotFound, match="is not in the index"):
        project.ask("list_symbols", path="nowhere.py")


def test_a_path_in_a_known_checkout_is_answered_from_it(client: Client, tmp_path: Path, origin: Path) -> None:
    root, other = tmp_path / "shop", tmp_path / "shop/wt/other"
    git(tmp_path, "clone", "--quiet", str(origin), str(root))
    git(root, "worktree", "add", "--quiet", "-b", "other", str(other))
    # Indexed once, it is known.
    WildProject(client, other, {"money.py": "def only_here():\n    return 1\n"})
    client.close_project(other)
    project = WildProject(client, root, {})
    path = str(other / "money.py")
    for glob in (path, f"{other}/*.py", f"{other}/**", str(other)):
        for match in ("auto", "exact"):
            found = project.ask("search_code", query="only_here", path_glob=glob, match=match)
            files = [hit["file"] for hit in found["results"]] or [place["file"] for place in found["exact"]["places"]]
            assert files[0] == path
            assert all(file.startswith(f"{other}/") for file in files)
        symbols = project.ask("list_symbols", path_glob=glob)["symbols"]
        assert [each["symbol"] for each in symbols] == ["only_here"]
    assert "only_here" in project.ask("get_chunk", id=f"{path}:1")["text"]
    assert [each["symbol"] for each in project.ask("list_symbols", path=path)["symbols"]] == ["only_here"]
    assert project.ask("rag_query_impact", file_path=path)["exports"] == ["only_here"]


def test_a_bare_repository_is_said_to_have_no_files(client: Client, tmp_path: Path) -> None:
    """It looks like an empty project: "nothing is close" would deny what nobody has looked at."""
    origin = git_repository(tmp_path / "origin", {"cart.py": "def cart_total(): ...\n"})
    git(tmp_path, "clone", "--quiet", "--bare", str(origin), "shop.git")
    project = WildProject(client, tmp_path / "shop.git", {})
    note = project.ask("search_code", query="cart_total")["stats"]["note"]
    assert "is a bare repository" in note
    assert "git worktree add" in note


def test_what_a_sparse_checkout_leaves_out_is_named(client: Client, tmp_path: Path) -> None:
    files = {f"{name}/deep/m.py": f"def wombat_{name}():\n    return 1\n" for name in ("near", "far", "farther")}
    root = git_repository(tmp_path / "shop", files)
    git(root, "sparse-checkout", "set", "near")
    project = WildProject(client, root, {})
    assert holding(project, "def wombat") == ["near/deep/m.py"]
    assert set(skipped(project)) == {"far", "farther"}
    assert "`git sparse-checkout add` brings it" in skipped(project)["far"]
    assert project.ask("index_status")["projects"][0]["complete"] is True
    note = project.ask("search_code", query="kangaroo")["stats"]["note"]
    assert "2 not checked out" in note
    git(root, "sparse-checkout", "disable")
    project.index()
    assert len(holding(project, "def wombat")) == 3
    assert skipped(project) == {}
