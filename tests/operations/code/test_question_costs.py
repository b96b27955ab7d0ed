"""What a warm question costs, as counts that do not depend on the machine."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from rag_ls.engine.client import Client
from rag_ls.operations import Operations
from rag_ls.search import analyse
from tests.conftest import IndexedProjects
from tests.support import PATIENCE_S, SHOP

QUESTIONS = ("where is the price of a cart added up", "total_price", "expired access token", "Session.refresh")


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
