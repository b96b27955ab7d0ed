"""Consolidation: what says the same becomes one, nothing is lost over it, and it can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.memory import batches
from rag_ls.memory.consolidation import Merge, apply, plan, plan_chosen
from rag_ls.memory.recall import parse_stamp
from rag_ls.model import Anchor, Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.storage import MemoryStore
from tests.memory.support import at_angle, put, record, stamp, used
from tests.support import MODEL

_THRESHOLD = 0.85
_NOW = parse_stamp(stamp(5000))


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    """An empty store in a file."""
    return MemoryStore(tmp_path / "memories.db", Scope.PROJECT)


def _planned(store: MemoryStore, now: datetime = _NOW) -> tuple[Merge, ...]:
    return plan(store, MODEL, _THRESHOLD, now).merges


def _apply(store: MemoryStore) -> str:
    return apply(store, _planned(store), stamp(5000))


def _numbers(memories: Sequence[Memory]) -> list[int]:
    return [int(memory.id[:8]) for memory in memories]


def _said(store: MemoryStore) -> dict[int, tuple[object, ...]]:
    """What memories say, but for their versions and times."""
    return {
        int(memory.id[:8]): (
            memory.content,
            memory.metadata,
            memory.source_memory_ids,
            memory.anchor,
            memory.source_uri,
        )
        for memory in store.find()
    }


@pytest.fixture
def alike(store: MemoryStore) -> MemoryStore:
    """Three memories that say the same, and one that says something else."""
    put(
        store,
        record(1, "tokens live an hour", metadata=MemoryMetadata(("auth", "a"), importance_score=0.9)),
        at_angle(0),
    )
    put(
        store,
        record(2, "Tokens live an hour.", metadata=MemoryMetadata(("b",), importance_score=0.3)),
        at_angle(9),
    )
    put(
        store,
        record(3, "The tokens live an hour", metadata=MemoryMetadata(("c", "auth"), importance_score=0.6)),
        at_angle(4),
    )
    put(store, record(4, "invoices are sent by mail"), at_angle(90))
    return store


class TestPlan:
    def test_the_most_recent_content_stays_with_all_tags_and_the_mean_importance(self, alike: MemoryStore) -> None:
        (merge,) = _planned(alike)
        assert (_numbers([merge.kept]), _numbers(merge.merged)) == ([3], [2, 1])
        assert merge.kept.content == "The tokens live an hour"
        assert merge.kept.metadata.tags == ("c", "auth", "b", "a")
        assert merge.kept.metadata.importance_score == pytest.approx(0.6)
        assert merge.kept.source_memory_ids == (record(2).id, record(1).id)

    def test_planning_changes_nothing(self, alike: MemoryStore) -> None:
        before, changes = alike.find(), alike.changes()
        _planned(alike)
        assert alike.find() == before
        assert alike.changes() == changes

    @pytest.mark.parametrize(
        "change",
        [{"branch": "main"}, {"memory_type": MemoryType.EPISODIC}, {"summary_key": "key"}],
    )
    def test_what_is_of_another_kind_stays_apart(self, alike: MemoryStore, change: dict[str, object]) -> None:
        put(alike, record(5, "the tokens live an  hour", **change), at_angle(4))
        (merge,) = _planned(alike)
        assert _numbers([merge.kept, *merge.merged]) == [3, 2, 1]

    def test_two_of_the_same_other_kind_come_together(self, alike: MemoryStore) -> None:
        for number in (5, 6):
            put(
                alike,
                record(number, f"{' ' * number}the release{' ' * number}failed", memory_type=MemoryType.EPISODIC),
                at_angle(4),
            )
        assert sorted(sorted(_numbers([merge.kept, *merge.merged])) for merge in _planned(alike)) == [[1, 2, 3], [5, 6]]

    def test_what_is_only_close_is_proposed_and_a_chain_is_not_swallowed(self, store: MemoryStore) -> None:
        for number in range(4):
            put(store, record(number, f"chained {'abcd'[number]}"), at_angle(25 * number))
        found = plan(store, MODEL, _THRESHOLD, _NOW)
        assert found.merges == ()
        assert sorted(sorted(_numbers(proposal.memories)) for proposal in found.proposals) == [[0, 1], [2, 3]]
        assert found.proposals[0].cosine == pytest.approx(np.cos(np.radians(25)), abs=2e-3)

    def test_what_a_person_chose_becomes_one_unless_it_would_lose_a_place(self, store: MemoryStore) -> None:
        one = put(store, record(1, "tokens live an hour", anchor=Anchor("a.py", "f")))
        other = put(store, record(2, "an hour is what tokens live", metadata=MemoryMetadata(("b",))))
        elsewhere = put(store, record(3, "tokens live an hour", anchor=Anchor("b.py", "f")))
        assert apply(store, [plan_chosen([one, other])], stamp(5000))
        (kept,) = [memory for memory in store.find() if memory.id == other.id]
        assert (kept.anchor, kept.metadata.tags) == (one.anchor, ("b",))
        with pytest.raises(InvalidRequest, match="stay apart"):
            plan_chosen([kept, elsewhere])

    def test_a_contradiction_is_told_and_not_merged(self, store: MemoryStore) -> None:
        put(store, record(1, "The API uses Redis"), at_angle(0))
        put(store, record(2, "The API no longer uses Redis"), at_angle(1))
        put(store, record(3, "The API uses Redis."), at_angle(2))
        found = plan(store, MODEL, _THRESHOLD, _NOW)
        pairs = [sorted(_numbers([item.one, item.other])) for item in found.contradictions]
        assert pairs == [[2, 3]]
        (merge,) = found.merges
        assert _numbers([merge.kept, *merge.merged]) == [3, 1]

    def test_a_contradiction_is_told_below_the_threshold_too(self, store: MemoryStore) -> None:
        put(store, record(1, "The API uses Redis"), at_angle(0))
        put(store, record(2, "The API no longer uses Redis"), at_angle(45))
        assert len(plan(store, MODEL, _THRESHOLD, _NOW).contradictions) == 1
        store.replace(record(2, "The API never uses Redis", version=2))
        put(store, record(3, "The API hardly uses Redis"), at_angle(130))
        assert plan(store, MODEL, _THRESHOLD, _NOW).contradictions == ()

    def test_what_was_never_recalled_in_a_month_is_told_the_oldest_first(self, alike: MemoryStore) -> None:
        used(alike, record(1).id)
        assert plan(alike, MODEL, _THRESHOLD, _NOW).never_recalled == ()
        later = parse_stamp(stamp(3)) + timedelta(days=30)
        assert _numbers(plan(alike, MODEL, _THRESHOLD, later).never_recalled) == [2, 3]

    def test_other_words_are_not_merged(self, alike: MemoryStore) -> None:
        put(alike, record(5, "please, tokens live an hour"))
        (merge,) = _planned(alike)
        assert 5 not in _numbers([merge.kept, *merge.merged])

    def test_an_empty_store_has_nothing_to_merge(self, store: MemoryStore) -> None:
        assert plan(store, MODEL, _THRESHOLD, _NOW).merges == ()
        assert apply(store, (), stamp(1)) == ""


class TestSources:
    def test_every_source_reference_is_kept(self, store: MemoryStore) -> None:
        put(store, record(1, "the rule", source_uri="https://example.org/1"), at_angle(0))
        put(
            store,
            record(2, "The rule", anchor=Anchor("src/b.py", "B", "hash", 7), source_memory_ids=("x",)),
            at_angle(1),
        )
        put(store, record(3, "rule.", metadata=MemoryMetadata(custom={"why": 1})), at_angle(2))
        assert _apply(store)
        (kept,) = store.find()
        assert kept.anchor == Anchor("src/b.py", "B", "hash", 7)
        assert kept.source_uri == "https://example.org/1"
        assert set(kept.source_memory_ids) == {record(1).id, record(2).id, "x"}
        assert kept.metadata.custom["why"] == 1
        assert kept.metadata.custom["merged_sources"] == [
            {"id": record(2).id, "anchor": "src/b.py:7"},
            {"id": record(1).id, "source_uri": "https://example.org/1"},
        ]

    def test_so_it_is_over_several_consolidations(self, store: MemoryStore) -> None:
        for number in range(1, 5):
            put(
                store,
                record(number, f"{' ' * number}rule{' ' * number}one", source_uri=f"mail:{number}"),
                at_angle(number),
            )
            _apply(store)
        (kept,) = store.find()
        assert kept.source_uri == "mail:4"
        sources = kept.metadata.custom["merged_sources"]
        assert isinstance(sources, list)
        assert sorted(source["source_uri"] for source in sources) == ["mail:1", "mail:2", "mail:3"]
        assert set(kept.source_memory_ids) == {record(number).id for number in (1, 2, 3)}


class TestApply:
    def test_the_store_holds_what_was_planned(self, alike: MemoryStore) -> None:
        (merge,) = _planned(alike)
        assert apply(alike, [merge], stamp(5000))
        kept = alike.get(record(3).id)
        assert kept == replace(merge.kept, version=2)
        assert _numbers(alike.find()) == [4, 3]
        assert [(item.memory.content, item.reason) for item in alike.history(record(1).id)] == [
            ("tokens live an hour", "consolidated")
        ]
        assert [item.reason for item in alike.history(record(3).id)] == ["consolidated"]

    def test_the_kept_one_is_found_by_its_meaning_and_by_the_tags_of_all(self, alike: MemoryStore) -> None:
        _apply(alike)
        assert alike.vectors.missing_count(MODEL) == 0
        assert list(alike.words.tagged(["a"], 5)) == list(alike.words.tagged(["b"], 5)) == [record(3).id]

    def test_consolidating_again_changes_nothing(self, alike: MemoryStore) -> None:
        assert _apply(alike)
        before = alike.find()
        assert _planned(alike) == ()
        assert _apply(alike) == ""
        assert alike.find() == before

    def test_two_hundred_duplicates_become_one(self, store: MemoryStore) -> None:
        with store.transaction():
            for number in range(200):
                put(
                    store,
                    record(number, f"the same rule{' ' * number} in words"),
                    at_angle(0),
                )
        _apply(store)
        (kept,) = store.find()
        assert int(kept.id[:8]) == 199
        assert set(kept.source_memory_ids) == {record(number).id for number in range(199)}

    def test_what_was_changed_since_it_was_planned_is_left_alone_with_its_cluster(self, alike: MemoryStore) -> None:
        for number in (5, 6):
            put(alike, record(number, f"invoices{' ' * number}are sent by mail"), at_angle(90))
        merges = _planned(alike)
        assert len(merges) == 2
        alike.replace(record(1, "tokens live forever", version=2))
        assert apply(alike, merges, stamp(5000))
        assert set(_numbers(alike.find())) == {1, 2, 3, 6}
        assert alike.get(record(1).id).content == "tokens live forever"  # type: ignore[union-attr]

    def test_what_was_deleted_since_it_was_planned_is_not_missed(self, alike: MemoryStore) -> None:
        merges = _planned(alike)
        alike.delete(record(2).id)
        assert apply(alike, merges, stamp(5000)) == ""
        assert set(_numbers(alike.find())) == {1, 3, 4}
        assert alike.batches() == []

    def test_an_error_in_the_middle_changes_nothing(self, alike: MemoryStore) -> None:
        for number in (5, 6):
            put(alike, record(number, f"invoices{' ' * number}are sent by mail"), at_angle(90))
        first, second = sorted(_planned(alike), key=lambda merge: merge.kept.id)
        # As a disk that fills up would end it: the second merge cannot be written.
        second = replace(second, kept=replace(second.kept, content=None))  # type: ignore[arg-type]
        before, versions = alike.find(), alike.history(record(1).id)
        with pytest.raises(Exception, match="NOT NULL"):
            apply(alike, [first, second], stamp(5000))
        assert alike.find() == before
        assert alike.history(record(1).id) == versions
        assert alike.batches() == []


def undo(store: MemoryStore, number: str, at: str) -> list[Memory]:
    """Take a consolidation back; returns the memories that it had merged."""
    return list(batches.undo(store, number, at).result.inserted)


class TestUndo:
    def test_it_brings_all_back_as_it_was(self, alike: MemoryStore) -> None:
        before = _said(alike)
        number = _apply(alike)
        back = undo(alike, number, stamp(6000))
        assert _said(alike) == before
        assert sorted(_numbers(back)) == [1, 2]
        assert [memory.version for memory in alike.find()] == [3, 1, 2, 2]

    def test_without_a_number_it_is_the_latest(self, alike: MemoryStore) -> None:
        _apply(alike)
        between = _said(alike)
        put(alike, record(5, "Invoices are sent by mail."), at_angle(90))
        _apply(alike)
        undo(alike, "", stamp(6000))
        assert {number: said for number, said in _said(alike).items() if number != 5} == between
        undo(alike, "", stamp(6001))
        assert set(_said(alike)) == {1, 2, 3, 4, 5}

    def test_a_kept_memory_that_was_edited_stays_as_it_is_now(self, alike: MemoryStore) -> None:
        before = _said(alike)
        number = _apply(alike)
        kept = alike.get(record(3).id)
        assert kept is not None
        edited = replace(kept, content="a token lives for a day", content_hash="another", version=3)
        alike.replace(edited)
        undo(alike, number, stamp(6000))
        assert alike.get(edited.id) == edited
        assert {key: said for key, said in _said(alike).items() if key != 3} == {
            key: said for key, said in before.items() if key != 3
        }

    def test_a_kept_memory_that_was_deleted_stays_deleted(self, alike: MemoryStore) -> None:
        number = _apply(alike)
        alike.delete(record(3).id)
        assert sorted(_numbers(undo(alike, number, stamp(6000)))) == [1, 2]
        assert alike.get(record(3).id) is None

    def test_a_memory_that_was_stored_again_meanwhile_gets_no_twin(self, alike: MemoryStore) -> None:
        number = _apply(alike)
        put(alike, record(9, "tokens live an hour"))
        assert _numbers(undo(alike, number, stamp(6000))) == [2]
        assert set(_numbers(alike.find())) == {2, 3, 4, 9}

    def test_twice_is_an_error(self, alike: MemoryStore) -> None:
        number = _apply(alike)
        undo(alike, number, stamp(6000))
        after = alike.find()
        for name, named in ((number, number), ("", "left to undo"), ("nonsense", "nonsense")):
            with pytest.raises(NotFound, match=named):
                undo(alike, name, stamp(6001))
        assert alike.find() == after

    def test_what_was_undone_can_be_done_again(self, alike: MemoryStore) -> None:
        undo(alike, _apply(alike), stamp(6000))
        with alike.transaction():
            for memory in alike.find():
                if not len(alike.vectors.of(memory.id, MODEL)):
                    alike.vectors.add(memory.id, MODEL, memory.content_hash, at_angle(3)[np.newaxis])
        assert _apply(alike)
        assert set(_numbers(alike.find())) == {3, 4}

    def test_it_survives_closing(self, alike: MemoryStore, tmp_path: Path) -> None:
        before = _said(alike)
        number = _apply(alike)
        alike.close()
        again = MemoryStore(tmp_path / "memories.db", Scope.PROJECT)
        undo(again, number, stamp(6000))
        assert _said(again) == before


def test_scopes_stay_apart(alike: MemoryStore, tmp_path: Path) -> None:
    other = MemoryStore(tmp_path / "global.db", Scope.GLOBAL)
    put(other, replace(record(7, "tokens live for an hour"), scope=Scope.GLOBAL), at_angle(0))
    _apply(alike)
    assert _planned(other) == ()
    with pytest.raises(NotFound, match="scope global"):
        undo(other, "", stamp(6000))
    assert len(other.find()) == 1
