"""Several projects: named one by one, together or all, and the list of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.engine.client import Client, local_client
from rag_ls.engine.engine import About
from rag_ls.errors import InvalidRequest, NotFound, ProjectUnavailable
from rag_ls.locations import user_config_file
from rag_ls.operations import Operations
from tests.support import PATIENCE_S, git_repository, write


def _configure(text: str) -> None:
    user_config_file().parent.mkdir(parents=True, exist_ok=True)
    user_config_file().write_text(text)


@pytest.fixture
def roots(tmp_path: Path) -> dict[str, Path]:
    """Three projects with the same file names, two of them listed by the user's settings under one name."""
    found = {
        name: write(
            tmp_path / name,
            {"src/price.py": f"def price_of_{name}():\n    return {number}\n", "same.py": "def price():\n    pass\n"},
        )
        for number, name in enumerate(("api", "web", "zoo"))
    }
    _configure(f'[[projects]]\nname = "shop"\nroots = ["{found["api"]}", "{found["web"]}"]\n')
    return found


@pytest.fixture
def operations(client: Client, roots: dict[str, Path]) -> Operations:
    """The operations on a client that has one of them open; all are indexed."""
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    client.open(roots["zoo"])
    assert operations.run("scan", {"project": ["zoo", "shop"]})["complete"]
    return operations


def _found(operations: Operations, project: object = None) -> set[tuple[str, str]]:
    """The projects and symbols of the hits for a question that fits all."""
    answer = operations.run("search_code", {"query": "price", "k": 20, "project": project})
    return {(hit.get("project", ""), hit["symbol"]) for hit in answer["results"]}


@pytest.mark.slow
def test_a_search_in_one_project_gives_its_rows_alone(operations: Operations, roots: dict[str, Path]) -> None:
    for name, root in roots.items():
        assert _found(operations, name) == {("", f"price_of_{name}"), ("", "price")}
        assert _found(operations, str(root)) == _found(operations, name)


def test_a_search_in_several_says_which_project_each_hit_is_from(
    operations: Operations, roots: dict[str, Path]
) -> None:
    rows = {name: {(str(root), symbol) for symbol in (f"price_of_{name}", "price")} for name, root in roots.items()}
    assert _found(operations, "shop") == rows["api"] | rows["web"]
    assert _found(operations, ["web", "zoo"]) == rows["web"] | rows["zoo"]
    assert _found(operations, "all") == rows["api"] | rows["web"] | rows["zoo"]


def test_a_project_that_was_named_is_not_asked_without_its_name(operations: Operations, client: Client) -> None:
    assert _found(operations, "api")
    assert _found(operations) == {("", "price_of_zoo"), ("", "price")}
    chunk = operations.run("search_code", {"query": "price_of_api", "project": "api"})["results"][0]
    assert operations.run("get_chunk", {"id": chunk["id"]})["symbol"] == "price_of_api"
    assert [view.project.name for view in client.projects()] == ["zoo"]


def test_an_unknown_name_is_refused_with_the_known_ones(operations: Operations) -> None:
    for name in ("search_code", "scan"):
        with pytest.raises(NotFound, match="called 'third'; known are zoo, api, web, shop"):
            operations.run(name, {"project": ["zoo", "third"], **({"query": "x"} if name == "search_code" else {})})
    with pytest.raises(InvalidRequest, match="list of strings"):
        operations.run("search_code", {"query": "x", "project": {}})
    with pytest.raises(InvalidRequest, match="name a project, or all"):
        operations.run("scan", {"project": ""})


def test_without_an_open_project_one_may_be_named(roots: dict[str, Path], client: Client) -> None:
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    assert operations.run("scan", {"project": "web", "words_only": True})["projects"][0]["documents"] == 2
    assert _found(operations, "web") == {("", "price_of_web"), ("", "price")}
    with pytest.raises(ProjectUnavailable, match="open a folder"):
        _found(operations)


