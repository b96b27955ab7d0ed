"""Memories at rest: every former version is kept, and a damaged file is never touched."""

from __future__ import annotations

import json
import sqlite3
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.errors import StoreDamaged, StoreUnavailable
from rag_ls.model import Anchor, Memory, MemoryFilters, MemoryMetadata, MemoryType, Scope
from rag_ls.storage import MemoryStore
from rag_ls.storage.sqlite.memory_files import choose_kept_times
from rag_ls.util.text import content_hash
from tests.support import MODEL, unit_vectors

_DAY = datetime(2026, 1, 1, tzinfo=UTC)


def _memory(number: int = 1, content: str = "tokens expire after an hour", **changes: object) -> Memory:
    memory = Memory(
        id=f"{number:08d}-0000", content=content, scope=Scope.PROJECT, metadata=MemoryMetadata(), memory_type=MemoryType.SEMANTIC,
        created_at="2026-01-01T00:00:00.000Z", updated_at=f"2026-01-01T00:00:{number % 60:02d}.000Z", version=1,
        content_hash=content_hash(content),
    )  # fmt: skip
    return replace(memory, **changes)  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a project keeps its memories."""
    return tmp_path / "memories.db"


@given(
    content=st.text(st.characters(exclude_categories=("Cs",)), min_size=1),
    tags=st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1), unique=True).map(tuple),
    custom=st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text(max_size=5)),
    importance=st.floats(0, 1),
)
def test_a_memory_comes_back_as_it_was_stored(
    content: str, tags: tuple[str, ...], custom: dict[str, object], importance: float
) -> None:
    store = MemoryStore(None, Scope.PROJECT)
    metadata = MemoryMetadata(
        tags, "src/a.py", "python", 3, "parent", "function_definition", importance, json.loads(json.dumps(custom))
    )
    memory = _memory(
        content=content, metadata=metadata, source_uri="file:///x", source_memory_ids=("a", "b"),
        anchor=Anchor("src/a.py", "A.run", "0" * 64, 12),
    )  # fmt: skip
    store.insert(memory)
    assert store.get(memory.id) == memory
    assert store.twin(replace(memory, id="other")) == memory


def test_memories_survive_closing(file: Path) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    store.insert(_memory())
    store.close()
    assert MemoryStore(file, Scope.PROJECT).all() == [_memory()]


def test_a_second_store_of_the_same_file_sees_each_change(file: Path) -> None:
    one, other = MemoryStore(file, Scope.PROJECT), MemoryStore(file, Scope.PROJECT)
    one.insert(_memory())
    assert other.get(_memory().id) == _memory()
    other.delete(_memory().id)
    assert one.all() == []


def test_every_former_version_is_in_the_history(file: Path) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    store.insert(_memory(content="first"))
    store.replace(_memory(content="second", version=2))
    store.delete(_memory().id)
    rows = sqlite3.connect(file).execute("SELECT version, record FROM history ORDER BY version").fetchall()
    assert [(version, json.loads(text)["content"]) for version, text in rows] == [(1, "first"), (2, "second")]


def test_replacing_changes_what_is_found(file: Path) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    store.insert(_memory(content="about lions"))
    store.replace(_memory(content="about tigers", version=2))
    assert store.words.lexical(["lions"], 5) == {}
    assert list(store.words.lexical(["tigers"], 5)) == [_memory().id]


def test_replacing_an_unknown_memory_is_an_error_and_changes_nothing(file: Path) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    with pytest.raises(KeyError):
        store.replace(_memory())
    assert store.all() == []


def test_a_deleted_memory_is_found_by_nobody(file: Path) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    store.insert(_memory())
    store.vectors.add(_memory().id, MODEL, _memory().content_hash, unit_vectors(1))
    assert store.delete(_memory().id)
    assert not store.delete(_memory().id)
    assert (store.get(_memory().id), store.words.lexical(["tokens"], 5), _nearest(store)) == (None, {}, [])


def test_a_tag_counts_more_than_the_content(file: Path) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    store.insert(_memory(1, "cache here"))
    store.insert(_memory(2, "something else", metadata=MemoryMetadata(tags=("cache",))))
    assert list(store.words.lexical(["cache"], 5)) == [_memory(2).id, _memory(1).id]


def test_a_vector_of_former_content_is_not_used(file: Path) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    store.insert(_memory())
    store.vectors.add(_memory().id, MODEL, _memory().content_hash, unit_vectors(1))
    assert _nearest(store) == [_memory().id]
    store.replace(_memory(content="new words", version=2))
    assert _nearest(store) == []
    assert [content for _, content, _ in store.vectors.missing(MODEL, 5)] == ["new words"]


def test_an_id_prefix_is_no_pattern(file: Path) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    store.insert(_memory(1))
    store.insert(_memory(2, "other"))
    assert store.ids_starting("00000001") == [_memory(1).id]
    assert store.ids_starting("0000000_") == []
    assert store.ids_starting("%") == []


def test_a_backup_is_made_an_hour_after_the_last_one_or_when_it_must_be(file: Path) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    assert store.backup(_DAY) is None
    store.insert(_memory(1))
    first = store.backup(_DAY)
    assert first is not None
    store.insert(_memory(2, "other"))
    assert store.backup(_DAY + timedelta(minutes=59)) is None
    assert [memory.id for memory in MemoryStore(first, Scope.PROJECT).all()] == [_memory(1).id]
    forced = store.backup(_DAY + timedelta(minutes=59), always=True)
    assert forced is not None
    assert len(MemoryStore(forced, Scope.PROJECT).all()) == 2
    assert store.backup(_DAY + timedelta(minutes=118)) is None
    assert store.backup(_DAY + timedelta(minutes=119)) is not None


def test_old_backups_make_way_for_new_ones(file: Path) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    store.insert(_memory())
    for day in range(100):
        store.backup(_DAY + timedelta(days=day))
    assert 10 <= len(list((file.parent / "backups").iterdir())) <= 13


@given(st.lists(st.integers(0, 60 * 24 * 60), min_size=1, max_size=300, unique=True))
def test_backups_are_spaced_by_their_age(minutes: list[int]) -> None:
    now = _DAY + timedelta(days=60)
    times = [now - timedelta(minutes=age) for age in minutes]
    kept = choose_kept_times(times, now)
    assert kept <= set(times)
    assert set(sorted(times)[-7:]) <= kept
    assert len(kept) <= 13 + 25 + 8 + 6 + 7
    # Whoever looks for the state of a past time finds one that is not much older or younger than it could be.
    for age, spacing in ((60, 5), (24 * 60, 60), (7 * 24 * 60, 24 * 60), (31 * 24 * 60, 7 * 24 * 60)):
        for time in times:
            if now - time < timedelta(minutes=age):
                assert any(abs(other - time) <= timedelta(minutes=spacing) for other in kept)


def test_files_are_readable_by_their_user_alone(file: Path) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    store.insert(_memory())
    backup = store.backup(_DAY)
    assert backup is not None
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (*file.parent.glob("memories.db*"), backup)}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(backup.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("damaged", [b"this is no database" * 500, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_damaged_file_is_left_as_it_is_and_the_newest_good_backup_is_named(file: Path, damaged: bytes) -> None:
    _with_backups(file, 3)
    (file.parent / "backups" / "memories-2026-01-03T000000.db").write_bytes(b"bad backup" * 1000)
    file.write_bytes(damaged)
    for _ in range(2):
        with pytest.raises(StoreDamaged, match=r"memories-2026-01-02T000000\.db: `rag-ls restore"):
            MemoryStore(file, Scope.PROJECT)
    assert file.read_bytes() == damaged


def test_a_half_written_file_is_damaged(file: Path) -> None:
    _with_backups(file, 1)
    half = file.read_bytes()[: file.stat().st_size // 2]
    file.write_bytes(half)
    with pytest.raises(StoreDamaged, match=r"memories-2026-01-01T000000\.db"):
        MemoryStore(file, Scope.PROJECT)
    assert file.read_bytes() == half


def test_a_file_truncated_to_nothing_is_damaged_where_there_were_memories(file: Path) -> None:
    _with_backups(file, 2)
    file.write_bytes(b"")
    with pytest.raises(StoreDamaged, match=r"it is empty.*memories-2026-01-02T000000\.db"):
        MemoryStore(file, Scope.PROJECT)
    assert file.read_bytes() == b""


def test_without_a_backup_the_error_says_so(file: Path) -> None:
    file.write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreDamaged, match="there is no backup"):
        MemoryStore(file, Scope.PROJECT)


def test_the_named_backup_repairs_the_file(file: Path) -> None:
    _with_backups(file, 1)
    file.write_bytes(b"garbage" * 1000)
    file.write_bytes((file.parent / "backups" / "memories-2026-01-01T000000.db").read_bytes())
    assert MemoryStore(file, Scope.PROJECT).get(_memory().id) == _memory()


def test_a_file_of_a_newer_version_is_not_touched(file: Path) -> None:
    _with_backups(file, 1)
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreUnavailable, match="upgrade rag-ls, nothing was changed"):
        MemoryStore(file, Scope.PROJECT)
    assert file.read_bytes() == before


def test_an_empty_backup_is_not_called_good(file: Path) -> None:
    _with_backups(file, 2)
    (file.parent / "backups" / "memories-2026-01-02T000000.db").write_bytes(b"")
    file.write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreDamaged, match=r"memories-2026-01-01T000000\.db: `rag-ls restore"):
        MemoryStore(file, Scope.PROJECT)


@pytest.mark.parametrize("name", ["C#", "what?", "100%25"])
def test_a_backup_is_found_in_a_folder_of_any_name(tmp_path: Path, name: str) -> None:
    file = tmp_path / name / "memories.db"
    file.parent.mkdir()
    _with_backups(file, 1)
    file.write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreDamaged, match=r"memories-2026-01-01T000000\.db: `rag-ls restore"):
        MemoryStore(file, Scope.PROJECT)
    assert list(tmp_path.iterdir()) == [file.parent]


def _nearest(store: MemoryStore) -> list[str]:
    return [number for number, _ in store.vectors.nearest(unit_vectors(1)[0], MODEL, MemoryFilters(), 5)]


def _with_backups(file: Path, count: int) -> None:
    store = MemoryStore(file, Scope.PROJECT)
    store.insert(_memory())
    for day in range(count):
        store.backup(_DAY + timedelta(days=day))
    store.close()
    assert not file.with_name("memories.db-wal").exists()
