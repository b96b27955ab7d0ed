"""Query analysis, globs, fusion and ranking: functions of their arguments."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rag_ls.model import Chunk, StoredChunk
from rag_ls.search.fusion import Weights, fuse
from rag_ls.search.query import analyse
from rag_ls.search.ranking import rank
from rag_ls.search.view import glob_matcher
from rag_ls.storage import ChunkRow
from tests.support import SETTLED, record


def test_stop_words_are_dropped_and_identifiers_split() -> None:
    query = analyse("How do we refresh the accessToken in Session.refresh_now?")
    assert query.terms == ("refresh", "access", "token", "accesstoken", "session", "now", "refreshnow")
    assert query.names == ("accesstoken", "refresh_now")
    assert not query.wants_tests


def test_a_query_of_stop_words_alone_keeps_them() -> None:
    assert analyse("what is this").terms == ("what", "is", "this")


def test_one_or_two_plain_words_may_be_names() -> None:
    assert analyse("refresh").names == ("refresh",)
    assert analyse("refresh the old session now").names == ()


def test_paths_and_file_names_are_recognised() -> None:
    assert analyse("errors in src/auth.py and cart.py").paths == ("src/auth.py", "cart.py")


def test_asking_for_tests_is_noticed() -> None:
    assert analyse("tests of the cart").wants_tests
    assert analyse("test_cart").wants_tests
    assert not analyse("contest winner").wants_tests


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_a_query_of_few_plain_terms(text: str) -> None:
    query = analyse(text)
    assert len(query.terms) <= 32
    assert len(set(query.terms)) == len(query.terms)
    assert all(term and not set(term) & set('"*():^-+ \0') for term in query.terms)


def test_the_cost_of_a_long_word_grows_with_its_length_and_not_its_square() -> None:
    def cost(length: int) -> float:
        started = time.process_time()
        analyse("a" * length)
        return time.process_time() - started

    assert cost(8000) < 20 * max(cost(1000), 0.001)


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("*.py", ["a.py", "src/deep/a.py"], ["a.pyc", "py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py", "lib/src/a.py", "src/a.js"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py"]),
        ("src/**", ["src/a.py", "src/x/a"], ["source/a.py", "src"]),
        ("src/", ["src/a.py", "src/x/a.py"], ["lib/src/a.py", "src.py"]),
        ("**/test_*.py", ["test_a.py", "x/y/test_a.py"], ["a_test.py"]),
        ("./src/*.py", ["src/a.py"], ["a.py"]),
        ("/src/*.py", ["src/a.py"], ["x/src/a.py"]),
        ("src/?.py", ["src/a.py"], ["src/ab.py", "src//.py"]),
        ("a/b+(c).py", ["a/b+(c).py"], ["a/bb(c).py", "a/bc.py"]),
        ("auth.py", ["auth.py", "src/auth.py"], ["xauth.py"]),
    ],
)
def test_a_glob_matches_paths(pattern: str, matching: list[str], other: list[str]) -> None:
    matches = glob_matcher(pattern)
    assert [path for path in (*matching, *other) if matches(path)] == matching


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_is_a_glob(pattern: str, path: str) -> None:
    assert glob_matcher(pattern)(path) in (True, False)


_SIGNAL = st.dictionaries(st.integers(0, 6), st.floats(-1, 1), max_size=7)
_BM25 = st.dictionaries(st.integers(0, 6), st.floats(0, 50), max_size=7)
_WEIGHTS = st.builds(Weights, st.floats(0, 1), st.floats(0, 1))


@given(_SIGNAL, _BM25, _WEIGHTS)
def test_fused_scores_are_in_0_to_1_for_every_candidate(
    dense: dict[int, float], lexical: dict[int, float], weights: Weights
) -> None:
    fused = fuse(dense, lexical, weights)
    assert fused.keys() == {*dense, *lexical}
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in fused.values())


@given(_SIGNAL, _BM25, _WEIGHTS, st.integers(0, 6), st.integers(0, 6))
def test_what_is_better_in_every_signal_is_not_worse_when_fused(
    dense: dict[int, float], lexical: dict[int, float], weights: Weights, one: int, other: int
) -> None:
    fused = fuse(dense, lexical, weights)
    assume(one in fused and other in fused and (one in dense) == (other in dense))

    def not_worse(values: Mapping[int, float], least: float) -> bool:
        return values.get(one, least) >= values.get(other, least)

    if not_worse(dense, -2) and not_worse(lexical, -1):
        assert fused[one] >= fused[other] - 1e-9


def test_one_signal_alone_orders_the_answer() -> None:
    weights = Weights(0.5, 0.5)
    assert fuse({1: 0.9, 2: 0.1}, {}, weights) == {1: 1.0, 2: 0.0}
    assert fuse({}, {1: 4.0, 2: 2.0}, weights) == {1: 1.0, 2: 0.5}
    assert fuse({}, {}, weights) == {}


def test_text_that_is_not_embedded_yet_is_judged_by_its_words_alone() -> None:
    fused = fuse({1: 0.9, 2: 0.1}, {2: 4.0, 3: 8.0}, Weights(0.5, 0.5))
    assert fused == {1: 0.5, 2: 0.25, 3: 1.0}


def test_a_weight_of_nothing_silences_a_signal() -> None:
    fused = fuse({1: 0.9, 2: 0.1}, {2: 9.0}, Weights(1.0, 0.0))
    assert fused == {1: 1.0, 2: 0.0}
    assert fuse({1: 0.5}, {2: 1.0}, Weights(0.0, 0.0)) == {1: 0.0, 2: 0.0}


def _row(
    number: int, path: str = "src/a.py", symbol: str = "", *, declares: bool = False, document: int = 0
) -> ChunkRow:
    chunk = Chunk(path, "python", number, 0, 1, 1, 1, "x", symbol=symbol, is_declaration=declares)
    owner = record(path, state=SETTLED)
    return ChunkRow(number, StoredChunk(str(number), chunk, "0"), replace(owner, id=document or hash(path)), None)


def _order(rows: list[ChunkRow], fused: dict[int, float], query: str) -> list[int]:
    return [row.row for row, _ in rank(rows, fused, analyse(query))]


def test_the_definition_of_a_name_comes_before_its_uses() -> None:
    rows = [_row(1, "src/use.py"), _row(2, "src/define.py", "Session.refresh", declares=True)]
    assert _order(rows, {1: 0.8, 2: 0.6}, "refresh") == [2, 1]


def test_tests_come_later_unless_they_are_asked_for() -> None:
    rows = [_row(1, "tests/test_cart.py"), _row(2, "src/cart.py")]
    fused = {1: 0.6, 2: 0.55}
    assert _order(rows, fused, "price of all items of a cart") == [2, 1]
    assert _order(rows, fused, "tests for the price of all items") == [1, 2]


def test_a_named_file_comes_first() -> None:
    rows = [_row(1, "src/other.py"), _row(2, "src/auth.py")]
    assert _order(rows, {1: 0.7, 2: 0.5}, "token errors in auth.py today") == [2, 1]


def test_of_the_pieces_of_one_declaration_the_best_stays() -> None:
    rows = [_row(1, symbol="run"), _row(2, symbol="run"), _row(3, symbol=""), _row(4, symbol="")]
    assert sorted(_order(rows, {1: 0.1, 2: 0.9, 3: 0.5, 4: 0.4}, "query about something long")) == [2, 3, 4]


def test_one_file_does_not_fill_the_answer() -> None:
    rows = [_row(number, "src/big.py") for number in range(1, 6)] + [_row(9, "src/small.py")]
    fused = {number: 0.8 - number / 1000 for number in range(1, 6)} | {9: 0.75}
    assert _order(rows, fused, "query about something long").index(9) == 2


def test_equal_scores_come_in_order_of_path_and_place() -> None:
    rows = [_row(3, "b.py"), _row(2, "a.py"), _row(1, "c.py")]
    assert _order(rows, {1: 0.5, 2: 0.5, 3: 0.5}, "query about something long") == [2, 3, 1]


@given(
    st.dictionaries(st.integers(1, 30), st.floats(0, 1), max_size=20), st.sampled_from(["run", "src/a.py run", "tests"])
)
def test_final_scores_are_in_0_to_1_and_descend(fused: dict[int, float], query: str) -> None:
    rows = [_row(n, f"src/{'abc'[n % 3]}.py", "run" if n % 5 == 0 else "", declares=n % 2 == 0) for n in fused]
    scores = [round(score, 8) for _, score in rank(rows, fused, analyse(query))]
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
