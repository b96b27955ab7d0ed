"""The words of a question in a text, and how close together."""

from __future__ import annotations

import pytest

from rag_ls.config.settings import SearchSettings
from rag_ls.search.candidates import CandidateFinder
from rag_ls.search.closeness import WordFinder
from rag_ls.search.evidence import weights_for
from rag_ls.search.fusion import Signals
from rag_ls.search.query import analyse
from rag_ls.search.ranking import rank
from rag_ls.search.terms import AskedTerms
from rag_ls.search.view import View
from rag_ls.storage import ProjectIndex, RankRow, stem
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from rag_ls.storage.sqlite.index_file import IndexFile
from tests.support import lexical_of, new_chunks, record, vectors_of


def _finder(*words: str, **weights: float) -> WordFinder:
    return WordFinder(AskedTerms({stem(word): weights.get(word, 1.0) for word in words}), words)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("headers['Retry-After'] = wait", 1.0), ("max_retries_after = 3", 1.0), ("maxRetriesAfter", 1.0), ("MAX_RETRY_AFTER", 1.0),
        ("the retrying client comes after", 1.0), ("entry hereafter", 0.0), ("raftering", 0.0), ("retry", 0.5), ("", 0.0),
    ],
)  # fmt: skip
def test_a_word_is_found_at_the_beginning_of_words_and_parts_of_names(text: str, share: float) -> None:
    assert _finder("retry", "after").find(text).whole == share


def test_words_in_y_and_ies_are_one_and_none_that_only_begins_alike() -> None:
    assert _finder("dictionaries").find("class DictionaryCodec").whole == 1.0
    assert _finder("query").find("def merge_queries").whole == 1.0
    assert _finder("key", "copy").find("kept the copper").whole == 0.0


def test_a_rare_word_counts_more() -> None:
    assert _finder("throttle", "request", throttle=3.0).find("throttled").whole == 0.75


def test_words_in_few_lines_are_closer_than_words_that_are_far_apart() -> None:
    near, far = "wait = 1\n" * 9 + "retry\nafter\n", "retry\n" + "wait = 1\n" * 9 + "after\n"
    finder = _finder("retry", "after")
    assert (finder.find(near).close, finder.find(near).whole) == (1.0, 1.0)
    assert (finder.find(far).close, finder.find(far).whole) == (0.5, 1.0)


def test_words_are_close_over_five_lines_wherever_they_begin() -> None:
    finder = _finder("retry", "after")
    five = "retrying = 1\n" + "wait = 1\n" * 3 + "AFTER = 2"
    assert finder.find(f"\n\nentry\n{five}").close == 1.0
    assert finder.find(f"after\n\n\n{five.replace('AFTER', 'hereafter')}").close == 1.0
    assert finder.find(five.replace("AFTER", "\nAFTER")).close == 0.5
    assert finder.find("İ\nentry\nretry İ after").close == 1.0
    assert finder.find("İ\nmaxRetriesAfter").close == 1.0


@pytest.mark.parametrize(
    ("question", "text"),
    [("Käse", "Käse"), ("Käse", "KA\u0308SE"), ("密码过期", "用户密码过期了"), ("パスワード", "新しいパスワード")],
)
def test_a_word_is_found_with_its_accents_and_in_scripts_without_spaces(question: str, text: str) -> None:
    assert _finder(*analyse(question).parts).find(text).whole == 1.0


def test_words_that_are_not_weighed_do_not_count() -> None:
    assert WordFinder(AskedTerms({}), ["retry"]).find("retry").whole == 0.0


_QUESTION = "where is the Retry-After header set when a request is throttled"


def test_a_search_sees_which_chunks_hold_the_words_in_few_lines(store: CheckoutIndex) -> None:
    apart = "\n".join(f"# {word}\n{'step = 1' * 3}\n\n\n\n\n" for word in ("retry", "after", "header", "request"))
    together = "# a request is throttled\nheaders['Retry-After'] = 3\n"
    store.replace_document(record(), new_chunks([apart, together, "nothing of it"]))
    index = ProjectIndex(store, lexical_of(store), vectors_of(store), IndexFile(None), database=store._database)
    found = CandidateFinder(index).find(analyse(_QUESTION), View(frozenset(), None), None, "")
    close = {row.ordinal: found.signals.close[row.row] for row in found.rows}
    assert close[1] > 2 * close[0] > 0


def test_of_places_with_the_same_words_the_one_that_has_them_close_together_comes_first() -> None:
    rows = [
        RankRow(at, at % 2, f"src/{'ba'[at % 2]}.py", "python", "", "text", False, at, b"", 100, 10)
        for at in range(1, 5)
    ]
    query = analyse(_QUESTION)
    signals = Signals(lexical=dict.fromkeys(range(1, 5), 5.0), close={4: 1.0})
    ranked = rank(rows, signals, query, AskedTerms({}), weights_for(query.kind, SearchSettings()))
    # Rows 2 and 4 are in one file, 1 and 3 in another.
    assert ranked[0][0].row == 4


def test_of_places_in_one_file_the_one_that_holds_more_of_the_words_comes_first() -> None:
    rows = [RankRow(at, 1, "src/a.py", "python", "", "text", False, at, b"", 100, 10) for at in range(1, 4)]
    query = analyse(_QUESTION)
    signals = Signals(lexical=dict.fromkeys(range(1, 4), 5.0), held={1: 0.3, 2: 0.2, 3: 0.6})
    ranked = rank(rows, signals, query, AskedTerms({}), weights_for(query.kind, SearchSettings()))
    assert [row.row for row, _ in ranked] == [3, 1, 2]


@pytest.mark.parametrize(
    ("question", "joined"),
    [
        ("a read only buffer gets a marker", {"readonly", "onlybuffer", "buffergets"}), ("Content-Type of the error", {"contenttype"}),
        ("content type", {"contenttype"}), ("when is it set", set()), ("src/read/only_once.py", set()), ("getUserById", set()),
    ],
)  # fmt: skip
def test_two_words_side_by_side_are_looked_for_as_one(question: str, joined: set[str]) -> None:
    found = set(analyse(question).joined)
    assert found == joined


def test_a_name_that_joins_two_words_of_the_question_is_found(store: CheckoutIndex) -> None:
    texts = ["if buffer.readonly then mark end", *(f"return value_{number}" for number in range(5))]
    store.replace_document(record(), new_chunks(texts))
    index = ProjectIndex(store, lexical_of(store), vectors_of(store), IndexFile(None), database=store._database)
    found = CandidateFinder(index).find(analyse("which files are read only"), View(frozenset(), None), None, "")
    assert [row.ordinal for row in found.rows] == [0]
