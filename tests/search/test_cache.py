"""Answers are kept for as long as they are exactly right."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TypeVar

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.requests import SearchRequest
from rag_ls.search.cache import AnswerCache
from rag_ls.util.threads import Counts
from tests.support import PATIENCE_S, finished, new_chunk, open_checkout, python, record, write

T = TypeVar("T")


def _ask(cache: AnswerCache[T], key: Hashable, make: Callable[[], T]) -> T:
    """The answer from the cache, else a new one, which is kept unless it is empty."""
    version = cache.version()
    found = cache.get(key, version)
    if found is None:
        found = make()
        if found != "":
            cache.keep(key, version, found)
    return found


def test_an_answer_is_made_once_until_something_changes() -> None:
    version, made = [1], list[int]()

    def make() -> int:
        made.append(version[0])
        return version[0]

    cache = AnswerCache[int](lambda: version[0], Counts())
    assert [_ask(cache, "q", make), _ask(cache, "q", make)] == [1, 1]
    version[0] = 2
    assert _ask(cache, "q", make) == 2
    assert made == [1, 2]


def test_an_answer_that_was_made_while_something_changed_is_not_kept() -> None:
    version = [1]

    def make_and_change() -> str:
        version[0] += 1
        return "of either state"

    cache = AnswerCache[str](lambda: version[0], Counts())
    assert _ask(cache, "q", make_and_change) == "of either state"
    assert _ask(cache, "q", lambda: "new") == "new"


def test_an_answer_that_lacks_something_is_not_kept() -> None:
    cache = AnswerCache[str](lambda: 1, Counts())
    assert _ask(cache, "q", lambda: "") == ""
    assert _ask(cache, "q", lambda: "whole") == "whole"
    assert _ask(cache, "q", lambda: "later") == "whole"


def test_only_so_many_answers_are_kept() -> None:
    cache = AnswerCache[int](lambda: 1, Counts())
    for number in range(1000):
        _ask(cache, number, lambda number=number: number)
    assert _ask(cache, 999, lambda: -1) == 999
    assert _ask(cache, 0, lambda: -1) == -1


_WRITER = """
import sys
from pathlib import Path

from tests.support import new_chunk, open_checkout, record

open_checkout(Path(sys.argv[1])).replace_document(record("b.py"), [new_chunk("theirs", path="b.py")])
"""


@pytest.mark.slow
def test_every_commit_of_this_or_another_process_is_a_change(tmp_path: Path) -> None:
    store = open_checkout(tmp_path / "index.db")
    seen = [store.changes(), store.changes()]
    assert seen[0] == seen[1]
    store.replace_document(record("a.py"), [new_chunk("mine", path="a.py")])
    seen.append(store.changes())
    finished(python(_WRITER, tmp_path / "index.db"))
    seen.append(store.changes())
    assert len(set(seen)) == 3
    store.close()


def test_the_same_question_is_answered_anew_after_an_edit(client: Client, shop: Path) -> None:
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    request = SearchRequest("discount")
    first = [hit.item.id for hit in view.search(request).hits]
    assert [hit.item.id for hit in view.search(request).hits] == first
    write(shop, {"src/cart.py": "def rebate():\n    return 'discount'\n"})
    view.files_changed(["src/cart.py"])
    assert view.indexing.wait_until_idle(PATIENCE_S)
    hits = view.search(request).hits
    assert "rebate" in next(hit.item.chunk.text for hit in hits if hit.item.chunk.path == "src/cart.py")
