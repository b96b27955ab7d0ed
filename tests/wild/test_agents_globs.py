"""Situations of agents: globs as they are written, in search filters, settings and rules alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.engine.client import local_client
from rag_ls.indexing import Patterns, list_files
from rag_ls.operations import ClientSession
from rag_ls.util.path_globs import matches_any
from tests.agents import agent_session
from tests.commands import run_command
from tests.support import PATIENCE_S, write

_FILES = {
    "src/app/[id].tsx": "export const pageOfOne = (order: string) => order;\n",
    "src/app/i.tsx": "export const pageOfAll = (order: string) => order;\n",
    "src/app/list.ts": "export const orderList = (order: string) => [order];\n",
    "src/main.ts": "export const startOrder = (order: string) => order;\n",
    "src/a,b.ts": "export const orderPair = (order: string) => order;\n",
    "lib/order.js": "export function orderName(order) {\n  return order.name;\n}\n",
    "tests/order_test.ts": "test('order', () => checkOrder('order'));\n",
}
_CODE = {path for path in _FILES if path.startswith("src/")}
# A glob, and the files that it means; ROOT stands for the project's folder.
_GLOBS = [
    ("src/**/*.{ts,tsx}", _CODE),
    ("{src,lib}/**", _CODE | {"lib/order.js"}),
    ("src/app/*.{ts}", {"src/app/list.ts"}),
    ("[id].tsx", {"src/app/[id].tsx"}),
    ("src/app/[id].tsx", {"src/app/[id].tsx"}),
    (r"src/app/\[id\].tsx", {"src/app/[id].tsx"}),
    ("src/app/[a-k].tsx", {"src/app/i.tsx"}),
    ("src", _CODE),
    ("./src", _CODE),
    ("src/", _CODE),
    ("/src/**", _CODE),
    ("ROOT/src", _CODE),
    ("ROOT/src/**/*.ts", {"src/app/list.ts", "src/main.ts", "src/a,b.ts"}),
    (r"src\app\*.ts", {"src/app/list.ts"}),
    ("src/main.ts, lib/**", {"src/main.ts", "lib/order.js"}),
    ("src/a,b.ts", {"src/a,b.ts"}),
    ("!tests/**", _CODE | {"lib/order.js"}),
    ("**/*.ts,!tests/**", {"src/app/list.ts", "src/main.ts", "src/a,b.ts"}),
    ("**/*.JS", {"lib/order.js"}),
    ("main.ts", {"src/main.ts"}),
    ("**/*.{js, jsx, rb}", {"lib/order.js"}),
    ("*ap*", {path for path in _CODE if path.startswith("src/app/")}),
    ("**/*.js,**/*.rb", {"lib/order.js"}),
    (".", set(_FILES)),
    ("**", set(_FILES)),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose files are named as frameworks name them."""
    return write(tmp_path / "orders", _FILES)


@pytest.fixture
def session(project: Path) -> Iterator[ClientSession]:
    """An agent's client that works there."""
    with agent_session(project) as session:
        yield session


@pytest.mark.slow
def test_a_search_filter_means_what_was_written(session: ClientSession, project: Path) -> None:
    for glob, expected in _GLOBS:
        question = {"query": "order", "path_glob": glob.replace("ROOT", str(project)), "files_only": True, "k": 50}
        found = session.operations.run("search_code", question)
        assert {hit["path"] for hit in found["results"]} == expected, glob


def test_a_list_of_globs_is_one_filter(session: ClientSession) -> None:
    for written in (["src/main.ts", "lib/**"], '["src/main.ts", "lib/**"]'):
        found = session.operations.run("search_code", {"query": "order", "path_glob": written, "files_only": True})
        assert {hit["path"] for hit in found["results"]} == {"src/main.ts", "lib/order.js"}