def test_projects_are_listed_with_what_they_hold(operations: Operations, roots: dict[str, Path]) -> None:
    repos = {repo["root"]: repo for repo in operations.run("list_repos")["repos"]}
    assert list(repos) == [str(root) for root in roots.values()]
    api, zoo = repos[str(roots["api"])], repos[str(roots["zoo"])]
    assert (api["name"], api["source"], api["open"], api["documents"], api["complete"]) == (
        "shop", "config", False, 2, True,
    )  # fmt: skip
    assert (zoo["name"], zoo["source"], zoo["open"], zoo["chunks"], zoo["branch"]) == ("zoo", "opened", True, 2, "")


def test_a_list_tells_of_missing_folders_and_other_branches(client: Client, tmp_path: Path) -> None:
    root = git_repository(tmp_path / "mono", {"a.py": "alpha = 1\n"})
    _configure(f'[[projects]]\nname = "mono"\nroots = ["{root}", "{tmp_path / "gone"}"]\nbranch = "no-such-branch"\n')
    mono, gone = Operations(client).run("list_repos")["repos"]
    assert (mono["documents"], mono["complete"], mono["branch"]) == (0, False, (root / ".git/HEAD").read_text()[16:-1])
    assert "indexed in the background on no-such-branch alone" in mono["note"]
    assert (gone["missing"], gone["documents"]) == (True, 0)
    assert not (root / ".rag-ls").exists()
    with pytest.raises(ProjectUnavailable, match="gone"):
        Operations(client).run("scan", {"project": "mono"})


def test_a_project_is_added_by_name(client: Client, roots: dict[str, Path], tmp_path: Path) -> None:
    operations = Operations(client)
    added = operations.run("add_project", {"path": str(roots["zoo"]), "name": "animals"})
    assert (added["name"], added["root"], added["source"]) == ("animals", str(roots["zoo"]), "opened")
    assert operations.run("scan", {"project": "animals", "words_only": True})["projects"][0]["documents"] == 2
    assert operations.run("add_project", {"path": str(roots["api"])})["source"] == "config"
    other = write(tmp_path / "other", {"a.py": ""})
    for path, name, message in (
        (tmp_path / "missing", "", "not a folder"), (roots["zoo"] / "same.py", "", "not a folder"),
        (other, "all", "cannot be a project's name"), (other, "a/b", "cannot be a project's name"),
        (other, "animals", "is called 'animals' already"), (other, "shop", "is called 'shop' already"),
        (roots["api"], "mine", "change its name there"),
    ):  # fmt: skip
        with pytest.raises((InvalidRequest, ProjectUnavailable), match=message):
            operations.run("add_project", {"path": str(path), "name": name})


# --- removal


@pytest.fixture
def removing() -> Iterator[Operations]:
    """The operations on another engine, which has none of the projects open."""
    client = local_client()
    yield Operations(client)
    client.close()


def _data(root: Path) -> set[str]:
    if not (root / ".rag-ls").exists():
        return set()
    files = {file.name for file in (root / ".rag-ls").iterdir() if file.is_file()}
    return files - {".gitignore", "index.lock", "memories.id"}


def test_removing_deletes_what_is_derived_and_keeps_sources_and_memories(
    operations: Operations, client: Client, removing: Operations, roots: dict[str, Path]
) -> None:
    operations.run("store_memory", {"content": "Animals are priced by weight", "scope": "project"})
    client.close()
    plan = removing.run("plan_removal", {"project": "zoo"})
    (item,) = plan["projects"]
    assert (item["documents"], item["memories"], item["config"], item["reason"]) == (2, 1, None, "asked for")
    assert item["embeddings"] > 0
    assert item["bytes"] > 0
    assert "index.db" in _data(roots["zoo"])
    removing.run("remove_projects", {"roots": [item["root"]]})
    assert _data(roots["zoo"]) == {"memories.db", "memories.seal"}
    assert (roots["zoo"] / "src/price.py").exists()
    assert "zoo" not in {repo["name"] for repo in removing.run("list_repos")["repos"]}
    with pytest.raises(NotFound, match="known are shop"):
        removing.run("plan_removal", {"project": "zoo"})
    with pytest.raises(NotFound, match="no known project"):
        removing.run("remove_projects", {"roots": [str(roots["zoo"])]})


