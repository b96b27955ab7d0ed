"""Answers under a budget of tokens."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rag_ls.operations.code.budget import count_tokens, fit_to_budget
from rag_ls.operations.code.hits import CodeAnswer, CodeRecord, PlaceRecord, find_best_line, mark_far
from rag_ls.operations.stats import Stats
from rag_ls.search.query import analyse
from tests.agents import render_answer

LONG = (
    "def refresh(self, token):\n"
    + "".join(f"    step_{n} = {n}\n" for n in range(200))
    + "    rotate_keys(token)\n    return 1\n"
)


def _record(text: str | None, number: int = 0) -> CodeRecord:
    return CodeRecord(
        "chunk", str(number), "src/auth.py", 1, 1, "python", "", "text", 1.0, ("lexical",), "disk", text=text
    )


def test_a_cut_text_keeps_its_first_line_and_the_lines_that_match_with_their_neighbours() -> None:
    (shown,), left_out = fit_to_budget(analyse("where are keys rotated: rotate_keys"), [_record(LONG)], 400)
    lines = shown.text.split("\n")
    assert (shown.truncated, left_out) == (True, 0)
    assert lines[0] == "def refresh(self, token):"
    assert "    rotate_keys(token)" in lines
    assert "    return 1" in lines
    assert "…" in lines


def test_blank_lines_are_kept_last() -> None:
    text = "def refresh(self, token):\n\n" + "    rotate_keys(token)\n\n" + "    step()\n\n" * 200
    (shown,), _ = fit_to_budget(analyse("rotate keys"), [_record(text)], 300)
    assert "\n\n" not in shown.text
    assert "rotate_keys" in shown.text


def test_files_after_the_third_get_fewer_lines() -> None:
    shown, _ = fit_to_budget(analyse("rotate keys"), [_record(LONG, number) for number in range(6)], 2000)
    first, later = count_tokens(shown[0].text), count_tokens(shown[5].text)
    assert later < first * 0.7
    assert all("rotate_keys(token)" in item.text for item in shown)


def test_what_fits_stays_as_it_is() -> None:
    assert fit_to_budget(analyse("x"), [_record("a\nb\n")], 1000) == ([_record("a\nb\n")], 0)


def test_short_texts_leave_their_share_to_long_ones() -> None:
    short, long = fit_to_budget(analyse("refresh"), [_record("a = 1\n"), _record(LONG, 1)], 1000)[0]
    assert short == _record("a = 1\n")
    assert count_tokens(long.text) > 300


def test_hits_without_room_for_three_lines_are_counted() -> None:
    shown, left_out = fit_to_budget(analyse("refresh"), [_record(LONG, number) for number in range(50)], 1000)
    assert len(shown) + left_out == 50
    assert left_out > 0
    assert all(len([line for line in item.text.split("\n") if line != "…"]) >= 3 for item in shown)


def test_a_line_without_end_is_cut() -> None:
    (shown,), _ = fit_to_budget(analyse("x"), [_record("x" * 100_000)], 500)
    assert len(shown.text) < 1000


def test_hits_without_text_pass() -> None:
    assert fit_to_budget(analyse("x"), [_record(None)], 10) == ([_record(None)], 0)


@given(
    st.lists(st.text(alphabet=st.sampled_from('ab _(\n\r\t"\\\u4e2d\u2028…'), max_size=600), min_size=1, max_size=8),
    st.integers(300, 3000),
    st.text(max_size=20),
)
def test_an_answer_of_several_hits_stays_under_its_budget(texts: list[str], budget: int, query: str) -> None:
    shown, left_out = fit_to_budget(
        analyse(query), [_record(text, number) for number, text in enumerate(texts)], budget
    )
    assert len(shown) + left_out == len(texts)
    stats = Stats(took_ms=1.0, dense=True, candidates=1, complete=True)
    text = render_answer("search_code", CodeAnswer(query, tuple(shown), stats))["text"]
    assert len(shown) == 1 or count_tokens(text) <= budget


def test_a_far_hit_keeps_the_line_that_says_most() -> None:
    place = PlaceRecord(300, 310, "other", 301, "keys")
    (shown,), _ = fit_to_budget(analyse("rotate_keys"), [replace(_record(LONG), far=True, places=(place,))], 2000)
    assert (shown.text, shown.left_out, shown.places) == ("…\n    rotate_keys(token)\n…", ("1-201", "203-203"), ())


def test_a_far_hit_of_a_long_line_keeps_its_place() -> None:
    text = "\n".join(["pass"] * 10 + [f"needle = {'x' * 400}"])
    (near, shown), _ = fit_to_budget(analyse("needle"), [_record("needle\n"), replace(_record(text, 2), far=True)], 400)
    assert near.text == "needle\n"
    assert shown.left_out == ("1-10",)
    single = replace(_record("needle = 1"), far=True)
    assert fit_to_budget(analyse("needle"), [single], 400) == ([single], 0), "nothing of it is left out"


def test_the_only_near_file_of_several_gets_a_sixth() -> None:
    others = [replace(_record("a = 1\n", number), far=True) for number in range(1, 10)]
    shown, left_out = fit_to_budget(analyse("refresh"), [_record(LONG), *others], 2000)
    assert left_out == 0
    assert 150 < count_tokens(shown[0].text) < 2000 / 6


def test_a_score_much_lower_than_the_best_is_far() -> None:
    scored = [replace(_record("a"), score=score) for score in (0.3, 0.75, 0.56, 0.54)]
    assert [record.far for record in mark_far(scored)] == [True, False, False, True]
    assert mark_far([]) == ()


def test_the_line_that_holds_words_of_the_question_one_after_another_says_most() -> None:
    text = "def get(clipboard):\n    format = find(clipboard)\n    log('no synthesizer for format %s', name)\n    cast(winpr)\n"
    assert find_best_line(text, ["winpr", "synthesizer", "format", "raw"])[0] == 2


def test_files_far_below_the_best_are_a_line_each_also_where_all_score_low() -> None:
    records = [replace(_record("x = 1", at), score=score) for at, score in enumerate((0.3, 0.16, 0.14, 0.11))]
    assert [each.far for each in mark_far(records)] == [False, False, True, True]
