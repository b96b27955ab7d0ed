"""A `memories.db` of the first version opens, with everything that was in it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from rag_ls.errors import StoreUnavailable
from rag_ls.memory.batches import undo
from rag_ls.model import Anchor, Memory, MemoryFilters, MemoryOrder, MemoryType, Scope
from rag_ls.storage import MemoryStore, VersionChange
from rag_ls.storage.sqlite.memory_schema import _FIRST, MIGRATIONS
from rag_ls.util.text import content_hash
from tests.support import MODEL, unit_vectors

_TEXTS = ("access tokens expire after an hour", "invoices are sent by mail", "deploy on Fridays only")
_VECTORS = unit_vectors(3)


def _id(number: int) -> str:
    return f"{number:08d}-0000"


def _metadata(number: int) -> str:
    # As the first version wrote it; a tag twice in other case, which is one tag now.
    return json.dumps(
        {"tags": ["auth", "Auth", f"n{number}"], "source_file": None, "language": "python", "chunk_index": None,
         "parent_id": None, "ast_node_type": None, "importance_score": number / 10, "custom": {"ü": [1, None]}}
    )  # fmt: skip


def _row(number: int, text: str, version: int = 1) -> tuple[object, ...]:
    anchor = json.dumps(["src/a.py", "Session.refresh", "0" * 64, 12]) if number == 0 else None
    stamp = f"2025-12-0{number + 1}T00:00:00.000Z"
    return (
        _id(number), text, _metadata(number), "semantic", stamp, stamp, version, content_hash(text), None,
        json.dumps(["a", "b"] if number == 1 else []), anchor,
    )  # fmt: skip


_NAMES = (
    "id", "content", "metadata", "memory_type", "created_at", "updated_at", "version", "content_hash", "source_uri",
    "source_memory_ids", "anchor",
)  # fmt: skip


def _first_version(file: Path, *, wal: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None)
    if wal:
        connection.execute("PRAGMA journal_mode = WAL")
    for statement in _FIRST:
        connection.execute(statement)
    connection.execute("PRAGMA user_version = 1")
    for number, text in enumerate(_TEXTS):
        marks = ", ".join("?" * len(_NAMES))
        version = 2 if number == 2 else 1
        connection.execute(f"INSERT INTO memories ({', '.join(_NAMES)}) VALUES ({marks})", _row(number, text, version))
        connection.execute(
            "INSERT INTO memory_postings (rowid, content, tags) VALUES (?, ?, ?)", (number + 1, text, "auth")
        )
        connection.execute(
            "INSERT INTO vectors VALUES (?, ?, ?, ?)",
            (number + 1, MODEL, content_hash(text), _VECTORS[number].tobytes()),
        )
    for number, text in ((2, "deploy on any day"), (7, "gone for good")):
        record = json.dumps(dict(zip(_NAMES, _row(number, text), strict=True)))
        connection.execute("INSERT INTO history VALUES (?, 1, ?, '2025-12-31T00:00:00.000Z')", (_id(number), record))
    return connection


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of the first version with three memories, one of them changed, and one that was deleted."""
    file = tmp_path / "memories.db"
    _first_version(file).close()
    return file


def _check(store: MemoryStore) -> None:
    found = store.find(order=MemoryOrder.CREATED)
    assert [memory.content for memory in found] == list(_TEXTS[::-1])
    first = found[-1]
    assert first == Memory(
        id=_id(0), content=_TEXTS[0], scope=Scope.PROJECT, metadata=first.metadata, memory_type=MemoryType.SEMANTIC,
        created_at="2025-12-01T00:00:00.000Z", updated_at="2025-12-01T00:00:00.000Z", version=1,
        content_hash=content_hash(_TEXTS[0]), anchor=Anchor("src/a.py", "Session.refresh", "0" * 64, 12),
    )  # fmt: skip
    assert (first.metadata.tags, first.metadata.custom) == (("auth", "Auth", "n0"), {"ü": [1, None]})
    assert found[1].source_memory_ids == ("a", "b")
    for number, vector in enumerate(_VECTORS):
        (nearest,) = store.vectors.nearest(vector, MODEL, MemoryFilters(), 1)
        assert nearest[0] == _id(number)
        assert nearest[1] == pytest.approx(1, abs=1e-3)
    assert list(store.words.lexical(["invoices"], 5)) == [_id(1)]


def test_memories_vectors_and_words_are_all_there(old: Path) -> None:
    store = MemoryStore(old, Scope.PROJECT)
    _check(store)
    store.close()
    _check(MemoryStore(old, Scope.PROJECT))


def test_vectors_are_of_half_the_size_and_of_one_part(old: Path) -> None:
    store = MemoryStore(old, Scope.PROJECT)
    assert store.vectors.of(_id(1), MODEL).shape == (1, _VECTORS.shape[1])
    assert np.allclose(store.vectors.of(_id(1), MODEL)[0], _VECTORS[1], atol=1e-3)
    sizes = sqlite3.connect(old).execute("SELECT DISTINCT length(vector), part FROM vectors").fetchall()
    assert sizes == [(2 * _VECTORS.shape[1], 0)]


def test_tags_and_anchors_are_looked_up(old: Path) -> None:
    store = MemoryStore(old, Scope.PROJECT)
    assert store.words.tag_counts() == {"auth": 3, "n0": 1, "n1": 1, "n2": 1}
    assert [memory.id for memory in store.find(MemoryFilters(tags=("N2",)))] == [_id(2)]
    assert [memory.id for memory in store.about("src/a.py", (), ())] == [_id(0)]
    assert [memory.id for memory in store.about("", ("Session.refresh",), ())] == [_id(0)]
    assert [memory.id for memory in store.about("", (), ("0" * 64,))] == [_id(0)]


