"""Summaries of memories' own sentences: the same ones always, and no more than was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_ls.memory.summarise import extract, summary_key
from rag_ls.model import Memory, MemoryFilters, MemoryMetadata, MemoryType, Scope
from tests.memory.support import record
from tests.support import scale_examples

_NOTES = (
    "Access tokens expire after an hour. The client renews them.",
    "Tokens expire, so the client renews access tokens before each long request!",
    "Invoices are sent by mail.\nA copy of invoices goes to the archive.",
    "# Deployment\n- Deploy on Fridays only\n- Roll back within an hour",
    "The client keeps its tokens in the keychain. Is that safe? Yes, it is encrypted.",
    "令牌一小时后过期。客户端会续期。",
)
_MEMORIES = [record(number, note) for number, note in enumerate(_NOTES, 1)]


def _lines(memories: Sequence[Memory], words: int) -> list[str]:
    text = extract(memories, words)
    assert all(line.startswith("- ") for line in text.splitlines())
    return [line.removeprefix("- ") for line in text.splitlines()]


@settings(max_examples=scale_examples(40))
@given(order=st.permutations(_MEMORIES), words=st.integers(1, 80))
def test_the_same_memories_give_the_same_summary_in_whatever_order(order: list[Memory], words: int) -> None:
    assert extract(order, words) == extract(_MEMORIES, words)


_Texts = st.lists(st.text(st.sampled_from("ab cd.!?\n-#é検 "), max_size=40) | st.sampled_from(_NOTES), max_size=8)


@settings(max_examples=scale_examples(40))
@given(texts=_Texts, words=st.integers(1, 60))
def test_a_summary_has_no_more_words_than_asked_for_and_no_line_twice(texts: list[str], words: int) -> None:
    memories = [record(number, text or "nothing") for number, text in enumerate(texts)]
    lines = _lines(memories, words)
    assert len(set(lines)) == len(lines)
    assert sum(len(line.removesuffix(" ...").split()) for line in lines) <= words


@settings(max_examples=scale_examples(40))
@given(texts=_Texts)
def test_every_line_is_a_sentence_of_a_memory(texts: list[str]) -> None:
    memories = [record(number, text or "nothing") for number, text in enumerate(texts)]
    for line in _lines(memories, 1000):
        assert any(line in " ".join(memory.content.split()) for memory in memories)


def test_nothing_has_an_empty_summary() -> None:
    assert extract([], 50) == ""
    assert extract([record(1, "---\n# \n**")], 50) == ""


@pytest.mark.parametrize(
    "text", ["Access tokens expire after an hour", "Schlüssel gelten für ein Jahr", "k8s", "für", "検索"]
)
def test_what_says_the_same_is_said_once(text: str) -> None:
    memories = [record(number, text + "." * number) for number in range(5)]
    assert len(_lines(memories, 200)) == 1


def test_lines_are_in_the_order_of_time() -> None:
    lines = _lines(_MEMORIES, 1000)
    places = [next(number for number, note in enumerate(_NOTES) if line in " ".join(note.split())) for line in lines]
    assert places == sorted(places)


def test_what_many_speak_of_comes_before_what_one_does() -> None:
    memories = [
        record(1, "Bake the cake for an hour"),
        record(2, "The gateway rejects expired tokens"),
        record(3, "Expired tokens are counted by the gateway"),
        record(4, "Tokens come from the gateway and are expired there"),
    ]
    assert not any("cake" in line for line in _lines(memories, 7))


def test_the_important_counts_more() -> None:
    memories = [record(number, text) for number, text in enumerate(("Bake the cake", "Send the mail", "Lock the door"))]
    for place, memory in enumerate(memories):
        weighed = [*memories]
        weighed[place] = replace(memory, metadata=MemoryMetadata(importance_score=1.0))
        assert _lines(weighed, 3) == [memory.content]


def test_one_long_sentence_is_cut_to_the_words_allowed() -> None:
    (line,) = _lines([record(1, "word " * 100)], 10)
    assert line == " ".join(["word"] * 10) + " ..."


def test_a_great_many_sentences_take_no_minute() -> None:
    memories = [
        record(number, f"Rule {number} is about topic {number % 97}. It holds for team {number % 31}.")
        for number in range(500)
    ]
    assert 0 < len(extract(memories, 200).split()) <= 300


class TestKey:
    def test_it_is_the_same_for_the_same_question(self) -> None:
        one = summary_key("2026-01-01", "2026-01-31", MemoryFilters(tags=("a", "B"), language="Python"))
        other = summary_key("2026-01-01", "2026-01-31", MemoryFilters(tags=("b", "a", "A"), language="python"))
        assert one == other
        assert one.startswith("summary:")
        scopes = [
            MemoryFilters(scopes=(Scope.PROJECT, Scope.GLOBAL)),
            MemoryFilters(scopes=(Scope.GLOBAL, Scope.PROJECT)),
        ]
        assert len({summary_key("", "", filters) for filters in scopes}) == 1

    def test_it_is_another_for_another_question(self) -> None:
        filters = [
            MemoryFilters(), MemoryFilters(tags=("a",)), MemoryFilters(tags=("a", "b")), MemoryFilters(language="go"),
            MemoryFilters(memory_type=MemoryType.EPISODIC), MemoryFilters(scopes=(Scope.PROJECT,)),
            MemoryFilters(never_used=True),
        ]  # fmt: skip
        keys = [summary_key("2026-01-01", "2026-01-31", item) for item in filters]
        keys += [
            summary_key("2026-01-02", "2026-01-31", MemoryFilters()),
            summary_key("2026-01-01", "", MemoryFilters()),
        ]
        assert len(set(keys)) == len(keys)

    @pytest.mark.parametrize("start", ["", "2026-01-01"])
    def test_it_stays_the_same_from_day_to_day(self, start: str) -> None:
        assert summary_key(start, "", MemoryFilters()) == summary_key(start, "", MemoryFilters())
