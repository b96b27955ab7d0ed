"""Listing memories: orders, pages, times, branches; and what is told of similar ones when one is stored."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from rag_ls.embedding import HostedModel
from rag_ls.errors import InvalidRequest, StoreDamaged
from rag_ls.memory import ALL, Memories, MemoryFilters, NewMemory, Question
from rag_ls.model import Memory, MemoryMetadata, MemoryOrder, Scope
from rag_ls.storage import MemoryStore
from tests.memory.support import Clock, memories_in, new, used

_SCOPES = tuple(Scope)


def _contents(found: list[Memory]) -> list[str]:
    return [memory.content for memory in found]


class TestOrders:
    @pytest.fixture
    def several(self, memories: Memories) -> Memories:
        """Four memories, none of which is in the same place in any two orders."""
        for content, scope, importance in (
            ("made first", Scope.GLOBAL, 0.3),
            ("made second", Scope.PROJECT, 0.9),
            ("made third", Scope.SESSION, 0.1),
            ("made fourth", Scope.PROJECT, 0.3),
        ):
            memories.store(NewMemory(content, scope, MemoryMetadata(importance_score=importance)), None)
        by_content = {memory.content: memory for memory in memories.list_page(ALL)[0]}
        for content, count in (("made first", 2), ("made second", 1), ("made third", 3)):
            used(memories.of(by_content[content].scope), by_content[content].id, count)
        memories.store(new("made first", Scope.GLOBAL), None)
        return memories

    @pytest.mark.parametrize(
        ("order", "contents"),
        [
            (MemoryOrder.UPDATED, ["first", "fourth", "third", "second"]),
            (MemoryOrder.CREATED, ["fourth", "third", "second", "first"]),
            (MemoryOrder.IMPORTANCE, ["second", "first", "fourth", "third"]),
            (MemoryOrder.USES, ["third", "first", "second", "fourth"]),
            (MemoryOrder.LEAST_USED, ["fourth", "second", "first", "third"]),
        ],
    )
    def test_every_order_holds_over_all_scopes(
        self, several: Memories, order: MemoryOrder, contents: list[str]
    ) -> None:
        wanted = [f"made {content}" for content in contents]
        found, total = several.list_page(ALL, order)
        assert (_contents(found), total) == (wanted, 4)
        for size in (1, 2, 3):
            pages = [several.list_page(ALL, order, size, offset)[0] for offset in range(0, 4, size)]
            assert [content for page in pages for content in _contents(page)] == wanted
        only = [memory.content for memory in found if memory.scope is Scope.PROJECT]
        assert _contents(several.list_page(replace(ALL, scopes=(Scope.PROJECT,)), order)[0]) == only

    def test_what_was_never_recalled_is_listed(self, several: Memories) -> None:
        found, total = several.list_page(replace(ALL, never_used=True))
        assert (_contents(found), total) == (["made fourth"], 1)


def test_pages_over_several_scopes_neither_overlap_nor_leave_out(tmp_path: Path) -> None:
    memories = memories_in(tmp_path)
    clock = Clock()
    # Equal times and importances: an order that is not total would show.
    memories._now = lambda: clock.now
    for number in range(21):
        memories.store(new(f"number {number}", _SCOPES[number % 3]), None)
        clock.now += timedelta(seconds=number // 5 % 2)
    for order, size in itertools.product(MemoryOrder, (1, 4, 7)):
        pages = [memories.list_page(ALL, order, size, offset)[0] for offset in range(0, 22, size)]
        ids = [memory.id for page in pages for memory in page]
        assert (len(ids), len(set(ids))) == (21, 21)
        assert ids == [memory.id for memory in memories.list_page(ALL, order)[0]]


def test_a_page_beyond_the_end_is_empty_and_knows_the_total(memories: Memories) -> None:
    memories.store(new("rule one"), None)
    assert memories.list_page(ALL, MemoryOrder.UPDATED, 5, 10) == ([], 1)
    assert memories.list_page(ALL, MemoryOrder.UPDATED, 0) == ([], 1)


class TestTimes:
    @pytest.fixture
    def times(self, memories: Memories) -> list[str]:
        """The times of three memories, a second apart, in three scopes."""
        return [memories.store(new(f"number {number}", _SCOPES[number]), None).memory.updated_at for number in range(3)]

    def test_both_ends_belong_to_a_range(self, memories: Memories, times: list[str]) -> None:
        def within(since: str, until: str) -> list[str]:
            return sorted(_contents(memories.list_page(MemoryFilters(since=since, until=until))[0]))

        assert within(times[0], times[2]) == ["number 0", "number 1", "number 2"]
        assert within(times[1], "") == ["number 1", "number 2"]
        assert within("", times[1]) == ["number 0", "number 1"]
        assert within(times[1], times[1]) == ["number 1"]
        assert within(times[2], times[0]) == []

    def test_a_range_holds_for_questions_too(self, memories: Memories, times: list[str]) -> None:
        hits = memories.recall(Question("number", 5, 0, MemoryFilters(since=times[1])), None)
        assert {hit.item.id for hit in hits} == {memory.id for memory in memories.list_page(ALL)[0][:2]}


class TestBranches:
    @pytest.fixture
    def on_branches(self, memories: Memories) -> Memories:
        """One memory of no branch, one of each of two."""
        for branch in (None, "main", "feature/x"):
            memories.store(replace(new(f"rule of {branch}"), branch=branch), None)
        return memories

    @pytest.mark.parametrize(
        ("branch", "found"),
        [
            ("main", {"rule of None", "rule of main"}),
            ("feature/x", {"rule of None", "rule of feature/x"}),
            ("", {"rule of None"}),
            ("mai_", {"rule of None"}),
            (None, {"rule of None", "rule of main", "rule of feature/x"}),
        ],
    )
    def test_a_memory_of_a_branch_is_found_there_alone(
        self, on_branches: Memories, branch: str | None, found: set[str]
    ) -> None:
        filters = MemoryFilters(branch=branch)
        assert set(_contents(on_branches.list_page(filters)[0])) == found
        assert on_branches.list_page(filters)[1] == len(found)
        hits = on_branches.recall(Question("rule", 9, 0, filters), None)
        assert {hit.item.content for hit in hits if isinstance(hit.item, Memory)} == found

    def test_so_it_is_by_meaning(self, on_branches: Memories, model: HostedModel) -> None:
        hits = on_branches.recall(Question("regulation", 9, 0, MemoryFilters(branch="main")), model)
        assert {hit.item.branch for hit in hits if isinstance(hit.item, Memory)} == {None, "main"}

    def test_two_branches_may_say_the_same(self, memories: Memories) -> None:
        stored = [memories.store(replace(new("use tabs"), branch=branch), None) for branch in ("main", "other", "main")]
        assert [item.status for item in stored] == ["inserted", "inserted", "duplicate"]
        assert stored[0].memory.id == stored[2].memory.id != stored[1].memory.id

    def test_a_promoted_memory_is_found_everywhere(self, on_branches: Memories) -> None:
        (tied,) = (memory for memory in on_branches.list_page(ALL)[0] if memory.branch == "main")
        promoted = on_branches.update(tied.id, _untied, None).memory
        assert (promoted.branch, promoted.version) == (None, 2)
        assert promoted in on_branches.list_page(MemoryFilters(branch="feature/x"))[0]

    def test_what_is_known_everywhere_already_cannot_be_promoted(self, memories: Memories) -> None:
        everywhere = memories.store(new("use tabs"), None).memory
        tied = memories.store(replace(new("use tabs"), branch="main"), None).memory
        with pytest.raises(InvalidRequest, match=everywhere.id):
            memories.update(tied.id, _untied, None)
        assert memories.get(tied.id) == tied

    def test_a_deleted_memory_is_restored_to_its_branch(self, on_branches: Memories) -> None:
        (tied,) = (memory for memory in on_branches.list_page(ALL)[0] if memory.branch == "main")
        on_branches.delete(tied.id)
        assert on_branches.restore(tied.id, None, None).memory.branch == "main"


def _untied(memory: Memory) -> Memory:
    return replace(memory, branch=None)


class TestKnown:
    """Storing says what is known already."""

    def test_the_nearest_memories_of_all_scopes_are_told(self, memories: Memories, model: HostedModel) -> None:
        near = memories.store(new("Access tokens expire after one hour", Scope.GLOBAL), model).memory
        memories.store(new("Invoices are sent by mail"), model)
        stored = memories.store(new("An access token expires after an hour"), model)
        assert stored.status == "inserted"
        assert [hit.item.id for hit in stored.known] == [near.id]
        assert 0.8 <= (stored.known[0].similarity or 0) <= 1

    def test_nothing_is_told_where_nothing_is_near(self, memories: Memories, model: HostedModel) -> None:
        memories.store(new("Invoices are sent by mail"), model)
        assert memories.store(new("Access tokens expire after one hour"), model).known == ()

    def test_at_most_three_are_told_the_nearest_first(self, memories: Memories, model: HostedModel) -> None:
        for number in range(6):
            memories.store(new(f"The access tokens of service {number} expire after one hour"), model)
        similarities = [
            hit.similarity or 0 for hit in memories.store(new("Access tokens expire after an hour"), model).known
        ]
        assert len(similarities) == 3
        assert similarities == sorted(similarities, reverse=True)

    def test_a_duplicate_does_not_tell_of_itself(self, memories: Memories, model: HostedModel) -> None:
        memories.store(new("Access tokens expire after one hour"), model)
        stored = memories.store(new("Access tokens expire after one hour"), model)
        assert (stored.status, stored.known) == ("duplicate", ())

    def test_a_memory_of_another_branch_is_not_told(self, memories: Memories, model: HostedModel) -> None:
        memories.store(replace(new("Access tokens expire after one hour"), branch="other"), model)
        assert memories.store(new("Access tokens expire after an hour"), model).known == ()
        tied = replace(new("Access tokens expire after about an hour"), branch="other")
        assert len(memories.store(tied, model).known) == 2

    def test_telling_counts_as_no_use(self, memories: Memories, model: HostedModel) -> None:
        memories.store(new("Access tokens expire after one hour", Scope.SESSION), model)
        memories.store(new("Access tokens expire after an hour", Scope.SESSION), model)
        assert len(memories.list_page(replace(ALL, never_used=True))[0]) == 2


class TestDamage:
    @pytest.fixture
    def damaged(self, tmp_path: Path) -> Memories:
        """Memories whose project file is broken."""
        (tmp_path / "project.db").write_bytes(b"garbage" * 1000)
        session, user = MemoryStore(None, Scope.SESSION), MemoryStore(tmp_path / "global.db", Scope.GLOBAL)
        stores: dict[Scope, Callable[[], MemoryStore]] = {
            Scope.SESSION: lambda: session,
            Scope.PROJECT: lambda: MemoryStore(tmp_path / "project.db", Scope.PROJECT),
            Scope.GLOBAL: lambda: user,
        }
        return Memories(stores, Clock())

    def test_the_other_scopes_are_listed_searched_and_counted(self, damaged: Memories) -> None:
        for scope in (Scope.SESSION, Scope.GLOBAL):
            damaged.store(new(f"a {scope} rule", scope), None)
        assert _contents(damaged.list_page(ALL)[0]) == ["a global rule", "a session rule"]
        assert damaged.list_page(ALL, MemoryOrder.UPDATED, 1, 1)[1] == 2
        assert len(damaged.recall(Question("rule", 5, 0, ALL), None)) == 2
        assert damaged.counts() == {"session": 1, "project": 0, "global": 1}
        assert damaged.find_about("src/a.py", (), ()) == []

    def test_the_damage_is_told_of_with_the_remedy(self, damaged: Memories) -> None:
        assert "project.db is damaged" in damaged.damage()
        with pytest.raises(StoreDamaged):
            damaged.list_page(MemoryFilters(scopes=(Scope.PROJECT,)))

    def test_where_all_are_well_there_is_nothing_to_tell(self, memories: Memories) -> None:
        assert memories.damage() == ""