def test_memories_go_only_where_that_is_asked_for(
    operations: Operations, client: Client, removing: Operations, roots: dict[str, Path]
) -> None:
    operations.run("store_memory", {"content": "Animals are priced by weight", "scope": "project"})
    client.close()
    plan = removing.run("plan_removal", {"project": str(roots["zoo"]), "memories": True})
    assert any(file.endswith("memories.db") for file in plan["projects"][0]["files"])
    removing.run("remove_projects", {"roots": [str(roots["zoo"])], "memories": True})
    assert not (roots["zoo"] / ".rag-ls").exists()


def test_a_project_of_the_settings_is_told_with_the_file_that_lists_it(
    operations: Operations, client: Client, removing: Operations, roots: dict[str, Path]
) -> None:
    client.close()
    before = user_config_file().read_text()
    plan = removing.run("plan_removal", {"project": "shop"})["projects"]
    assert [item["root"] for item in plan] == [str(roots["api"]), str(roots["web"])]
    assert plan[0]["config"] == {"file": str(user_config_file())}
    removing.run("remove_projects", {"roots": [item["root"] for item in plan]})
    assert (_data(roots["api"]), user_config_file().read_text()) == (set(), before)


def test_a_project_that_is_open_is_not_removed(operations: Operations, roots: dict[str, Path]) -> None:
    with pytest.raises(ProjectUnavailable, match="is open in an editor or agent"):
        operations.run("remove_projects", {"roots": [str(roots["zoo"])]})
    assert "index.db" in _data(roots["zoo"])


def test_a_removal_waits_for_a_client_that_is_just_leaving(
    operations: Operations, client: Client, roots: dict[str, Path]
) -> None:
    # A command of the shell ends before the engine has heard that its client left.
    ended = Client(client.engine, about=About("cli"))
    ended.open(roots["zoo"])
    client.close_project(roots["zoo"])
    leaving = threading.Timer(0.5, ended.close)
    leaving.start()
    operations.run("remove_projects", {"roots": [str(roots["zoo"])]})
    leaving.join()
    assert _data(roots["zoo"]) == set()


def test_pruning_takes_what_is_gone_and_what_the_settings_list_no_longer(
    operations: Operations, client: Client, removing: Operations, roots: dict[str, Path]
) -> None:
    client.close()
    assert removing.run("plan_pruning")["projects"] == []
    roots["zoo"].rename(roots["zoo"].with_name("moved"))
    _configure(f'[[projects]]\nname = "shop"\nroots = ["{roots["web"]}"]\n')
    plan = removing.run("plan_pruning")["projects"]
    assert [(item["root"], item["reason"]) for item in plan] == [
        (str(roots["zoo"]), "its folder is gone"),
        (str(roots["api"]), "the settings list it no longer"),
    ]
    removing.run("remove_projects", {"roots": [item["root"] for item in plan]})
    assert _data(roots["api"]) == set()
    assert [repo["root"] for repo in removing.run("list_repos")["repos"]] == [str(roots["web"])]


def test_without_a_model_a_project_is_complete_once_its_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", "none")
    client = local_client("cli")
    operations = Operations(client)
    client.open(write(tmp_path / "pond", {"pond.py": "def feed_ducks():\n    return 1\n"}))
    assert operations.run("scan", {"project": ["pond"]})["complete"]
    assert [repo["complete"] for repo in operations.run("list_repos", {})["repos"]] == [True]
    client.close()


def test_nothing_is_pruned_while_the_settings_cannot_be_read(operations: Operations) -> None:
    _configure("[[projects]\n")
    with pytest.raises(InvalidRequest, match="nothing is pruned before this is mended"):
        operations.run("plan_pruning")
