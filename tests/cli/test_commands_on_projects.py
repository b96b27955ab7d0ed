"""The verbs on projects, as a process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_ls.locations import user_config_file, user_data_folder
from tests.commands import run_command
from tests.support import write

pytestmark = pytest.mark.shared_engine

_COMMAND = Path(sys.executable).with_name("rag-ls")


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_command(*arguments, folder=folder)


def _json(folder: Path, *arguments: str, code: int = 0) -> Any:
    done = _run(folder, *arguments, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder that is no project, and becomes none."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


@pytest.fixture
def listed(shop: Path) -> Path:
    """The shop, listed by the user's settings."""
    user_config_file().parent.mkdir(parents=True, exist_ok=True)
    user_config_file().write_text(f'[[projects]]\nname = "store"\nroots = ["{shop}"]\ninclude = ["src/**"]\n')
    return shop


@pytest.mark.parametrize("verb", [("scan",), *(("project", action) for action in ("list", "add", "remove", "prune"))])
def test_every_verb_explains_itself(tmp_path: Path, verb: tuple[str, ...]) -> None:
    done = _run(tmp_path, *verb, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: rag-ls {' '.join(verb)}")


def test_a_listed_project_is_scanned_by_name_from_anywhere(listed: Path, elsewhere: Path) -> None:
    assert "not indexed yet" in _run(elsewhere, "projects", "list").stdout
    done = _run(elsewhere, "scan", "store", "--json")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert [(item["root"], item["documents"], item["complete"]) for item in answer["projects"]] == [
        (str(listed), 3, True)
    ]
    (repo,) = _json(elsewhere, "projects", "list")["repos"]
    assert (repo["name"], repo["source"], repo["documents"], repo["complete"]) == ("store", "config", 3, True)
    assert f"store  {listed}  [config]\n    3 files, " in _run(elsewhere, "projects", "list").stdout
    assert list(elsewhere.iterdir()) == []


def test_the_list_says_which_entries_are_wrong(listed: Path, elsewhere: Path) -> None:
    with user_config_file().open("a") as file:
        file.write('[[projects]]\nname = "zoo"\n')
    done = _run(elsewhere, "projects", "list")
    assert (done.returncode, "store  " in done.stdout) == (0, True)
    assert "config.toml: entry 2 of [[projects]]: projects.roots of 'zoo' is missing" in done.stderr


def test_an_unknown_name_is_answered_with_the_known_ones(listed: Path, elsewhere: Path) -> None:
    done = _run(elsewhere, "scan", "stroe")
    assert (done.returncode, done.stdout) == (1, "")
    assert "called 'stroe'; the nearest is store; known are store" in done.stderr
    assert _json(elsewhere, "projects", "remove", "stroe", code=1)["error"]["type"] == "NotFound"


@pytest.mark.slow
def test_a_damaged_list_of_projects_is_named_and_denies_none(elsewhere: Path) -> None:
    file = user_data_folder() / "projects.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"projects": [')
    for arguments in (
        ("project", "list"), ("project", "add", str(elsewhere)), ("project", "prune"), ("status", "--project", "zoo"),
        ("scan", "zoo"), ("project", "remove", "zoo"), ("token", "add", "ci", "--project", "zoo"),
    ):  # fmt: skip
        done = _run(elsewhere, *arguments)
        assert f"{file} is damaged" in done.stderr
        assert done.returncode
        assert "no projects yet" not in done.stdout
    assert file.read_text() == '{"projects": ['


@pytest.mark.slow
def test_a_listed_project_keeps_its_index_while_the_list_of_known_ones_is_damaged(shop: Path, elsewhere: Path) -> None:
    assert _run(shop, "index").returncode == 0
    user_config_file().parent.mkdir(parents=True, exist_ok=True)
    user_config_file().write_text(f'[[projects]]\nname = "shop"\nroots = ["{shop}"]\n')
    file = user_data_folder() / "projects.json"
    file.write_text('{"projects": [')
    done = _run(elsewhere, "projects", "remove", "shop", "--yes")
    assert (shop / ".rag-ls/index.db").is_file()
    assert f"nothing is removed before this is mended: {file} is damaged" in done.stderr


def test_a_project_is_added_scanned_and_removed_by_name(shop: Path, elsewhere: Path) -> None:
    assert "no projects yet" in _run(elsewhere, "projects", "list").stdout
    added = _run(elsewhere, "projects", "add", str(shop), "--name", "cart")
    assert (added.returncode, added.stdout.splitlines()[0]) == (0, "name: cart")
    assert "`rag-ls scan cart` indexes it now" in added.stdout
    assert _run(elsewhere, "scan", "cart", "--words-only").returncode == 0
    refused = _run(elsewhere, "projects", "remove", "cart")
    assert refused.returncode == 1
    assert "documents: 4" in refused.stdout
    assert "nothing was removed: nobody is there to confirm it; add --yes" in refused.stderr
    assert (shop / ".rag-ls/index.db").exists()
    assert _json(elsewhere, "projects", "remove", "cart", code=1)["error"]["type"] == "NotConfirmed"
    removed = _json(elsewhere, "projects", "remove", "cart", "--yes")["removed"]
    assert [item["root"] for item in removed] == [str(shop)]
    assert not (shop / ".rag-ls/index.db").exists()
    assert (shop / "src/cart.py").exists()


def test_a_folder_that_does_not_exist_is_not_added(elsewhere: Path) -> None:
    done = _run(elsewhere, "projects", "add", "missing")
    assert done.returncode == 1
    assert "is not a folder; give the path of an existing one" in done.stderr


def test_removing_says_which_memories_stay_and_which_file_lists_it(listed: Path, elsewhere: Path) -> None:
    _json(listed, "add", "Prices are net of tax")
    shown = _run(elsewhere, "projects", "remove", "store").stdout
    assert "the memories stay: --memories deletes them too" in shown
    assert f"file: {user_config_file()}" in shown
    assert _run(elsewhere, "projects", "remove", str(listed), "--yes", "--memories").returncode == 0
    assert _json(listed, "list")["total"] == 0


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_at_a_terminal_it_asks(shop: Path, elsewhere: Path, typed: str, code: int) -> None:
    _json(elsewhere, "projects", "add", str(shop))
    write(shop, {".rag-ls/index.db": b"index"})
    ours, theirs = pytest.importorskip("pty").openpty()
    try:
        os.write(ours, typed.encode())
        done = subprocess.run(
            [str(_COMMAND), "projects", "remove", "shop"], stdin=theirs, capture_output=True, text=True, timeout=120,
            cwd=elsewhere, check=False,
        )  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, (shop / ".rag-ls/index.db").exists()) == (code, code == 1)
    assert "remove it? [y/N]" in done.stderr


