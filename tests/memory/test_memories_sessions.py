"""Session memories are few, and say so when one has to go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rag_ls.errors import NotFound
from rag_ls.memory import Memories, MemoryFilters, NewMemory
from rag_ls.model import MemoryMetadata, Scope
from tests.memory.support import memories_in, new

_SESSION = MemoryFilters(scopes=(Scope.SESSION,))


@pytest.fixture
def limit() -> list[int]:
    """How many there may be; tests change it."""
    return [3]


@pytest.fixture
def few(tmp_path: Path, limit: list[int]) -> Memories:
    """Memories whose session holds little."""
    return memories_in(tmp_path, max_session=lambda: limit[0])


def _new(content: str, importance: float) -> NewMemory:
    return NewMemory(content, Scope.SESSION, MemoryMetadata(importance_score=importance))


def _contents(memories: Memories) -> set[str]:
    return {memory.content for memory in memories.list_page(_SESSION)[0]}


def test_nobody_goes_while_there_is_room(few: Memories) -> None:
    assert [few.store(new(f"note {number}", Scope.SESSION), None).evicted for number in range(3)] == [()] * 3


def test_the_oldest_of_the_least_important_goes_first_and_is_named(few: Memories) -> None:
    few.store(_new("note old and important", 0.9), None)
    gone = few.store(_new("note old", 0.2), None).memory
    few.store(_new("note younger", 0.2), None)
    assert few.store(_new("note last", 0.5), None).evicted == (gone.id,)
    assert _contents(few) == {"note old and important", "note younger", "note last"}


def test_storing_the_same_again_makes_a_memory_young(few: Memories) -> None:
    for number in range(3):
        few.store(new(f"note {number}", Scope.SESSION), None)
    assert few.store(new("note 0", Scope.SESSION), None).evicted == ()
    few.store(new("note 3", Scope.SESSION), None)
    assert _contents(few) == {"note 0", "note 2", "note 3"}


def test_what_was_just_stored_stays_however_unimportant(few: Memories) -> None:
    first = few.store(_new("note 0", 0.5), None).memory
    for number in range(1, 3):
        few.store(_new(f"note {number}", 0.9), None)
    stored = few.store(_new("note by the way", 0.0), None)
    assert stored.evicted == (first.id,)
    assert few.get(stored.memory.id) == stored.memory
    # It is the next to go.
    assert few.store(_new("note 4", 0.9), None).evicted == (stored.memory.id,)


def test_a_lower_limit_has_several_go_at_once(few: Memories, limit: list[int]) -> None:
    for number in range(3):
        few.store(new(f"note {number}", Scope.SESSION), None)
    limit[0] = 1
    assert len(few.store(new("note 3", Scope.SESSION), None).evicted) == 3
    assert _contents(few) == {"note 3"}


def test_the_other_scopes_have_no_such_limit(few: Memories) -> None:
    for number in range(6):
        assert few.store(new(f"note {number}"), None).evicted == ()
    assert few.counts() == {"session": 0, "project": 6, "global": 0}


def test_an_evicted_memory_can_be_restored_and_another_makes_room(few: Memories) -> None:
    gone = few.store(new("note 0", Scope.SESSION), None).memory
    for number in range(1, 4):
        few.store(new(f"note {number}", Scope.SESSION), None)
    assert few.history(gone.id)[0].reason == "evicted"
    stored = few.restore(gone.id, None, None)
    assert len(stored.evicted) == 1
    assert stored.memory.id not in stored.evicted
    assert _contents(few) == {"note 0", "note 2", "note 3"}


def test_former_versions_of_a_session_are_few_too(few: Memories) -> None:
    ids = [few.store(new(f"note {number}", Scope.SESSION), None).memory.id for number in range(20)]
    remembered = []
    for memory_id in ids[:-3]:
        try:
            remembered += few.history(memory_id)
        except NotFound:
            continue
    assert [item.memory.content for item in remembered] == ["note 14", "note 15", "note 16"]


def test_a_full_session_finds_what_it_holds_and_not_what_is_gone(few: Memories) -> None:
    for number in range(6):
        few.store(new(f"note {number}", Scope.SESSION, f"tag{number}"), None)
    store = few.of(Scope.SESSION)
    assert len(store.words.lexical(["note"], 10)) == 3
    assert store.words.tag_counts() == {"tag3": 1, "tag4": 1, "tag5": 1}


def test_clearing_the_session_forgets_all_of_it_and_nothing_else(few: Memories) -> None:
    gone = few.store(new("note 0", Scope.SESSION), None).memory
    few.update(gone.id, lambda memory: replace(memory, content="note 1"), None)
    few.store(new("note 2", Scope.SESSION), None)
    kept = few.store(new("note 3"), None).memory
    assert few.of(Scope.SESSION).clear() == 2
    assert few.of(Scope.SESSION).clear() == 0
    assert few.counts() == {"session": 0, "project": 1, "global": 0}
    assert few.get(kept.id) == kept
    with pytest.raises(NotFound):
        few.history(gone.id)
    assert few.store(new("note 0", Scope.SESSION), None).status == "inserted"
