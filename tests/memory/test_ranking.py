"""What fits best comes first; what is important, recent or often recalled only breaks ties."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.embedding import ModelCard
from rag_ls.memory.recall import lift_score, parse_stamp, recency, score
from rag_ls.model import Memory, MemoryMetadata
from rag_ls.search.fusion import Signals, cosine_of, similarity
from tests.memory.support import record

_NOW = datetime(2026, 6, 1, tzinfo=UTC)
_MODELS = st.builds(ModelCard, st.just("model@1"), st.just("model"), st.just(256), st.just(8), st.floats(0.05, 0.95))


def _memory(importance: float = 0.5, days: float = 0.0, uses: int = 0, used_days: float | None = None) -> Memory:
    def at(age: float) -> str:
        return (_NOW - timedelta(days=age)).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    return replace(
        record(), metadata=MemoryMetadata(importance_score=importance), updated_at=at(days), uses=uses,
        used_at=None if used_days is None else at(used_days),
    )  # fmt: skip


_Memories = st.builds(
    _memory, st.floats(0, 1), st.floats(0, 5000), st.integers(0, 10**6), st.none() | st.floats(0, 5000)
)


@given(one=_Memories, other=_Memories, score=st.floats(0.01, 1), half_life=st.sampled_from([0.0, 1.0, 30.0]))
def test_a_clearly_better_fit_is_never_beaten(one: Memory, other: Memory, score: float, half_life: float) -> None:
    better, worse = lift_score(score, one, _NOW, half_life), lift_score(score / 1.07, other, _NOW, half_life)
    assert 0 <= worse < better <= 1


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (_memory(importance=0.9), _memory(importance=0.4)),
        (_memory(days=1), _memory(days=20)),
        (_memory(days=20, used_days=1), _memory(days=20)),
        (_memory(uses=5, days=9), _memory(days=9)),
        (_memory(uses=1, days=9), _memory(days=9)),
    ],
)
def test_of_equal_fits_the_important_the_recent_and_the_recalled_come_first(more: Memory, less: Memory) -> None:
    assert lift_score(0.5, more, _NOW, 30) > lift_score(0.5, less, _NOW, 30)


def test_without_a_half_life_nothing_sinks() -> None:
    assert lift_score(0.5, _memory(days=5000), _NOW, 0) == lift_score(0.5, _memory(days=0), _NOW, 0)


@pytest.mark.parametrize(("days", "left"), [(0, 1), (30, 0.5), (60, 0.25), (-5, 1)])
def test_half_of_the_recency_is_left_after_each_half_life(days: float, left: float) -> None:
    assert recency(_memory(days=days), _NOW, 30) == pytest.approx(left)
    assert recency(_memory(days=5000, used_days=days), _NOW, 30) == pytest.approx(left)


def test_a_time_without_an_offset_is_in_utc() -> None:
    assert (
        parse_stamp("2026-01-01T00:00:00")
        == parse_stamp("2026-01-01T00:00:00.000Z")
        == parse_stamp("2026-01-01T01:00:00+01:00")
    )


_Share = st.dictionaries(st.sampled_from("abc"), st.floats(0, 1))


@given(
    dense=st.dictionaries(st.sampled_from("abc"), st.floats(-1, 1)),
    words=_Share,
    expanded=_Share,
    tags=st.integers(0, 9),
)
def test_a_score_is_within_0_and_1_and_names_its_signals(
    dense: dict[str, float], words: dict[str, float], expanded: dict[str, float], tags: int
) -> None:
    signals = Signals(dense=dense, lexical=words, expanded=expanded, tags={"a": tags} if tags else {})
    for memory_id in "abc":
        assert 0 <= score(signals, memory_id) <= 1
        named = ("dense" in signals.matched_by(memory_id), "lexical" in signals.matched_by(memory_id))
        assert named == (memory_id in dense, memory_id in words)


def test_a_word_as_it_is_counts_more_than_another_that_means_the_same() -> None:
    signals = Signals(lexical={"as it is": 0.5}, expanded={"another": 0.5})
    assert score(signals, "as it is") > score(signals, "another") > score(signals, "neither") == 0


@given(_MODELS, st.floats(0, 1))
def test_a_similarity_and_its_cosine_give_each_other_back(model: ModelCard, value: float) -> None:
    assert similarity(model, cosine_of(model, value)) == pytest.approx(value, abs=1e-9)
    assert cosine_of(model, similarity(model, value)) == pytest.approx(value, abs=1e-9)


@given(_MODELS, st.floats(-1, 1), st.floats(-1, 1))
def test_a_greater_cosine_is_never_less_similar(model: ModelCard, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= similarity(model, low) <= similarity(model, high) <= 1


@given(_MODELS, st.floats(0, 1), st.floats(0, 1))
def test_who_asks_for_more_similarity_asks_for_a_greater_cosine(model: ModelCard, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= cosine_of(model, low) <= cosine_of(model, high) <= 1