def test_a_filter_that_matches_nothing_is_named_with_the_nearest(session: ClientSession) -> None:
    found = session.operations.run("search_code", {"query": "order", "path_glob": "src/mian.ts"})
    assert (
        "path_glob = 'src/mian.ts' matches no file of the index; the nearest is src/main.ts" in found["stats"]["note"]
    )
    symbols = session.operations.run("list_symbols", {"path_glob": "lib/**/*.rb"})
    assert symbols["note"] == "path_glob = 'lib/**/*.rb' matches no file of the index; the nearest is lib/order.js"
    mixed = session.operations.run("search_code", {"query": "order", "path_glob": "lib/**", "language": "typescript"})
    assert "matches 1 file of the index, but none is typescript" in mixed["stats"]["note"]
    exact = session.operations.run("search_code", {"query": "x", "path_glob": "lib/**", "language": "typescript"})[
        "exact"
    ]
    assert "matches 1 file of the index, but none is typescript" in exact["left_out"]


@pytest.mark.parametrize(("glob", "expected"), _GLOBS)
def test_include_means_the_same(project: Path, glob: str, expected: set[str]) -> None:
    """A name with wildcards in it is a pattern too, as in .gitignore."""
    listed = set(list_files(project, Patterns(include=(glob.replace("ROOT", str(project)),))))
    assert listed >= expected
    assert listed - expected <= {"src/app/i.tsx"}


def test_an_include_that_leaves_the_index_empty_is_named_in_the_answer(project: Path, home: Path) -> None:
    write(project, {"rag-ls.toml": '[index]\ninclude = ["source/**"]\n'})
    client = local_client("mcp")
    session = ClientSession(client)
    session.work_in(project)
    assert client.projects()[0].indexing.wait_until_idle(PATIENCE_S)
    note = session.operations.run("search_code", {"query": "order"})["stats"]["note"]
    client.close()
    assert "index.include (source/**) matches no file, so nothing is indexed; the nearest" in note


@pytest.mark.parametrize("glob", ["src/**/*.{ts,tsx}", "./src", "ROOT/src", r"src\**", "src/app/**, src/*.ts"])
def test_exclude_means_the_same(project: Path, glob: str) -> None:
    listed = set(list_files(project, Patterns(exclude=(glob.replace("ROOT", str(project)),))))
    assert not listed & _CODE
    assert listed >= {"lib/order.js", "tests/order_test.ts"}


@pytest.mark.parametrize(
    ("globs", "expected"),
    [
        (("src/**/*.{ts,tsx}",), _CODE), (("src",), _CODE), (("./src",), _CODE), ((r"src\app\*.ts",), {"src/app/list.ts"}),
        (("src/**", "!src/app/**"), {"src/main.ts", "src/a,b.ts"}), (("src/main.ts, lib/**",), {"src/main.ts", "lib/order.js"}),
        (("src/app/[id].tsx",), {"src/app/[id].tsx", "src/app/i.tsx"}), (("src/a,b.ts",), {"src/a,b.ts"}),
        (("!src/**",), {"lib/order.js", "tests/order_test.ts"}), ((), set()),
    ],
)  # fmt: skip
def test_a_rule_means_the_same(globs: tuple[str, ...], expected: set[str]) -> None:
    assert {path for path in _FILES if matches_any(globs, path)} == expected


@pytest.mark.slow
def test_a_rule_for_no_file_is_told_and_a_check_of_nothing_fails(project: Path, home: Path) -> None:
    rule = "rules:\n  - {{id: no-eval, files: '{}', forbid_imports: lodash}}\n"
    write(project, {"ARCHITECTURE.yml": rule.format("source/**/*.{ts,tsx}")})
    told = run_command("check", folder=project)
    assert "matches no file of the project, so no-eval finds nothing there; the nearest is" in told.stdout
    assert "nothing was checked: no rule is for any file of this project" in told.stderr
    assert told.returncode == 2
    write(project, {"ARCHITECTURE.yml": rule.format("src/**/*.{ts,tsx}")})
    fine = run_command("check", "--json", folder=project)
    assert fine.returncode == 0
    assert json.loads(fine.stdout)["files"] == len(_CODE)
    assert json.loads(fine.stdout)["problems"] == []
