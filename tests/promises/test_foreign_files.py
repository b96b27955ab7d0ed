"""Promise: a project that comes with files that somebody made to harm its reader is a project like others."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from rag_ls.storage.sqlite.index_schema import MIGRATIONS
from tests.daemon.engines import answer, run
from tests.support import engine_pid, write

_DEEP = 100_000
_TABLES = ("meta", "documents", "chunks", "embeddings", "queue", "skipped", "symbols", "imports", "postings")
_ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS key, n AS value, n AS id FROM r"
_OURS = f"PRAGMA user_version = {len(MIGRATIONS)}"
INDEXES = {
    "of another program": [f"CREATE TABLE {name} (x)" for name in _TABLES],
    "of another program, with our number": [*(f"CREATE TABLE {name} (x)" for name in _TABLES), _OURS],
    "half of another program": ["CREATE VIEW documents AS SELECT 1", "PRAGMA user_version = 1"],
    "with triggers": [
        *(f"CREATE TABLE {name} (key, value, id)" for name in _TABLES),
        f"CREATE TRIGGER often AFTER INSERT ON meta BEGIN INSERT INTO meta SELECT * FROM ({_ENDLESS}); END",
        _OURS,
    ],
    "of virtual tables": ["CREATE VIRTUAL TABLE chunks USING fts5 (x)", "CREATE VIRTUAL TABLE meta USING fts5 (x)"],
    "of views without end": [*(f"CREATE VIEW {name} AS {_ENDLESS}" for name in _TABLES), _OURS],
}
FILES = {
    "package.json": '{"dependencies":' + '{"a":' * _DEEP,
    "tsconfig.json": "{/*\n" * 60_000,
    "composer.json": "[" * _DEEP,
    "pyproject.toml": "a = " + "[" * _DEEP,
    ".importlinter": "[" * _DEEP,
    "a.ipynb": '{"cells":' + "[" * _DEEP,
    "b.ipynb": '{"metadata":{},"cells":[{"cell_type":"code","source":' + "[" * _DEEP + "]" * _DEEP + "}]}",
    "pom.xml": "<a>" * _DEEP,
    ".rag-ls/decisions.json": "[" * _DEEP,
}


@pytest.mark.shared_engine
@pytest.mark.parametrize("name", INDEXES)
def test_an_index_that_somebody_else_made_is_made_anew(shop: Path, name: str) -> None:
    (shop / ".rag-ls").mkdir()
    connection = sqlite3.connect(shop / ".rag-ls/index.db")
    for statement in INDEXES[name]:
        connection.execute(statement)
    connection.commit()
    connection.close()
    pid = engine_pid()
    done = run("index", folder=shop)
    assert done.returncode == 0, done.stderr
    assert answer("search", "total_price", folder=shop)["results"][0]["path"] == "src/cart.py"
    assert pid in (None, engine_pid())


@pytest.mark.slow
@pytest.mark.shared_engine
def test_files_of_any_depth_leave_the_engine_and_the_other_files_as_they_were(shop: Path) -> None:
    write(shop, FILES)
    done = run("index", folder=shop)
    assert done.returncode == 0, done.stderr
    pid = engine_pid()
    assert pid
    assert answer("search", "total_price", folder=shop)["results"][0]["path"] == "src/cart.py"
    assert "Traceback" not in run("check", folder=shop).stderr
    assert engine_pid() == pid


@pytest.mark.shared_engine
@pytest.mark.parametrize("text", ["a = " + "[" * _DEEP, ".".join("a" * _DEEP) + " = 1"])
def test_settings_of_any_depth_are_named_and_change_nothing(shop: Path, text: str) -> None:
    write(shop, {"rag-ls.toml": text})
    done = run("index", folder=shop)
    assert "rag-ls.toml: is not TOML" in done.stderr
    # A script that goes on with an index that holds nothing would be none the wiser.
    assert done.returncode == 1
    assert "nothing is indexed until it is mended" in done.stderr
    pid = engine_pid()
    assert pid
    # What they exclude is not known.
    assert "cannot be used" in run("search", "total_price", folder=shop).stdout
    assert engine_pid() == pid
