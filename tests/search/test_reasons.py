"""Why a chunk was found."""

from __future__ import annotations

from rag_ls.search.fusion import Signals
from rag_ls.search.query import analyse
from rag_ls.search.ranking import reason
from rag_ls.storage import RankRow

_ROW = RankRow(1, 1, "src/queue/upload.py", "python", "Queue.retry", "function_definition", True, 0, b"", 1000, 10)


def test_the_words_of_the_query_in_the_name_and_the_path_are_named_once() -> None:
    assert (
        reason(_ROW, Signals(), analyse("how are uploads in the queue retried"))
        == "name: queue, retried; path: uploads"
    )


def test_signals_are_named_the_strongest_first() -> None:
    query = analyse("could not open the file")
    signals = Signals(lexical={1: 5.0}, dense={1: 0.5}, phrases={1: 0.6}, least_dense=0.4)
    assert reason(_ROW, signals, query) == "quoted: 3 of 5 words; words; meaning"


def test_what_was_only_compared_was_not_found_by_meaning() -> None:
    signals = Signals(lexical={1: 5.0}, dense={1: 0.3}, least_dense=0.4)
    assert reason(_ROW, signals, analyse("could not open the file")) == "words"


def test_a_line_that_was_asked_for_says_so() -> None:
    signals = Signals(exact={1: ("line",)})
    assert reason(_ROW, signals, analyse("src/queue/upload.py:12")).startswith("line; ")
