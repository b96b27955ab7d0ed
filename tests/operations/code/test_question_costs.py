"""What a warm question costs, as counts that do not depend on the machine."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from rag_ls.engine.client import Client
from rag_ls.operations import Operations
from rag_ls.search.query import analyse
from rag_ls.storage.sqlite import database, file_faults
from tests.conftest import IndexedProjects
from tests.support import PATIENCE_S, SHOP

# The most statements that each may need; of a name, the lines that hold it are looked for as well.
QUESTIONS = {
    "where is the price of a cart added up": 33,
    "total_price": 48,
    "the expired access token": 33,
    "Session.refresh": 48,
}


class Calls:
    """The calls of Python functions in threads that start while it is installed, by their code."""

    def __init__(self) -> None:
        self.by_code: Counter[object] = Counter()

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            self.by_code[frame.f_code] += 1


@pytest.fixture
def calls() -> Iterator[Calls]:
    made = Calls()
    threading.setprofile(made.note)
    yield made
    threading.setprofile(None)


@pytest.fixture
def operations(
    calls: Calls, words_alone: None, client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> Operations:
    """The operations on a shop, warm."""
    view = client.open(indexed_projects.copy(SHOP, tmp_path / "shop"))
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    operations = Operations(client)
    operations.run("search_code", {"query": "discount"})
    return operations


def test_a_question_is_analysed_once(operations: Operations, calls: Calls) -> None:
    before = calls.by_code[analyse.__code__]
    for query in QUESTIONS:
        assert operations.run("search_code", {"query": query})["results"]
    assert calls.by_code[analyse.__code__] - before == len(QUESTIONS)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that SQLite runs for questions, on connections that open from now on."""
    run: list[str] = []

    def note(statement: str) -> None:
        # What begins with two dashes is a part of another one.
        if threading.current_thread().name.startswith("worker") and not statement.startswith("--"):
            run.append(statement)

    def open_traced(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection = file_faults.open_file(*arguments, **named)
        connection.set_trace_callback(note)
        return connection

    monkeypatch.setattr(database, "open_file", open_traced)
    return run


def test_a_question_asks_the_database_no_more_than_this(statements: list[str], operations: Operations) -> None:
    for query, most in QUESTIONS.items():
        before = len(statements)
        assert operations.run("search_code", {"query": query})["results"]
        own = statements[before:]
        assert 0 < len(own) <= most, (len(own), query, *own)