def test_nothing_counts_as_used_nor_as_tied_to_a_branch(old: Path) -> None:
    store = MemoryStore(old, Scope.PROJECT)
    assert store.count(MemoryFilters(never_used=True)) == 3
    assert store.count(MemoryFilters(branch="main")) == 3
    store.note_uses([_id(0)], "2026-01-01T00:00:00.000Z")
    store.close()
    assert MemoryStore(old, Scope.PROJECT).count(MemoryFilters(never_used=True)) == 2


def test_the_history_is_there_and_knows_what_was_deleted(old: Path) -> None:
    store = MemoryStore(old, Scope.PROJECT)
    (changed,), (deleted,) = store.history(_id(2)), store.history(_id(7))
    assert (changed.memory.content, changed.reason) == ("deploy on any day", "updated")
    assert (deleted.memory.content, deleted.reason) == ("gone for good", "deleted")
    assert deleted.memory.branch is None


def test_what_is_written_then_is_kept_as_ever(old: Path) -> None:
    store = MemoryStore(old, Scope.PROJECT)
    (former,) = store.find(MemoryFilters(tags=("n2",)))
    assert store.delete(former.id)
    assert [item.memory.version for item in store.history(former.id)] == [2, 1]
    assert store.vectors.nearest(_VECTORS[2], MODEL, MemoryFilters(), 1)[0][0] != former.id


def test_what_is_in_the_log_alone_is_brought_along(tmp_path: Path) -> None:
    crashed = tmp_path / "crashed.db"
    connection = _first_version(crashed, wal=True)
    file = tmp_path / "memories.db"
    # The files as a crash leaves them: the log was not written back.
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{crashed}{suffix}", f"{file}{suffix}")
    connection.close()
    assert file.with_name("memories.db-wal").stat().st_size > 0
    _check(MemoryStore(file, Scope.PROJECT))


def test_a_vector_that_cannot_be_read_is_made_anew(old: Path) -> None:
    connection = sqlite3.connect(old)
    connection.execute("UPDATE vectors SET vector = x'010203' WHERE row = 3")
    connection.commit()
    store = MemoryStore(old, Scope.PROJECT)
    assert [number for number, _, _ in store.vectors.missing(MODEL, 5)] == [_id(2)]


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(old: Path) -> None:
    connection = sqlite3.connect(old)
    connection.execute("UPDATE memories SET metadata = 'no JSON' WHERE row = 3")
    connection.commit()
    with pytest.raises(StoreUnavailable, match="JSON"):
        MemoryStore(old, Scope.PROJECT)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert connection.execute("SELECT count(*) FROM memories").fetchone() == (3,)
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('uses', 'tags')").fetchone() == (0,)


def test_a_new_file_has_the_newest_version(tmp_path: Path) -> None:
    MemoryStore(tmp_path / "memories.db", Scope.PROJECT).close()
    version = sqlite3.connect(tmp_path / "memories.db").execute("PRAGMA user_version").fetchone()
    assert version == (len(MIGRATIONS),)


def test_memories_of_the_third_version_were_pushed_by_no_program(tmp_path: Path) -> None:
    file = tmp_path / "memories.db"
    connection = _first_version(file)
    for migrate in MIGRATIONS[1:3]:
        migrate(connection)
    connection.commit()
    connection.execute("PRAGMA user_version = 3")
    connection.close()
    store = MemoryStore(file, Scope.PROJECT)
    assert {(memory.content, memory.project_id) for memory in store.find()} >= {("invoices are sent by mail", None)}
    assert store.find(MemoryFilters(project_ids=("default",))) == []
    store.close()


def test_a_consolidation_of_the_second_version_can_be_undone(tmp_path: Path) -> None:
    file = tmp_path / "memories.db"
    connection = _first_version(file)
    MIGRATIONS[1](connection)
    merges = json.dumps([{"kept": _id(2), "version": 2, "merged": [_id(7), "of no known version"]}])
    values = ("merged", "2026-01-02T00:00:00.000Z", merges)
    connection.execute("INSERT INTO consolidations VALUES (?, ?, ?, NULL)", values)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    store = MemoryStore(file, Scope.PROJECT)
    (batch,) = store.batches()
    assert batch.changes == (VersionChange(_id(2), 1, 2), VersionChange(_id(7), 1, None))
    assert undo(store, "merged", "2026-01-03T00:00:00.000Z").kept == ()
    contents = {memory.content for memory in store.find()}
    assert {"deploy on any day", "gone for good"} <= contents


def test_words_of_a_former_index_are_split_anew(tmp_path: Path) -> None:
    file = tmp_path / "memories.db"
    connection = _first_version(file)
    for migrate in MIGRATIONS[1:4]:
        migrate(connection)
    connection.execute("UPDATE memories SET content = '检查用户的密码过期时间' WHERE row = 1")
    connection.execute("INSERT INTO tags VALUES (1, '超时设置')")
    connection.execute("PRAGMA user_version = 4")
    connection.close()
    store = MemoryStore(file, Scope.PROJECT)
    assert [len(store.words.lexical([term], 5)) for term in ("密码", "超时", "缓存", "deploy")] == [1, 1, 0, 1]
    store.close()
