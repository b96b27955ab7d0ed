"""A search's answer as people read it, and as other tools do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rag_ls.cli.answer_text import (
    Extent,
    _make_pattern,
    _rank_lines,
    format_vimgrep,
    group_entries,
    pick_best_hits,
    render_screen,
)
from rag_ls.search.query import analyse

_STATS = {"took_ms": 1.0, "dense": True, "candidates": 9, "complete": True}
_TEXT = '''\
    def refresh(self, token):
        """Go on with a session."""
        if token.is_old:
            token.renew()
        log("one")
        log("two")
        token.count += 1
        return token
'''


def _chunk(path: str = "auth.py", score: float = 0.5, start: int = 10, **more: Any) -> dict[str, Any]:
    return {
        "kind": "chunk", "id": f"id-of-{path}-{start}", "path": path, "start_line": start, "end_line": start + 7, "score": score,
        "language": "python", "symbol": "Session.refresh", "matched_by": ["lexical"], "freshness": "disk",
        "why": "words", "text": _TEXT, **more,
    }  # fmt: skip


def _memory(score: float, number: int = 1) -> dict[str, Any]:
    return {
        "kind": "memory", "id": f"{number}2345678-abcd", "score": score, "scope": "project", "metadata": {"tags": ["auth"]},
        "content": "Tokens live an hour", "updated_at": "2026-01-02T03:04:05Z", "matched_by": ["dense"],
    }  # fmt: skip


def _screen(*results: dict[str, Any], words: Sequence[str] = ("token", "renew"), **extent: Any) -> str:
    return render_screen({"results": list(results), "stats": _STATS, "words": words}, Extent(**extent))


def test_a_file_is_shown_once_with_its_lines_that_match_and_no_more_than_four() -> None:
    assert _screen(_chunk(), _chunk(start=40, symbol="Session.end", score=0.4)).split("\n") == [
        "auth.py:10  Session.refresh, Session.end",
        "  10  def refresh(self, token):",
        "  12      if token.is_old:",
        "  13          token.renew()",
        "  43          token.renew()",
    ]


def test_a_name_that_is_nowhere_is_told_with_the_files_that_were_not_looked_at() -> None:
    exact = {"match": "exact", "pattern": "renew_all", "total": 0, "files": 0, "places": [], "left_out": "1 big file"}
    far = {"results": [_chunk(far=True)], "stats": {**_STATS, "nothing_close": True}, "exact": exact}
    assert render_screen({**far, "words": ["renew"]}, Extent()).startswith("(1 big file)\n\nauth.py:13")
    # Beside what is close this would be noise.
    assert "1 big file" not in render_screen({**far, "stats": _STATS}, Extent())


def test_the_best_lines_are_those_with_the_most_words_of_the_question() -> None:
    shown = _screen(_chunk(symbol=""))
    assert [line.split()[0] for line in shown.split("\n")[1:]] == ["10", "12", "13", "16"]
    assert shown.startswith("auth.py:10")
    # The line that holds two of them is left out by none that holds one.
    assert "  13          token.renew()" in _screen(
        _chunk(symbol=""), _chunk(start=40, symbol=""), _chunk(start=60, symbol="")
    )


def test_where_no_line_matches_the_declaration_and_what_follows_is_shown() -> None:
    shown = _screen(_chunk(), words=["extend", "login"])
    assert shown.split("\n")[1:] == [
        "  10  def refresh(self, token):",
        '  11      """Go on with a session."""',
        "  12      if token.is_old:",
    ]


def test_of_a_long_memory_the_lines_that_answer_are_shown() -> None:
    content = "\n".join([*(f"filler {number}" for number in range(30)), "The token is renewed at noon.", "filler"])
    shown = _screen({**_memory(0.9), "content": content})
    assert "The token is renewed at noon." in shown
    assert "filler 2\n" not in shown


def test_a_memory_stands_where_its_score_puts_it() -> None:
    shown = _screen(_chunk("a.py", 0.9), _chunk("b.py", 0.3), _memory(0.6))
    assert shown.index("a.py") < shown.index("memory 12345678") < shown.index("b.py")
    assert "memory 12345678  project  2026-01-02  #auth\n    Tokens live an hour" in shown


def test_what_is_left_out_is_counted_and_more_is_shown_when_asked_for() -> None:
    results = [*(_chunk(f"f{number}.py") for number in range(7)), *(_memory(0.9, number) for number in range(4))]
    shown = _screen(*results)
    assert shown.count(".py:10") == 5
    assert shown.count("memory ") == 2
    assert shown.endswith("(2 more files, 2 more memories: -k 10 shows more, -v why each was found)")
    everything = _screen(*results, files=10, beside=10)
    assert (everything.count(".py:10"), everything.count("memory "), "more" in everything) == (7, 4, False)


def test_notes_stand_above_what_was_found() -> None:
    stats = {**_STATS, "complete": False, "pending_embeddings": 5, "note": "no file holds these words"}
    shown = render_screen({"query": "x", "results": [_chunk()], "stats": stats}, Extent())
    assert shown.split("\n\n")[0].split("\n") == [
        "(the index is not complete: 5 embeddings to come)",
        "(no file holds these words)",
    ]
    assert render_screen({"query": "x", "results": [], "stats": _STATS}, Extent()) == "nothing found"


@pytest.mark.parametrize("idle", [False, True])
def test_files_that_were_not_compared_are_told_in_one_sentence(idle: bool) -> None:
    stats = {**_STATS, "complete": False, "idle": idle}
    assert render_screen({"query": "x", "results": [], "stats": stats}, Extent()).startswith(
        "(the index is not complete: the files were not compared with it yet)"
    )


def test_files_to_come_are_told_beside_a_note_of_other_files() -> None:
    stats = {**_STATS, "complete": False, "pending_documents": 1, "note": "21 files are too large"}
    said = render_screen({"query": "x", "results": [], "stats": stats}, Extent())
    assert said.startswith("(the index is not complete: 1 file to come)\n(21 files are too large)"), said


def test_what_nobody_works_on_is_said_to_be_missing() -> None:
    stats = {**_STATS, "complete": False, "pending_documents": 2, "idle": True}
    assert render_screen({"query": "x", "results": [], "stats": stats}, Extent()).startswith(
        "(the index is not complete: 2 files are missing, and nothing makes them now: `rag-ls index` does)"
    )


def test_details_say_why_and_full_shows_all_lines() -> None:
    assert "0.50  10-17  Session.refresh  words  id-of-auth.py-10" in _screen(_chunk(), details=True)
    assert "id-of" not in _screen(_chunk())
    full = _screen(_chunk(), full=True)
    assert "  17      return token" in full
    assert len(full.split("\n")) == 9


def test_code_that_is_not_as_its_file_says_so() -> None:
    assert "changed since" in _screen(_chunk(freshness="changed"))
    assert "unsaved" in _screen(_chunk(freshness="buffer"))


def test_other_tools_are_given_paths_or_lines() -> None:
    data = {"results": [_chunk("b.py", 0.4), _memory(0.9), _chunk("a.py", 0.9), _chunk("a.py", 0.3, 40)]}
    assert [hit["path"] for hit in pick_best_hits(data, 5)] == ["a.py", "b.py"]
    assert [hit["path"] for hit in pick_best_hits(data, 1)] == ["a.py"]
    assert list(format_vimgrep({"results": [_chunk()], "words": ["old"]}, 5)) == [
        "a.py:10:5:    def refresh(self, token):".replace("a.py", "auth.py").replace(":5:", ":1:"),
        "auth.py:12:21:        if token.is_old:",
    ]


def test_projects_keep_files_of_the_same_path_apart() -> None:
    found = group_entries([_chunk(project="/a"), _chunk(project="/b")])
    assert len(found) == 2


def test_other_places_of_a_file_are_shown_with_their_lines() -> None:
    place = {"start_line": 40, "end_line": 47, "symbol": "Session.end", "line": 43, "text": "            token.renew()"}
    in_whole = _screen(_chunk(places=[{**place, "whole": _TEXT}]))
    assert in_whole.startswith("auth.py:10  Session.refresh, Session.end\n")
    assert in_whole.endswith("  43          token.renew()")
    assert _screen(_chunk(places=[place])).endswith("  43          token.renew()")
    details = _screen(_chunk(places=[{**place, "whole": _TEXT}]), details=True)
    assert "\n  40-47  Session.end\n" in details
    assert "auth.py:43:19:            token.renew()" in list(
        format_vimgrep({"results": [_chunk(places=[place])], "words": ["renew"]}, 5)
    )


def test_a_file_far_below_the_best_is_one_line_of_code() -> None:
    assert _screen(_chunk(far=True), _chunk(start=40, symbol="Session.end", score=0.1, far=True)).split("\n") == [
        "auth.py:13  Session.refresh, Session.end",
        "  13  token.renew()",
    ]


@pytest.mark.parametrize(
    ("question", "line", "count"),
    [
        ("where are retries counted", "retry_count = 3", 2),
        ("where are retries counted", "self.maxRetries = x", 1),
        ("getUserById", "def get_user(id):", 2),
        ("the index", "begin", 0),
        ("größe messen", "def messe_größe():", 1),
        ("?!", "anything", 0),
    ],
)
def test_words_are_found_with_other_endings_and_in_names(question: str, line: str, count: int) -> None:
    chunk = _chunk(symbol="", text=f"\n{line}\n")
    (shown, *_) = (each for each in group_entries([chunk]))
    words = analyse(question).line_stems
    found = _rank_lines(shown.best, _make_pattern({"words": words}))
    assert found[0].weight == count
