"""A text of memories for a prompt: with citations, and never above its budget."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_ls.chunking import approximate_token_offsets
from rag_ls.memory.recall import context_text
from rag_ls.model import Anchor, AnchorState, Hit, Memory, Scope
from tests.memory.support import record
from tests.support import scale_examples

_Contents = st.lists(
    st.text(st.sampled_from("abc défgß,.\n検索👍-_"), min_size=1, max_size=300)
    | st.integers(1, 400).map(lambda count: "word " * count),
    max_size=8,
)


def _hits(memories: Sequence[Memory]) -> list[Hit]:
    return [Hit(memory, 1.0, ("dense",)) for memory in memories]


def _tokens(text: str) -> int:
    return int(approximate_token_offsets(text).size)


@settings(max_examples=scale_examples(40))
@given(contents=_Contents, budget=st.integers(1, 700))
def test_the_budget_is_kept(contents: list[str], budget: int) -> None:
    text = context_text(_hits([record(number, content) for number, content in enumerate(contents)]), budget)
    assert _tokens(text) <= budget


@settings(max_examples=scale_examples(40))
@given(contents=_Contents, budget=st.integers(1, 700))
def test_lines_are_numbered_and_at_most_the_last_is_cut(contents: list[str], budget: int) -> None:
    memories = [record(number, content) for number, content in enumerate(contents)]
    lines = context_text(_hits(memories), budget).splitlines()
    for place, line in enumerate(lines):
        content = " ".join(memories[place].content.split())
        found = re.fullmatch(rf"\[{place + 1}\] (.*) \(project, 2026-01-01, {memories[place].id[:8]}\)", line)
        assert found is not None
        if found[1] != content:
            assert found[1].endswith("…")
            assert content.startswith(found[1].removesuffix("…"))
            assert place == len(lines) - 1


@settings(max_examples=scale_examples(40))
@given(contents=_Contents)
def test_with_room_for_all_nothing_is_cut_or_left_out(contents: list[str]) -> None:
    text = context_text(_hits([record(number, content) for number, content in enumerate(contents)]), 1_000_000)
    assert len(text.splitlines()) == len(contents)
    assert "…" not in text


def test_a_memory_names_its_scope_its_day_and_its_place() -> None:
    memories = [
        record(1, "Locks are taken in order", scope=Scope.GLOBAL),
        record(2, "Retry twice", anchor=Anchor("src/a.py", "A.run", "hash", 12, AnchorState.DRIFTED)),
        record(3, "Ask Ada", anchor=Anchor("src/b.py", state=AnchorState.ORPHANED)),
        record(4, "Two\n lines", anchor=Anchor("src/c.py", "C", "hash", 1)),
    ]
    assert context_text(_hits(memories)).splitlines() == [
        "[1] Locks are taken in order (global, 2026-01-01, 00000001)",
        "[2] Retry twice (project, 2026-01-01, 00000002, about src/a.py:12, changed since)",
        "[3] Ask Ada (project, 2026-01-01, 00000003, about src/b.py, gone)",
        "[4] Two lines (project, 2026-01-01, 00000004, about src/c.py:1)",
    ]


def test_what_does_not_fit_is_cut_at_a_word_and_says_so() -> None:
    text = context_text(_hits([record(1, "first second third " * 40)]), 60)
    cut = re.fullmatch(r"\[1\] (.+)… \(project, 2026-01-01, 00000001\)", text)
    assert cut is not None
    assert _tokens(text) > 50


def test_a_memory_of_which_little_would_be_left_is_left_out() -> None:
    hits = _hits([record(1, "short rule"), record(2, "long rule " * 40)])
    whole = _tokens(context_text(hits[:1]))
    assert context_text(hits, whole + 20).count("[") == 1


@pytest.mark.parametrize("budget", [1, 5, 10])
def test_no_room_gives_no_text(budget: int) -> None:
    assert context_text(_hits([record(1, "a rule")]), budget) == ""


def test_no_hits_give_no_text() -> None:
    assert context_text([]) == ""
