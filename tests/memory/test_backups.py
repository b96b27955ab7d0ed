"""A backup comes back: into a store that is in use, or in the place of a file that is damaged."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings

from rag_ls.errors import NotFound, StoreDamaged
from rag_ls.memory.batches import Restored, replace_damaged, restore_into
from rag_ls.model import MemoryFilters, Scope
from rag_ls.storage import MemoryStore, read_backup
from tests.memory.support import STEPS, at_angle, play, put, record, stamp, used
from tests.support import MODEL, scale_examples

_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_NOW = stamp(1000)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a project keeps its memories."""
    return tmp_path / "memories.db"


@pytest.fixture
def store(file: Path) -> MemoryStore:
    """A store of three memories, with a backup."""
    store = MemoryStore(file, Scope.PROJECT)
    for number in (1, 2, 3):
        put(store, record(number), at_angle(number * 20))
    assert store.backup(_DAY)
    return store


def _contents(store: MemoryStore) -> dict[str, str]:
    return {memory.id: memory.content for memory in store.find()}


def _counts(restored: Restored) -> tuple[int, int, int]:
    """How many memories came back, were changed, and went."""
    result = restored.result
    return len(result.inserted), len(result.replaced), len(result.deleted)


def _former(store: MemoryStore, number: int) -> list[tuple[int, str, str]]:
    return [(item.memory.version, item.memory.content, item.reason) for item in store.history(record(number).id)]


class TestRestoreInto:
    def test_the_store_holds_what_it_held(self, store: MemoryStore, file: Path) -> None:
        before = _contents(store)
        put(store, record(4))
        store.replace(record(1, "changed", version=2))
        store.delete(record(2).id)
        restored = restore_into(store, "latest", _NOW)
        assert _counts(restored) == (1, 1, 1)
        assert Path(restored.backup).name == "memories-2026-01-01T000000.db"
        assert _contents(store) == before
        assert list(store.words.lexical(["changed"], 5)) == []

    def test_all_that_goes_stays_in_the_history(self, store: MemoryStore, file: Path) -> None:
        put(store, record(4))
        store.replace(record(1, "changed", version=2))
        store.replace(record(2, "changed before it went", version=2))
        store.delete(record(2).id)
        restore_into(store, "latest", _NOW)
        assert _former(store, 4) == [(1, "memory number 4", "restored")]
        assert _former(store, 1) == [(2, "changed", "restored"), (1, "memory number 1", "updated")]
        # Changing what came back writes over none of it.
        for number in (1, 2):
            memory = store.get(record(number).id)
            assert memory is not None
            assert memory.version == 3
            store.replace(replace(memory, content="once more", content_hash=f"hash {number}", version=4))
        assert [content for _, content, _ in _former(store, 2)] == [
            "memory number 2", "changed before it went", "memory number 2",
        ]  # fmt: skip

    def test_what_did_not_change_is_left_alone(self, store: MemoryStore, file: Path) -> None:
        used(store, record(1).id)
        store.touch(record(2).id, stamp(500))
        restored = restore_into(store, "latest", _NOW)
        assert _counts(restored) == (0, 0, 0)
        assert [memory.version for memory in store.find()] == [1, 1, 1]
        assert [store.get(record(number).id).uses for number in (1, 2)] == [1, 0]  # type: ignore[union-attr]

    def test_memories_that_took_over_each_other_s_content_get_their_own_back(
        self, store: MemoryStore, file: Path
    ) -> None:
        before = _contents(store)
        for number, content in (
            (1, "in between"),
            (2, record(1).content),
            (3, record(2).content),
            (1, record(3).content),
        ):
            version = store.get(record(number).id).version + 1  # type: ignore[union-attr]
            store.replace(record(number, content, version=version))
        restored = restore_into(store, "latest", _NOW)
        assert _counts(restored) == (0, 3, 0)
        assert _contents(store) == before
        assert {content for _, content, _ in _former(store, 1)} >= {"in between", record(3).content}

    def test_a_memory_stored_anew_makes_way_for_its_former_self(self, store: MemoryStore, file: Path) -> None:
        store.delete(record(1).id)
        put(store, record(9, record(1).content))
        restore_into(store, "latest", _NOW)
        assert _contents(store) == {record(number).id: record(number).content for number in (1, 2, 3)}

    def test_memories_that_come_back_are_found_by_meaning_again(self, store: MemoryStore, file: Path) -> None:
        store.delete(record(1).id)
        restore_into(store, "latest", _NOW)
        assert [number for number, _, _ in store.vectors.missing(MODEL, 5)] == [record(1).id]

    def test_a_backup_is_named_by_its_day_or_file(self, store: MemoryStore, file: Path, tmp_path: Path) -> None:
        put(store, record(4))
        later = store.backup(_DAY + timedelta(days=3))
        assert later is not None
        assert _counts(restore_into(store, "2026-01-01", _NOW))[2] == 1
        assert _counts(restore_into(store, "2026-01-04", _NOW))[0] == 1
        assert _counts(restore_into(store, "memories-2026-01-01T000000.db", _NOW))[2] == 1
        elsewhere = later.rename(tmp_path / "kept elsewhere.db")
        assert _counts(restore_into(store, str(elsewhere), _NOW))[0] == 1

    @pytest.mark.parametrize("name", ["2025-12-31", "", "../memories.db", "no such file"])
    def test_a_backup_that_is_not_there_is_named_with_those_that_are(
        self, store: MemoryStore, file: Path, name: str
    ) -> None:
        with pytest.raises(NotFound, match=r"there are .*2026-01-01T000000"):
            restore_into(store, name, _NOW)
        assert len(store.find()) == 3

    def test_a_broken_backup_is_passed_over_or_refused(self, store: MemoryStore, file: Path) -> None:
        (file.parent / "backups" / "memories-2026-01-02.db").write_bytes(b"garbage" * 1000)
        assert Path(restore_into(store, "latest", _NOW).backup).name == "memories-2026-01-01T000000.db"
        with pytest.raises(NotFound, match="no good backup '2026-01-02'"):
            restore_into(store, "2026-01-02", _NOW)

    def test_the_backup_itself_stays_as_it_is(self, store: MemoryStore, file: Path) -> None:
        backup = file.parent / "backups" / "memories-2026-01-01T000000.db"
        before = backup.read_bytes()
        store.delete(record(1).id)
        restore_into(store, "latest", _NOW)
        assert backup.read_bytes() == before
        assert not list(backup.parent.glob("*.tmp"))