def test_what_is_gone_is_pruned(shop: Path, elsewhere: Path) -> None:
    _json(elsewhere, "projects", "add", str(shop))
    assert _run(elsewhere, "projects", "prune").stdout == "nothing to prune\n"
    shop.rename(shop.with_name("moved"))
    assert "missing: its folder was deleted" in _run(elsewhere, "projects", "list").stdout
    assert _run(elsewhere, "projects", "prune").returncode == 1
    assert "removed shop" in _run(elsewhere, "projects", "prune", "--yes").stdout
    assert _json(elsewhere, "projects", "list")["repos"] == []
    assert _json(elsewhere, "projects", "prune") == {"removed": [], "memories": False}


def test_removing_leaves_nothing_behind_but_a_copy_of_the_memories(shop: Path, elsewhere: Path) -> None:
    _json(shop, "add", "Prices are net of tax")
    assert _run(shop, "index", "--words-only").returncode == 0
    assert _run(elsewhere, "projects", "remove", str(shop), "--yes").returncode == 0
    assert (shop / ".rag-ls/memories.db").exists()
    assert not (shop / ".rag-ls/index.db").exists()
    assert _run(shop, "index", "--words-only").returncode == 0
    done = _run(elsewhere, "projects", "remove", str(shop), "--yes", "--memories")
    assert not (shop / ".rag-ls").exists()
    command = re.search(r"`rag-ls (restore .*)`", done.stdout)
    assert command is not None
    assert _run(shop, "index", "--words-only").returncode == 0
    assert _run(elsewhere, *command[1].split(), "--yes").returncode == 0
    assert [item["content"] for item in _json(shop, "list")["memories"]] == ["Prices are net of tax"]


def test_a_folder_of_all_kinds_of_things_is_indexed_only_by_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = write(tmp_path / "someone", {"notes.md": "# Notes\n\nMilk, bread.\n"})
    monkeypatch.setenv("HOME", str(home))
    # A shared engine has the home of whoever started it.
    refused = _run(home, "index", "--standalone")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "rag-ls index --force" in refused.stderr
    assert not (home / ".rag-ls").exists()
    assert _run(home, "index", "--words-only", "--force", "--standalone").returncode == 0
    assert (home / ".rag-ls/index.db").exists()


def test_a_project_s_name_is_taken_wherever_its_folder_is(listed: Path, elsewhere: Path) -> None:
    _json(listed, "add", "Prices are net of tax")
    assert _json(elsewhere, "list", "--project", "store")["total"] == 1
    assert _json(elsewhere, "status", "--project", "store")["root"] == str(listed)
    done = _run(elsewhere, "status", "--project", "stroe")
    assert done.returncode == 1
    assert "the nearest is store; see `rag-ls project list`" in done.stderr


def test_of_two_projects_of_one_name_both_copies_of_memories_stay(tmp_path: Path, elsewhere: Path) -> None:
    copies = set()
    for name, said in (("one", "Prices are net of tax"), ("other", "Prices are gross")):
        shop = tmp_path / name / "shop"
        write(shop, {"src/a.py": "x = 1\n", ".git/HEAD": "ref: refs/heads/main\n"})
        _json(shop, "add", said)
        done = _run(elsewhere, "projects", "remove", str(shop), "--yes", "--memories")
        command = re.search(r"--backup (\S+?)[`\s]", done.stdout)
        assert command is not None
        copies.add(Path(command[1]))
    assert len(copies) == 2
    assert all(copy.is_file() for copy in copies)


@pytest.mark.parametrize("options", [(), ("--standalone",)])
def test_a_search_in_a_project_of_several_roots_searches_all_of_them(
    elsewhere: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    roots = [write(tmp_path / name, {f"{name}.py": f"def settle_{name}(): ...\n"}) for name in ("web", "api")]
    for root in roots:
        (root / ".git").mkdir()
        _run(root, "index")
    file = user_config_file()
    write(file.parent, {file.name: f'[[projects]]\nname = "acme"\nroots = {json.dumps(list(map(str, roots)))}\n'})
    found = _json(elsewhere, "search", "settle", "--project", "acme", *options)
    assert {Path(hit["file"]).name for hit in found["results"]} == {"web.py", "api.py"}
    lines = _run(elsewhere, "search", "-F", "def settle", "--project", "acme", *options)
    assert len(lines.stdout.splitlines()) == 2
    refused = _run(elsewhere, "add", "Invoices settle once.", "--project", "acme", *options)
    assert refused.returncode == 2
    assert f"several projects are called so; give one of {', '.join(sorted(map(str, roots)))}" in refused.stderr
