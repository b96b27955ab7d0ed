"""Query analysis, globs and ranking: functions of their arguments."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_ls.config.settings import SearchSettings
from rag_ls.search.evidence import FEATURES, ROLES, weights_for
from rag_ls.search.fusion import Signals, load_weights
from rag_ls.search.query import QueryKind, analyse, longest_run
from rag_ls.search.ranking import rank
from rag_ls.search.roles import find_superseded, is_test_by_path
from rag_ls.search.terms import AskedTerms
from rag_ls.storage import RankRow, stem
from rag_ls.util.path_globs import glob_matcher


def test_stop_words_are_dropped_and_identifiers_split() -> None:
    query = analyse("How do we refresh the accessToken in Session.refresh_now?")
    assert query.terms == ("refresh", "access", "token", "accesstoken", "session", "now", "refreshnow")
    assert query.names == ("accesstoken", "refresh_now")
    assert not query.wants_tests


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Löschen einer abgelaufenen Sitzung", ("loschen", "abgelaufenen", "sitzung")),
        ("suppression d'une session expirée", ("suppression", "session", "expiree")),
        ("redondeo de una factura", ("redondeo", "factura")),
        ("fix the des cipher", ("fix", "des", "cipher")),
        ("render → a list in a Mac OS tab", ("render", "list", "mac", "os", "tab")),
    ],
)
def test_stop_words_of_the_question_s_own_language_are_dropped(text: str, parts: tuple[str, ...]) -> None:
    assert analyse(text).parts == parts


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


_ISSUE = """Fix retries of uploads

The tests of our documentation fail now and then, see docs/ci.md:

  File "src/upload/queue.py", line 41, in push
    raise QueueFull(name)