@settings(max_examples=scale_examples(40))
@given(before=STEPS, after=STEPS)
def test_whatever_happened_since_is_taken_back_and_none_of_it_is_lost(
    before: list[tuple[str, int, int]], after: list[tuple[str, int, int]]
) -> None:
    store = MemoryStore(None, Scope.PROJECT)
    seen = play(store, before)
    wanted = _contents(store)
    backup = MemoryStore(None, Scope.PROJECT)
    for memory in store.find():
        backup.insert(memory)
    seen |= play(store, after)
    _bring_back(store, backup)
    assert _contents(store) == wanted
    kept = set(wanted.values())
    for number in range(5):
        versions = store.history(record(number).id)
        kept |= {item.memory.content for item in versions}
        assert len({item.memory.version for item in versions}) == len(versions)
        present = store.get(record(number).id)
        assert present is None or not versions or present.version > versions[0].memory.version
    assert kept == seen


def _bring_back(store: MemoryStore, backup: MemoryStore) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memories.db"
        copy = MemoryStore(file, Scope.PROJECT)
        for memory in backup.find():
            copy.insert(memory)
        copy.close()
        restore_into(store, str(file), _NOW)


class TestReplaceDamaged:
    def test_the_backup_is_in_place_and_the_damaged_file_beside_it(self, store: MemoryStore, file: Path) -> None:
        store.close()
        file.write_bytes(b"garbage" * 1000)
        file.with_name("memories.db-wal").write_bytes(b"its log")
        restored = replace_damaged(file.parent, "latest", Scope.PROJECT)
        assert restored.replaced_damaged == 3
        assert restored.moved_aside is not None
        assert Path(restored.moved_aside).read_bytes() == b"garbage" * 1000
        assert Path(restored.moved_aside + "-wal").read_bytes() == b"its log"
        again = MemoryStore(file, Scope.PROJECT)
        assert [memory.id for memory in again.find()] == [record(number).id for number in (3, 2, 1)]
        assert again.vectors.nearest(at_angle(20), MODEL, MemoryFilters(), 1)[0][0] == record(1).id

    def test_without_a_good_backup_nothing_is_touched(self, file: Path) -> None:
        file.write_bytes(b"garbage" * 1000)
        with pytest.raises(NotFound, match="there are none"):
            replace_damaged(file.parent, "latest", Scope.PROJECT)
        assert file.read_bytes() == b"garbage" * 1000

    def test_it_may_be_done_twice(self, store: MemoryStore, file: Path) -> None:
        store.close()
        for _ in range(2):
            file.write_bytes(b"garbage" * 1000)
            with pytest.raises(StoreDamaged):
                MemoryStore(file, Scope.PROJECT)
            replace_damaged(file.parent, "2026-01-01", Scope.PROJECT)
        assert len(list(file.parent.glob("memories.db.damaged-*"))) == 2
        assert len(MemoryStore(file, Scope.PROJECT).find()) == 3

    def test_a_file_that_is_missing_comes_back(self, store: MemoryStore, file: Path) -> None:
        store.close()
        file.unlink()
        assert replace_damaged(file.parent, "latest", Scope.PROJECT).moved_aside is None
        assert MemoryStore(file, Scope.PROJECT).count() == 3


def test_of_one_second_the_older_state_is_kept(store: MemoryStore) -> None:
    before = _contents(store)
    put(store, record(4))
    store.backup(_DAY, always=True)
    assert {memory.id: memory.content for memory in read_backup(store, "latest").memories} == before


def test_a_file_that_is_in_use_comes_back_with_what_was_stored_last(tmp_path: Path) -> None:
    source = MemoryStore(tmp_path / "elsewhere.db", Scope.PROJECT)
    put(source, record(5))
    assert (tmp_path / "elsewhere.db-wal").stat().st_size
    target = MemoryStore(tmp_path / "memories.db", Scope.PROJECT)
    restore_into(target, str(tmp_path / "elsewhere.db"), _NOW)
    assert _contents(target) == {record(5).id: record(5).content}


def test_a_torn_backup_is_refused_in_a_preview_too(store: MemoryStore, tmp_path: Path) -> None:
    torn = tmp_path / "torn.db"
    with closing(sqlite3.connect(torn)) as connection:
        connection.execute("CREATE TABLE memories (id TEXT)")
    with pytest.raises(NotFound, match="cannot be read"):
        restore_into(store, str(torn), _NOW, dry_run=True)
