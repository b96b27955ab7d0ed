"""Changes of many memories: previewed, backed up, and taken back as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rag_ls.errors import NotFound
from rag_ls.memory.batches import DELETED, UNDONE, carry_out, find_batch, undo
from rag_ls.model import Scope
from rag_ls.storage import MemoryStore, VersionChange, read_backup
from tests.memory.support import STEPS, play, put, record, stamp
from tests.support import scale_examples

_NOW = stamp(1000)


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    """Three memories."""
    store = MemoryStore(tmp_path / "memories.db", Scope.PROJECT)
    for number in (1, 2, 3):
        put(store, record(number))
    return store


def _said(store: MemoryStore) -> dict[str, str]:
    return {memory.id: memory.content for memory in store.find()}


def _shuffle(store: MemoryStore) -> None:
    """Insert one, change one, delete one."""
    put(store, record(4))
    store.replace(record(1, "changed", version=2))
    store.delete(record(2).id)


class TestCarryOut:
    def test_it_tells_what_changed_and_records_it(self, store: MemoryStore) -> None:
        _, result = carry_out(store, DELETED, lambda: _shuffle(store), stamp=_NOW)
        assert [memory.id for memory in result.inserted] == [record(4).id]
        assert [memory.content for memory in result.replaced] == ["memory number 1"]
        assert [memory.content for memory in result.deleted] == ["memory number 2"]
        (batch,) = store.batches()
        assert (batch.id, batch.kind, batch.at, batch.undone_at) == (result.batch_id, DELETED, _NOW, None)
        assert batch.changes == (
            VersionChange(record(1).id, 1, 2),
            VersionChange(record(2).id, 1, None),
            VersionChange(record(4).id, None, 1),
        )

    def test_a_preview_tells_the_same_and_changes_nothing(self, store: MemoryStore, tmp_path: Path) -> None:
        before, versions = _said(store), store.versions()
        answer, result = carry_out(store, DELETED, lambda: _shuffle(store) or "answer", stamp=_NOW, dry_run=True)
        assert answer == "answer"
        assert (len(result.inserted), len(result.replaced), len(result.deleted)) == (1, 1, 1)
        assert (_said(store), store.versions()) == (before, versions)
        assert store.history(record(1).id) == []
        assert (result.batch_id, store.batches()) == ("", [])
        assert not (tmp_path / "backups").exists()

    def test_a_backup_of_the_state_before_is_there(self, store: MemoryStore) -> None:
        before = _said(store)
        carry_out(store, DELETED, lambda: _shuffle(store), stamp=_NOW)
        assert {memory.id: memory.content for memory in read_backup(store, "latest").memories} == before

    def test_what_changes_nothing_is_not_recorded(self, store: MemoryStore) -> None:
        assert carry_out(store, DELETED, lambda: None, stamp=_NOW)[1].batch_id == ""
        assert store.batches() == []

    def test_an_error_takes_all_of_it_back(self, store: MemoryStore) -> None:
        before = _said(store)

        def fail() -> None:
            _shuffle(store)
            raise ValueError("in the middle")

        with pytest.raises(ValueError, match="in the middle"):
            carry_out(store, DELETED, fail, stamp=_NOW)
        assert (_said(store), store.batches()) == (before, [])


class TestUndo:
    def test_everything_is_as_before(self, store: MemoryStore) -> None:
        before = _said(store)
        carry_out(store, DELETED, lambda: _shuffle(store), stamp=_NOW)
        undone = undo(store, "", _NOW)
        assert (_said(store), undone.kept) == (before, ())
        assert [item.reason for item in store.history(record(4).id)] == [UNDONE]

    def test_a_preview_changes_nothing(self, store: MemoryStore) -> None:
        carry_out(store, DELETED, lambda: _shuffle(store), stamp=_NOW)
        after = _said(store)
        preview = undo(store, "", _NOW, dry_run=True).result
        assert (len(preview.inserted), len(preview.replaced), len(preview.deleted)) == (1, 1, 1)
        assert _said(store) == after
        assert find_batch(store) is not None

    def test_the_latest_goes_first_then_the_one_before_it(self, store: MemoryStore) -> None:
        start = _said(store)
        carry_out(store, DELETED, lambda: store.delete(record(1).id), stamp=stamp(1000))
        between = _said(store)
        carry_out(store, DELETED, lambda: store.delete(record(2).id), stamp=stamp(1001))
        undo(store, "", stamp(1002))
        assert _said(store) == between
        undo(store, "", stamp(1003))
        assert _said(store) == start
        with pytest.raises(NotFound, match="left to undo"):
            undo(store, "", stamp(1004))

    def test_an_undo_can_be_undone_by_its_id(self, store: MemoryStore) -> None:
        carry_out(store, DELETED, lambda: _shuffle(store), stamp=_NOW)
        after = _said(store)
        number = undo(store, "", _NOW).result.batch_id
        undo(store, number, _NOW)
        assert _said(store) == after

    def test_what_was_changed_since_stays_as_it_is(self, store: MemoryStore) -> None:
        carry_out(store, DELETED, lambda: _shuffle(store), stamp=_NOW)
        store.replace(record(1, "changed again", version=3))
        undone = undo(store, "", _NOW)
        assert undone.kept == (record(1).id,)
        assert _said(store) == {
            record(1).id: "changed again", record(2).id: "memory number 2", record(3).id: "memory number 3",
        }  # fmt: skip

    def test_memories_that_swapped_their_contents_get_their_own_back(self, store: MemoryStore) -> None:
        before = _said(store)

        def swap() -> None:
            for number, content in ((1, "in between"), (2, record(1).content), (1, record(2).content)):
                present = store.get(record(number).id)
                assert present is not None
                store.replace(record(number, content, version=present.version + 1))

        carry_out(store, DELETED, swap, stamp=_NOW)
        assert undo(store, "", _NOW).kept == ()
        assert _said(store) == before


@settings(max_examples=scale_examples(60))
@given(before=STEPS, batch=STEPS)
def test_whatever_a_batch_does_can_be_taken_back(
    before: list[tuple[str, int, int]], batch: list[tuple[str, int, int]]
) -> None:
    store = MemoryStore(None, Scope.PROJECT)
    play(store, before)
    said = _said(store)
    _, result = carry_out(store, DELETED, lambda: play(store, batch), stamp=_NOW)
    if result.batch_id:
        assert undo(store, result.batch_id, _NOW).kept == ()
    assert _said(store) == said


@pytest.mark.slow
@settings(max_examples=scale_examples(200))
@given(before=STEPS, batch=STEPS, after=STEPS, left=st.none() | st.integers(0, 4))
def test_an_undo_takes_a_memory_back_or_leaves_it_as_it_is(
    before: list[tuple[str, int, int]],
    batch: list[tuple[str, int, int]],
    after: list[tuple[str, int, int]],
    left: int | None,
) -> None:
    """A session may have pruned its memories and their history to the `left` newest meanwhile."""
    store = MemoryStore(None, Scope.SESSION)
    play(store, before)
    former = _said(store)
    _, result = carry_out(store, DELETED, lambda: play(store, batch), stamp=_NOW)
    evicted = store.evict(left) if left is not None else []
    # An id is never given twice.
    play(store, [step for step in after if step[0] != "put" or record(step[1]).id not in evicted])
    present = _said(store)
    assume(result.batch_id)
    undone = undo(store, result.batch_id, _NOW)
    changed = {change.id for change in undone.batch.changes}
    taken_back = {number: former[number] for number in changed - {*undone.kept} if number in former}
    untouched = {number: said for number, said in present.items() if number not in changed or number in undone.kept}
    assert _said(store) == {**taken_back, **untouched}


def test_a_memory_whose_history_was_pruned_stays_as_it_is() -> None:
    store = MemoryStore(None, Scope.SESSION)
    for number in (1, 2):
        put(store, record(number))
    carry_out(store, DELETED, lambda: _delete(store, 1, 2), stamp=_NOW)
    put(store, record(3))
    store.evict(1)
    undone = undo(store, "", _NOW)
    assert len(undone.kept) == 1
    assert len(_said(store)) == 2


def _delete(store: MemoryStore, *numbers: int) -> None:
    for number in numbers:
        store.delete(record(number).id)