"""


def test_the_title_of_an_issue_says_what_it_is_about_and_the_rest_names_places() -> None:
    query = analyse(_ISSUE)
    assert query.parts[:3] == ("fix", "retries", "uploads")
    assert len(query.parts) <= 6
    assert query.is_change
    assert query.kind is QueryKind.WORDS
    assert (query.wants_tests, query.wants_docs) == (False, False)
    assert query.places == (("src/upload/queue.py", 41),)
    assert "queuefull" in query.names


@pytest.mark.parametrize(
    "text", ["import os\n\nimport retry_policy\n", "retry(\n\n    upload, times=3)", "x\n\nretry it"]
)
def test_code_has_no_title(text: str) -> None:
    assert "retry" in analyse(text).parts


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
    assert isinstance(glob_matcher(pattern)(path), bool)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("where is the connection pool resized", QueryKind.WORDS),
        ("what happens when a token is not found?", QueryKind.WORDS),
        ("retry policy", QueryKind.IDENTIFIER),
        ("getUserById", QueryKind.IDENTIFIER),
        ("Session.refresh", QueryKind.IDENTIFIER),
        ("src/auth.py refresh", QueryKind.PATH),
        ("KeyError: token must be a string", QueryKind.ERROR),
        ("Task foo.bar not registered", QueryKind.ERROR),
        ("failed sign-ins are counted by user name and address", QueryKind.WORDS),
        ("dialog stays open when the action can't be undone", QueryKind.WORDS),
        ("for item in items:\n    total += item.price", QueryKind.SNIPPET),
        ("pool = Pool(size=4); pool.resize(8)", QueryKind.SNIPPET),
    ],
)
def test_kinds_of_queries_are_told_apart(text: str, kind: QueryKind) -> None:
    assert analyse(text).kind is kind


def test_asking_for_documentation_or_settings_is_noticed() -> None:
    assert analyse("documentation of the cart").wants_docs
    assert analyse("which linter is configured").wants_data
    assert not (analyse("price of a cart").wants_docs)
    assert not (analyse("price of a cart").wants_data)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/cart.py", True), ("src/test_cart.py", True), ("src/cart_test.go", True), ("src/cart.spec.ts", True),
        ("src/CartTest.java", True), ("src/__tests__/cart.js", True), ("src/latest.py", False), ("src/contest.py", False),
        ("src/testament.rs", False), ("src/client/tests.rs", True), (".github/workflows/tests.yml", False),
        ("docs/tests.md", False), ("src/Latest.java", False),
    ],
)  # fmt: skip
def test_tests_are_told_by_their_paths(path: str, expected: bool) -> None:
    assert is_test_by_path(path) is expected


def test_rust_s_tests_stand_beside_the_code() -> None:
    code = _row(1, "src/walk.rs", "walk", declares="function_item")
    test = code._replace(row=2, symbol="tests.walk")
    of_rust = [row._replace(language="rust") for row in (test, code)]
    assert [row.row for row, _ in _rank(of_rust, {1: 1.0, 2: 1.0}, "walk the tree of folders")] == [1, 2]
    assert [row.row for row, _ in _rank(of_rust, {1: 1.0, 2: 1.0}, "test that walks the tree of folders")] == [2, 1]


def _row(number: int, path: str = "src/a.py", symbol: str = "", *, declares: str = "", document: int = 0) -> RankRow:
    node = declares or "expression"
    document = document or hash(path)
    return RankRow(number, document, path, "python", symbol, node, bool(declares), number, b"", 1000, 10)


def _rank(
    rows: list[RankRow], lexical: dict[int, float], query: str, dense: dict[int, float] | None = None,
    exact: dict[int, tuple[str, ...]] | None = None,
) -> list[tuple[RankRow, float]]:  # fmt: skip
    asked = analyse(query)
    words = AskedTerms({stem(part): 1.0 for part in asked.parts})
    signals = Signals(dense or {}, lexical, exact or {}, least_dense=min((dense or {}).values(), default=0.0))
    return rank(rows, signals, asked, words, weights_for(asked.kind, SearchSettings()))


def _order(rows: list[RankRow], lexical: dict[int, float], query: str, **others: Any) -> list[int]:
    return [row.row for row, _ in _rank(rows, lexical, query, **others)]


_LONG = "query about something long"


def test_the_definition_of_a_name_comes_before_its_uses() -> None:
    rows = [_row(1, "src/use.py"), _row(2, "src/define.py", "Session.refresh", declares="function_definition")]
    assert _order(rows, {1: 8, 2: 6}, "refresh", exact={2: ("symbol",)}) == [2, 1]


def test_tests_come_later_unless_they_are_asked_for() -> None:
    rows = [_row(1, "tests/test_cart.py"), _row(2, "src/cart.py")]
    assert _order(rows, {1: 6, 2: 5.5}, "price of all items of a cart") == [2, 1]
    assert _order(rows, {1: 5.5, 2: 6}, "tests for the price of all items") == [1, 2]


def test_prose_comes_later_unless_it_is_asked_for_or_a_name_is() -> None:
    rows = [_row(1, "docs/cart.md")._replace(language="markdown"), _row(2, "src/cart.py")]
    assert _order(rows, {1: 6, 2: 2}, "price of all items of a cart") == [2, 1]
    assert _order(rows, {1: 6, 2: 2}, "documentation of the price of all items") == [1, 2]
    assert _order(rows, {1: 6, 2: 2}, "CartPrice") == [1, 2]


def test_code_kept_for_compatibility_and_earlier_versions_come_later() -> None:
    rows = [_row(1, "src/legacy/cart.py"), _row(2, "src/cart.py"), _row(3, "src/cart_old.py")]
    assert _order(rows, {1: 6, 2: 5, 3: 6}, "price of all items of a cart")[0] == 2
    rows = [_row(1, "extras/cart_amalgamated.hpp"), _row(2, "src/cart.hpp"), _row(3, "single_include/cart.hpp")]
    assert _order(rows, {1: 6, 2: 5, 3: 6}, "price of all items of a cart")[0] == 2
    rows = [_row(1, "api/v1/cart.py"), _row(2, "api/v2/cart.py")]
    assert _order(rows, {1: 6, 2: 5.8}, "price of all items of a cart") == [2, 1]
    assert find_superseded(["api/v1/a.py", "api/v2/b.py", "other/v1/c.py", "v10/d.py"]) == {"api/v1/a.py"}


def test_who_asks_for_a_type_by_name_gets_it_before_its_constructor() -> None:
    rows = [
        _row(1, "src/cart.h", symbol="Cart.Cart", declares="function_definition"),
        _row(2, "src/cart.h", symbol="Cart", declares="class_specifier"),
        _row(3, "src/other.h", symbol="cart", declares="function_definition"),
    ]
    assert _order(rows, {1: 9, 2: 2, 3: 5}, "Cart") == [2, 1, 3]


def test_a_phrase_of_the_query_counts() -> None:
    words = ("could", "not", "open", "the", "file")
    assert longest_run(words, 'raise Error(f"could not open the {file}")') == 5
    assert longest_run(words, "could not, but open it") == 0
    assert longest_run(words, "couldNotOpen()\n    # the_file, of the café") == 5
    assert longest_run(words, "it could not openly close") == 0
    assert analyse("could not open the file").phrases == ("could not open", "not open the")
    rows = [_row(1, "src/a.py"), _row(2, "src/b.py")]
    query = analyse("could not open the file")
    signals = Signals(lexical={1: 6.0, 2: 5.0}, phrases={2: 1.0})
    ranked = rank(rows, signals, query, AskedTerms({}), weights_for(query.kind, SearchSettings()))
    assert [row.row for row, _ in ranked] == [2, 1]


def test_code_that_holds_the_query_word_for_word_comes_first_whatever_else_is_better() -> None:
    rows = [
        _row(1, "src/open_file.py", "could_not_open", declares="function"), _row(2, "src/b.py"),
        _row(3, "docs/errors.md")._replace(language="markdown"),
    ]  # fmt: skip
    query = analyse("could not open the file")
    signals = Signals(lexical={1: 60.0, 2: 5.0, 3: 50.0}, phrases={2: 1.0, 3: 1.0})
    asked = AskedTerms({"open": 1.0, "could": 1.0})
    ranked = rank(rows, signals, query, asked, weights_for(query.kind, SearchSettings()))
    assert ranked[0][0].row == 2


def test_a_file_of_the_name_and_several_good_places_comes_before_one_better_place() -> None:
    rows = [_row(1, "src/misc.py"), _row(2, "src/retry/scheduler.py"), _row(3, "src/retry/scheduler.py", "Later")]
    assert _order(rows, {1: 6, 2: 5, 3: 5}, "how retries are scheduled")[0] == 2


@pytest.mark.parametrize("text", ["Fix crash on empty input", "feat(cart): sum up prices", "Support colours of a cart"])
def test_a_subject_of_a_commit_is_told_from_a_question(text: str) -> None:
    assert analyse(text).is_change
    assert not analyse(f"where do we {text.lower()}").is_change


def test_the_learned_weights_name_every_kind_of_evidence() -> None:
    assert set(load_weights("code")) == set(FEATURES)


def test_a_name_that_holds_the_words_of_the_query_comes_before_a_body_that_does() -> None:
    rows = [_row(1, "src/a.py"), _row(2, "src/b.py", "refresh_session_tokens", declares="function_definition")]
    assert _order(rows, {1: 6, 2: 5}, "where is the token of a session refreshed") == [2, 1]


def test_a_named_file_comes_first() -> None:
    rows = [_row(1, "src/other.py"), _row(2, "src/auth.py")]
    assert _order(rows, {1: 7, 2: 5}, "token errors in auth.py today", exact={2: ("path",)}) == [2, 1]


def test_nothing_but_a_role_counts_against_a_file_or_a_place() -> None:
    assert {name for name, weight in load_weights("code").items() if weight < 0} == {*ROLES}


def test_a_file_with_several_good_places_comes_before_one_with_a_single_better_place() -> None:
    rows = [_row(1, "src/few.py"), *(_row(number, "src/many.py") for number in range(2, 7))]
    ranked = _rank(rows, {1: 8.0, **dict.fromkeys(range(2, 7), 7.5)}, "where do we sum up the prices of a cart")
    assert ranked[0][0].path == "src/many.py"


def test_within_a_file_the_place_comes_first_that_is_named_so_whatever_else_is_in_the_file() -> None:
    rows = [_row(1), _row(2, symbol="sum_prices", declares="function_definition"), _row(3, "src/b.py")]
    order = _order(rows, {1: 8.0, 2: 4.0, 3: 2.0}, "where do we sum up the prices of a cart")
    assert order.index(2) < order.index(1)


def test_of_the_pieces_of_one_declaration_the_best_stays() -> None:
    rows = [_row(1, symbol="run"), _row(2, symbol="run"), _row(3, symbol=""), _row(4, symbol="")]
    assert sorted(_order(rows, {1: 1, 2: 9, 3: 5, 4: 4}, _LONG)) == [2, 3, 4]


def test_one_file_does_not_fill_the_answer_unless_it_is_far_better_or_named_and_never_that_to_a_change() -> None:
    rows = [_row(number, "src/big.py") for number in range(1, 6)] + [_row(9, "src/small.py")]
    lexical = {number: 8 - number / 1000 for number in range(1, 6)} | {9: 7.5}
    assert _order(rows, lexical, _LONG).index(9) == 1
    assert _order(rows, lexical | {9: 1.0}, _LONG).index(9) == 5
    assert _order(rows, lexical | {9: 1.0}, "fix something long").index(9) == 1
    named = dict.fromkeys(range(1, 6), ("path",))
    assert _order(rows, lexical, "something long in big.py", exact=named).index(9) == 5


def test_text_that_is_not_embedded_yet_is_judged_by_its_words() -> None:
    rows = [_row(1, "a.py"), _row(2, "b.py"), _row(3, "c.py")]
    assert _order(rows, {2: 1.0, 3: 8.0}, _LONG, dense={1: 0.9, 2: 0.1}) == [3, 1, 2]


def test_a_long_declaration_comes_before_a_few_lines_of_its_file_that_are_a_little_nearer_in_meaning() -> None:
    short, long = _row(1)._replace(lines=3), _row(2)._replace(lines=40)
    assert _order([short, long, _row(3)], {}, _LONG, dense={1: 0.9, 2: 0.8, 3: 0.2}) == [2, 1, 3]
    assert _order([short, long, _row(3)], {}, _LONG, dense={1: 0.9, 2: 0.4, 3: 0.2}) == [1, 2, 3]
    pieces = [_row(number, symbol="run")._replace(lines=10) for number in (4, 5, 6, 7)]
    near = {1: 0.9, 4: 0.8, 5: 0.3, 6: 0.3, 7: 0.2}
    assert _order([short, *pieces], {}, _LONG, dense=near) == [4, 1]


def test_among_declarations_of_a_few_lines_length_tells_nothing() -> None:
    rows = [_row(1)._replace(lines=3), _row(2)._replace(lines=8), _row(3)]
    assert _order(rows, {}, _LONG, dense={1: 0.9, 2: 0.8, 3: 0.2}) == [1, 2, 3]


def test_files_are_in_order_of_meaning_however_short_what_they_declare_is() -> None:
    rows = [_row(1, "a.py")._replace(lines=3), _row(2, "b.py")._replace(lines=40), _row(3, "c.py")]
    assert _order(rows, {}, _LONG, dense={1: 0.9, 2: 0.8, 3: 0.2}) == [1, 2, 3]


def test_meaning_counts_more_for_a_question_in_words_than_for_a_name_a_path_a_message_or_code() -> None:
    of_words, of_name = (weights_for(kind, SearchSettings()) for kind in (QueryKind.WORDS, QueryKind.IDENTIFIER))
    assert of_words["dense"] > of_name["dense"] == load_weights("code")["dense"]
    assert of_words["lexical"] == of_name["lexical"]
    rows = [_row(1, "a.py"), _row(2, "b.py"), _row(3, "c.py")]
    dense, lexical = {1: 0.9, 2: 0.4, 3: 0.1}, {1: 5.0, 2: 8.0, 3: 1.0}
    assert _order(rows, lexical, _LONG, dense=dense)[0] == 1
    assert _order(rows, lexical, "a/long.py", dense=dense)[0] == 2


def test_equal_scores_come_in_order_of_path_and_place() -> None:
    rows = [_row(3, "b.py"), _row(2, "a.py"), _row(1, "c.py")]
    assert _order(rows, {1: 5, 2: 5, 3: 5}, _LONG) == [2, 3, 1]


_SIGNAL = st.dictionaries(st.integers(1, 30), st.floats(-1, 1), max_size=20)
_BM25 = st.dictionaries(st.integers(1, 30), st.floats(0, 50), max_size=20)


@given(_SIGNAL, _BM25, st.sampled_from(["run", "src/a.py run", "tests", _LONG]))
@example({1: 0.9853002385725573, 4: -1.0, 3: 0.0, 2: 1e-08}, {}, "run")
def test_final_scores_are_in_0_to_1_and_descend(dense: dict[int, float], lexical: dict[int, float], query: str) -> None:
    rows = [
        _row(n, f"src/{'abc'[n % 3]}.py", "run" if n % 5 == 0 else "", declares="function" if n % 2 == 0 else "")
        for n in dense.keys() | lexical.keys()
    ]
    scores = [round(score, 8) for _, score in _rank(rows, lexical, query, dense=dense)]
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 50)), min_size=2, max_size=12))
@example([(0.0, 0.0078125), (0.0, 0.0), (0.0, 1.0)])
def test_what_is_better_in_every_signal_does_not_come_later(signals: list[tuple[float, float]]) -> None:
    dense = {number: value for number, (value, _) in enumerate(signals)}
    lexical = {number: value for number, (_, value) in enumerate(signals)}
    rows = [_row(number, f"src/{number}.py") for number in dense]
    scores = {row.row: score for row, score in _rank(rows, lexical, _LONG, dense=dense)}
    if dense[0] >= dense[1] and lexical[0] >= lexical[1]:
        assert scores[0] >= scores[1] - 1e-9


@given(_BM25, _BM25)
def test_weights_of_nothing_silence_a_signal(dense: dict[int, float], lexical: dict[int, float]) -> None:
    silent = weights_for(QueryKind.WORDS, SearchSettings(dense_weight=0.0))
    assert silent["dense"] == silent["file_dense"] == 0
    rows = [_row(number, f"src/{number}.py") for number in dense.keys() | lexical.keys()]
    asked = analyse(_LONG)
    with_both = rank(rows, Signals(dense, lexical), asked, AskedTerms({}), silent)
    without = rank(rows, Signals({}, lexical), asked, AskedTerms({}), silent)
    assert [row.row for row, _ in with_both] == [row.row for row, _ in without]
