"""Remembering and recalling, over real stores of all scopes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_ls.embedding import Embedding, HostedModel
from rag_ls.errors import InvalidRequest, NotFound, RagLsError, StoreDamaged
from rag_ls.memory import ALL, Memories, MemoryFilters, NewMemory, Question
from rag_ls.memory.new_memories import MAX_CONTENT
from rag_ls.model import Anchor, MemoryMetadata, MemoryType, Scope
from rag_ls.storage.sqlite.memories import MemoryStore
from tests.memory.support import Clock, memories_in, new


def test_a_stored_memory_is_found_again(memories: Memories) -> None:
    stored = memories.store(new("  The API is versioned by header.\n"), None)
    assert (stored.status, stored.memory.version) == ("inserted", 1)
    assert stored.memory.content == "The API is versioned by header."
    assert stored.memory.created_at == "2026-01-01T00:00:01.000Z"
    assert memories.get(stored.memory.id) == stored.memory


@pytest.mark.parametrize("content", ["", "  \n\t "])
def test_empty_content_is_refused(memories: Memories, content: str) -> None:
    with pytest.raises(InvalidRequest, match="content is empty"):
        memories.store(new(content), None)


def test_oversized_content_is_refused_and_the_limit_is_named(memories: Memories) -> None:
    with pytest.raises(InvalidRequest, match="100,000"):
        memories.store(new("x " * (MAX_CONTENT // 2) + "yz"), None)
    assert memories.store(new("xy z" * (MAX_CONTENT // 4)), None).status == "inserted"


def test_half_a_surrogate_pair_is_stored_or_refused_by_name(memories: Memories) -> None:
    try:
        stored = memories.store(new("cut off \ud83d here"), None)
    except RagLsError:
        assert memories.list_page(ALL)[0] == []
    else:
        assert memories.get(stored.memory.id).content.startswith("cut off ")


def test_the_same_content_again_is_a_duplicate(memories: Memories) -> None:
    first = memories.store(new("use tabs", Scope.PROJECT, "style"), None)
    again = memories.store(new(" use tabs ", Scope.PROJECT, "style"), None)
    assert (again.status, again.memory.id, again.memory.version) == ("duplicate", first.memory.id, 1)
    assert again.memory.updated_at > first.memory.updated_at
    assert len(memories.list_page(ALL)[0]) == 1


def test_the_same_content_with_new_tags_merges_them(memories: Memories) -> None:
    first = memories.store(new("use tabs", Scope.PROJECT, "style"), None)
    again = memories.store(new("use tabs", Scope.PROJECT, "editor", "style"), None)
    assert (again.status, again.memory.id, again.memory.version) == ("updated", first.memory.id, 2)
    assert memories.get(first.memory.id).metadata.tags == ("style", "editor")
    assert again.memory.created_at == first.memory.created_at < again.memory.updated_at


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"anchor": Anchor("a.py", "run")}, {"anchor": Anchor("b.py", "run")}),
        ({"anchor": Anchor("a.py", start_line=3)}, {"anchor": Anchor("a.py", start_line=9)}),
        ({"metadata": MemoryMetadata(source_file="a.py")}, {"metadata": MemoryMetadata(source_file="b.py")}),
        ({}, {"memory_type": MemoryType.EPISODIC}),
        ({}, {"metadata": MemoryMetadata(tags=("private",))}),
        ({}, {"branch": "main"}),
    ],
)
def test_the_same_content_about_another_place_or_of_another_kind_is_another_memory(
    memories: Memories, first: dict[str, Any], second: dict[str, Any]
) -> None:
    one = memories.store(replace(new("be careful here"), **first), None)
    two = memories.store(replace(new("be careful here"), **second), None)
    again = memories.store(replace(new("be careful here"), **second), None)
    assert [stored.status for stored in (one, two, again)] == ["inserted", "inserted", "duplicate"]
    assert [memories.get(stored.memory.id) for stored in (one, two)] == [one.memory, again.memory]


def test_the_same_content_again_keeps_the_place_and_the_importance_that_were_given(memories: Memories) -> None:
    important = MemoryMetadata(importance_score=0.9)
    first = memories.store(replace(new("be careful here"), metadata=important, anchor=Anchor("a.py", "run")), None)
    memories.store(new("be careful here", Scope.PROJECT, "b"), None)
    kept = memories.get(first.memory.id)
    assert (kept.anchor, kept.metadata.importance_score, kept.metadata.tags) == (Anchor("a.py", "run"), 0.9, ("b",))


def test_the_same_content_in_another_scope_is_another_memory(memories: Memories) -> None:
    ids = {memories.store(new("use tabs", scope), None).memory.id for scope in Scope}
    assert len(ids) == 3


def test_the_first_characters_of_an_id_are_enough(memories: Memories) -> None:
    stored = memories.store(new("use tabs", Scope.GLOBAL), None).memory
    assert memories.get(f" {stored.id[:4]} ") == stored
    with pytest.raises(NotFound, match="give at least its first 4 characters; list_memories"):
        memories.get(stored.id[:3])


def test_a_beginning_of_several_ids_says_so(memories: Memories) -> None:
    store = memories.of(Scope.GLOBAL)
    one = memories.store(new("use tabs", Scope.GLOBAL), None).memory
    twin = replace(one, id=f"{one.id[:6]}00-twin", content="use spaces", content_hash="other")
    with store.transaction():
        store.insert(twin)
    with pytest.raises(InvalidRequest, match=f"2 memories have ids that begin with '{one.id[:4]}'; give more of it"):
        memories.get(one.id[:4])
    assert memories.get(one.id) == one


def test_a_deleted_memory_is_gone(memories: Memories) -> None:
    stored = memories.store(new("use tabs"), None).memory
    assert memories.delete(stored.id[:8]) == stored
    with pytest.raises(NotFound, match=stored.id):
        memories.get(stored.id)
    assert memories.list_page(ALL)[0] == []


def test_a_memory_can_be_stored_again_after_it_was_deleted(memories: Memories) -> None:
    first = memories.store(new("use tabs"), None).memory
    memories.delete(first.id)
    assert memories.store(new("use tabs"), None).status == "inserted"


def test_filters_let_through_what_fits(memories: Memories) -> None:
    memories.store(
        NewMemory("number one", Scope.PROJECT, MemoryMetadata(("a", "b"), language="python"), MemoryType.EPISODIC), None
    )
    memories.store(NewMemory("number two", Scope.GLOBAL, MemoryMetadata(("b",), language="go")), None)
    memories.store(NewMemory("number three", Scope.SESSION), None)

    def contents(filters: MemoryFilters) -> list[str]:
        return [memory.content for memory in memories.list_page(filters)[0]]

    assert contents(ALL) == ["number three", "number two", "number one"]
    assert contents(MemoryFilters(tags=("b",))) == ["number two", "number one"]
    assert contents(MemoryFilters(tags=("a", "missing"))) == ["number one"]
    assert contents(MemoryFilters(scopes=(Scope.SESSION,))) == ["number three"]
    assert contents(MemoryFilters(memory_type=MemoryType.EPISODIC)) == ["number one"]
    assert contents(MemoryFilters(language="go")) == ["number two"]


def test_session_memories_go_with_their_engine_and_the_others_stay(tmp_path: Path) -> None:
    first = memories_in(tmp_path)
    for scope in Scope:
        first.store(new(f"in {scope}", scope), None)
    assert {memory.content for memory in memories_in(tmp_path).list_page(ALL)[0]} == {"in project", "in global"}


def test_without_a_model_memories_are_recalled_by_their_words(memories: Memories) -> None:
    memories.store(new("Access tokens expire after an hour"), None)
    memories.store(new("Invoices are sent by mail"), None)
    hits = memories.recall(Question("when do tokens expire?", 5, 0.3, ALL), None)
    assert [hit.item.content for hit in hits] == ["Access tokens expire after an hour"]
    assert "lexical" in hits[0].matched_by
    assert "dense" not in hits[0].matched_by


def test_a_model_recalls_what_shares_no_word(memories: Memories, model: HostedModel) -> None:
    memories.store(new("Access tokens expire after sixty minutes"), None)
    memories.store(new("Invoices are sent by mail"), None)
    hits = memories.recall(Question("authentication credential lifetime", 5, 0.2, ALL), model)
    assert hits[0].item.content == "Access tokens expire after sixty minutes"
    assert "dense" in hits[0].matched_by
    assert "lexical" not in hits[0].matched_by
    assert 0 < hits[0].score <= 1


def test_nothing_is_recalled_below_the_least_similarity(memories: Memories, model: HostedModel) -> None:
    memories.store(new("Invoices are sent by mail"), model)
    assert memories.recall(Question("quantum chromodynamics", 5, 0.9, ALL), model) == []


def test_recall_respects_filters_and_k(memories: Memories, model: HostedModel) -> None:
    for number in range(5):
        memories.store(new(f"token rule number {number}", Scope.GLOBAL if number % 2 else Scope.PROJECT), model)
    assert len(memories.recall(Question("token rule", 3, 0, ALL), model)) == 3
    hits = memories.recall(Question("token rule", 9, 0, MemoryFilters(scopes=(Scope.GLOBAL,))), model)
    assert {hit.item.scope for hit in hits} == {Scope.GLOBAL}


def test_ties_go_to_the_nearest_scope(memories: Memories) -> None:
    for scope in (Scope.GLOBAL, Scope.SESSION, Scope.PROJECT):
        memories.store(new("token rule", scope), None)
    hits = memories.recall(Question("token", 5, 0, ALL), None)
    assert [hit.item.scope for hit in hits] == [Scope.SESSION, Scope.PROJECT, Scope.GLOBAL]


@pytest.mark.parametrize(
    "query", ['"', "NEAR(a b)", "token* OR (", "content: x", "", "\x00\x01", "  ", "検索 поиск", "-"]
)
def test_any_query_is_only_words(memories: Memories, model: HostedModel, query: str) -> None:
    memories.store(new("token rule"), None)
    hits = memories.recall(Question(query, 5, 1.0, ALL), model)
    assert [hit.item.content for hit in hits] == (["token rule"] if "token" in query else [])


def test_close_memories_are_found_by_a_vector_without_the_model(memories: Memories, model: HostedModel) -> None:
    stored = memories.store(new("Access tokens expire"), model).memory
    memories.store(new("Bake the cake for an hour"), model)
    vector = model.embed_query("token expiry")
    hits = memories.near(Embedding(model.card, vector), ALL, k=5, min_similarity=0.4)
    assert [hit.item.id for hit in hits] == [stored.id]


def test_storing_backs_the_file_up(memories: Memories, tmp_path: Path) -> None:
    memories.store(new("use tabs"), None)
    assert len(list((tmp_path / "backups").glob("memories-*.db"))) == 1


def test_threads_that_store_the_first_memories_of_a_day_all_succeed(tmp_path: Path) -> None:
    for turn in range(5):
        (tmp_path / str(turn)).mkdir()
        memories = memories_in(tmp_path / str(turn))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number, into=memories: into.store(new(f"memory {number}"), None), range(8)))
        assert len(memories.list_page(ALL)[0]) == 8


def test_threads_that_store_different_memories_lose_none(memories: Memories) -> None:
    memories.store(new("memory 0"), None)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: memories.store(new(f"memory {number}"), None), range(1, 40)))
    assert {memory.content for memory in memories.list_page(ALL)[0]} == {f"memory {number}" for number in range(40)}


def test_threads_that_store_the_same_content_make_one_memory(memories: Memories) -> None:
    barrier = threading.Barrier(8, timeout=10)
    memories.store(new("content 0"), None)

    def store(number: int) -> None:
        for turn in range(12):
            barrier.wait()
            memories.store(new(f"content {turn}"), None)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(store, range(8)))
    assert sorted(memory.content for memory in memories.list_page(ALL)[0]) == sorted(
        f"content {turn}" for turn in range(12)
    )


def test_processes_that_tag_the_same_memory_at_once_lose_no_tag(tmp_path: Path) -> None:
    several = [memories_in(tmp_path) for _ in range(4)]
    several[0].store(new("use tabs"), None)
    barrier = threading.Barrier(4, timeout=10)

    def tag(number: int) -> None:
        for turn in range(12):
            barrier.wait()
            several[number].store(new("use tabs", Scope.PROJECT, f"{number}-{turn}"), None)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(tag, range(4)))
    (memory,) = several[0].list_page(ALL)[0]
    assert set(memory.metadata.tags) == {f"{number}-{turn}" for number in range(4) for turn in range(12)}


class TestDamagedProjectStore:
    """The user's own memories go on where a project's file is damaged."""

    @pytest.fixture
    def damaged(self, tmp_path: Path) -> Memories:
        user = MemoryStore(tmp_path / "global.db", Scope.GLOBAL)
        session = MemoryStore(None, Scope.SESSION)
        file = tmp_path / "project.db"
        file.write_bytes(b"garbage" * 1000)
        stores = {
            Scope.SESSION: lambda: session,
            Scope.PROJECT: lambda: MemoryStore(file, Scope.PROJECT),
            Scope.GLOBAL: lambda: user,
        }
        return Memories(stores, Clock())

    def test_global_memories_are_stored_and_recalled(self, damaged: Memories) -> None:
        stored = damaged.store(new("use tabs", Scope.GLOBAL), None).memory
        only = MemoryFilters(scopes=(Scope.GLOBAL,))
        assert damaged.list_page(only)[0] == [stored]
        assert [hit.item for hit in damaged.recall(Question("tabs", 5, 0, only), None)] == [stored]

    def test_the_project_s_own_answer_is_the_error(self, damaged: Memories) -> None:
        with pytest.raises(StoreDamaged, match=r"project\.db is damaged"):
            damaged.store(new("use tabs", Scope.PROJECT), None)
        with pytest.raises(StoreDamaged):
            damaged.list_page(MemoryFilters(scopes=(Scope.PROJECT,)))[0]

    def test_a_global_memory_is_got_and_deleted_by_its_id(self, damaged: Memories) -> None:
        stored = damaged.store(new("use tabs", Scope.GLOBAL), None).memory
        assert damaged.get(stored.id) == stored
        assert damaged.delete(stored.id) == stored
