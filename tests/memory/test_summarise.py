"""A summary is kept as a memory: one for each question, however often it is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_ls.config.engine_settings import SummarySettings
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.memory import ALL, Memories, MemoryFilters, Question
from rag_ls.memory.summarise import Summary, SummaryRequest, SummaryStrategy, make_summary
from rag_ls.model import MemoryType, Scope
from tests.memory.chat_server import chat_server
from tests.memory.support import new

_HERE = SummarySettings()


@pytest.fixture
def noted(memories: Memories) -> Memories:
    """Notes of two scopes."""
    memories.store(new("Access tokens expire after an hour", Scope.PROJECT, "auth"), None)
    memories.store(new("Invoices are sent by mail", Scope.PROJECT, "billing"), None)
    memories.store(new("Reviews need two people", Scope.GLOBAL), None)
    return memories


def _summarise(
    memories: Memories, filters: MemoryFilters = ALL, words: int = 200, key: str = "", settings: SummarySettings = _HERE
) -> Summary:
    return make_summary(memories, SummaryRequest(filters, words, key), None, settings)


def test_a_summary_is_a_semantic_memory_that_names_its_sources(noted: Memories) -> None:
    ids = {memory.id for memory in noted.list_page(MemoryFilters(scopes=(Scope.PROJECT,)))[0]}
    summary = _summarise(noted)
    memory = summary.stored.memory
    assert (summary.stored.status, summary.count, summary.note) == ("inserted", 2, "")
    assert (memory.scope, memory.memory_type, memory.metadata.tags) == (
        Scope.PROJECT,
        MemoryType.SEMANTIC,
        ("summary",),
    )
    assert set(memory.source_memory_ids) == ids
    assert sorted(memory.content.splitlines()) == [
        "- Access tokens expire after an hour",
        "- Invoices are sent by mail",
    ]
    assert noted.get(memory.id) == memory


def test_the_same_again_replaces_it(noted: Memories) -> None:
    first = _summarise(noted).stored.memory
    noted.store(new("Deploy on Fridays only"), None)
    again = _summarise(noted).stored
    assert (again.status, again.memory.id, again.memory.version) == ("updated", first.id, 2)
    assert "Deploy on Fridays only" in again.memory.content
    assert len(again.memory.source_memory_ids) == 3
    assert len(noted.list_page(ALL)[0]) == 5
    assert noted.history(first.id)[0].memory.content == first.content


def test_where_nothing_changed_there_is_no_new_version(noted: Memories) -> None:
    first = _summarise(noted).stored.memory
    again = _summarise(noted).stored
    assert (again.status, again.memory.id, again.memory.version) == ("duplicate", first.id, 1)


def test_another_question_has_a_summary_of_its_own(noted: Memories) -> None:
    ids = {
        _summarise(noted).stored.memory.id,
        _summarise(noted, MemoryFilters(tags=("auth",))).stored.memory.id,
        _summarise(noted, MemoryFilters(scopes=(Scope.PROJECT,))).stored.memory.id,
        _summarise(noted, MemoryFilters(since="2026-01-01T00:00:02.000Z")).stored.memory.id,
    }
    assert len(ids) == 4


def test_a_key_of_the_caller_s_own_is_kept(noted: Memories) -> None:
    first = _summarise(noted, key="weekly").stored.memory
    other = _summarise(noted, MemoryFilters(tags=("auth",)), key="weekly").stored
    assert (first.summary_key, other.status, other.memory.id) == ("weekly", "updated", first.id)


def test_summaries_are_no_input_of_summaries(noted: Memories) -> None:
    first = _summarise(noted, key="one").stored.memory
    second = _summarise(noted, key="two")
    assert second.count == 2
    assert first.id not in second.stored.memory.source_memory_ids


def test_of_one_scope_it_stays_there(noted: Memories) -> None:
    summary = _summarise(noted, MemoryFilters(scopes=(Scope.GLOBAL,)))
    assert (summary.count, summary.stored.memory.scope) == (1, Scope.GLOBAL)
    # It may say the very same as the one memory that it is of.
    assert summary.stored.memory.content == "- Reviews need two people"


def test_a_summary_may_say_the_very_same_as_a_memory(memories: Memories) -> None:
    memories.store(new("- Reviews need two people"), None)
    summary = _summarise(memories)
    assert summary.stored.memory.content == "- Reviews need two people"
    assert summary.stored.status == "inserted"
    assert memories.store(new("- Reviews need two people"), None).status == "duplicate"


def test_filters_and_words_are_kept_to(noted: Memories) -> None:
    summary = _summarise(noted, MemoryFilters(tags=("auth",)), words=5)
    assert summary.stored.memory.content == "- Access tokens expire after an ..."
    assert summary.stored.memory.metadata.tags == ("summary", "auth")


def test_nothing_to_summarise_is_an_error_that_says_when(noted: Memories) -> None:
    with pytest.raises(NotFound, match="no memory from 2027-01-01 to now"):
        _summarise(noted, MemoryFilters(since="2027-01-01"))
    with pytest.raises(NotFound, match="from the beginning to 2025"):
        _summarise(noted, MemoryFilters(until="2025"))
    assert len(noted.list_page(ALL)[0]) == 3


def test_a_time_that_ends_before_it_starts_is_an_error(noted: Memories) -> None:
    with pytest.raises(InvalidRequest, match=r"ends \(2026-01-01\) before it starts \(2026-02-01\)"):
        _summarise(noted, MemoryFilters(since="2026-02-01", until="2026-01-01"))


def test_memories_without_a_sentence_are_an_error(memories: Memories) -> None:
    memories.store(replace(new("---"), force=True), None)
    with pytest.raises(NotFound, match="no sentence"):
        _summarise(memories)


class TestByAModel:
    def test_its_words_are_kept(self, noted: Memories) -> None:
        with chat_server() as server:
            server.speaks_openai("Tokens live an hour, invoices go by mail, reviews need two.")
            settings = SummarySettings(endpoint=f"{server.url}/v1", model="small")
            first = _summarise(noted, settings=settings)
            again = _summarise(noted, settings=settings)
        assert first.stored.memory.content == "Tokens live an hour, invoices go by mail, reviews need two."
        assert (first.strategy, first.note) == (SummaryStrategy.ABSTRACTIVE, "")
        assert again.stored.memory.id == first.stored.memory.id

    def test_where_it_fails_the_memories_own_sentences_are_taken_and_it_is_said(self, noted: Memories) -> None:
        with chat_server() as server:
            server.status, server.answer = 500, {"error": "out of memory"}
            summary = _summarise(noted, settings=SummarySettings(endpoint=f"{server.url}/v1", model="small"))
        assert "- Invoices are sent by mail" in summary.stored.memory.content
        assert summary.strategy is SummaryStrategy.EXTRACTIVE
        assert "500" in summary.note
        assert "made of the memories' own sentences instead" in summary.note

    def test_of_too_many_memories_the_newest_are_taken_and_it_is_said(self, memories: Memories) -> None:
        with memories.of(Scope.SESSION).transaction():
            for number in range(520):
                memories.store(new(f"Rule {number}", Scope.SESSION), None)
        summary = _summarise(memories, MemoryFilters(scopes=(Scope.SESSION,)), words=10)
        assert summary.count == 520
        assert summary.note == "of 520 memories, the 500 that were changed last are summarised"
        assert len(summary.stored.memory.source_memory_ids) == 500


def test_a_summary_names_both_sides_of_a_contradiction_with_their_dates(memories: Memories) -> None:
    memories.store(new("Idle sessions end after 300 s"), None)
    memories.store(new("Idle sessions end after 10 s"), None)
    (line,) = [line for line in _summarise(memories).new.content.split("\n") if "Not settled" in line]
    assert line.startswith("- Not settled (10 s against 300 s)")
    assert "'Idle sessions end after 300 s' (2026-01-01); 'Idle sessions end after 10 s' (2026-01-01)" in line


def test_a_summary_states_no_side_of_a_contradiction_as_a_fact(memories: Memories) -> None:
    for text in ("The cache is shared", "The cache is not shared", "Invoices are sent by mail"):
        memories.store(new(text), None)
    stated, *unsettled = _summarise(memories).new.content.split("\n")
    assert stated == "- Invoices are sent by mail"
    assert [line.startswith("- Not settled") for line in unsettled] == [True]


def test_a_summary_is_found_only_where_none_of_what_it_sums_up_is(noted: Memories) -> None:
    summary = _summarise(noted).stored
    assert summary is not None
    hits = noted.recall(Question("when do access tokens expire", 5, 0.0, ALL), None)
    assert hits[0].item.content == "Access tokens expire after an hour"
    assert summary.memory.id not in [hit.item.id for hit in hits]
    for memory_id in summary.memory.source_memory_ids:
        noted.delete(memory_id)
    hits = noted.recall(Question("when do access tokens expire", 5, 0.0, ALL), None)
    assert [hit.item.id for hit in hits] == [summary.memory.id]
