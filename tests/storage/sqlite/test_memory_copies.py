"""Copies of memories from file to file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rag_ls.model import Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.storage.sqlite.memories import MemoryStore
from rag_ls.storage.sqlite.memory_copies import copy_memories
from rag_ls.storage.sqlite.memory_files import put_in_place


def _store(file: Path, *contents: str) -> MemoryStore:
    file.parent.mkdir(exist_ok=True)
    store = MemoryStore(file, Scope.PROJECT)
    for content in contents:
        stamp = "2026-01-01T00:00:00.000Z"
        store.insert(
            Memory(content, content, Scope.PROJECT, MemoryMetadata(), MemoryType.SEMANTIC, stamp, stamp, 1, content)
        )
    return store


def _contents(file: Path) -> list[str]:
    store = MemoryStore(file, Scope.PROJECT)
    try:
        return sorted(memory.content for memory in store.all())
    finally:
        store.close()


@pytest.mark.parametrize("place", [copy_memories, put_in_place])
def test_a_log_that_was_left_is_not_taken_for_the_new_file_s(tmp_path: Path, place: object) -> None:
    source, target = tmp_path / "source/memories.db", tmp_path / "target/memories.db"
    _store(source, "good").close()
    former = _store(target, *(f"former {number}" for number in range(50)))
    for suffix in ("-wal", "-shm"):
        shutil.copyfile(target.with_name(target.name + suffix), tmp_path / suffix)
    former.close()
    target.unlink()
    for suffix in ("-wal", "-shm"):
        (tmp_path / suffix).rename(target.with_name(target.name + suffix))
    assert callable(place)
    place(source, target)
    assert _contents(target) == ["good"]


def test_a_file_that_another_connection_writes_is_copied_whole(tmp_path: Path) -> None:
    store = _store(tmp_path / "source/memories.db", "one", "two")
    (tmp_path / "target").mkdir()
    copy_memories(tmp_path / "source/memories.db", tmp_path / "target/memories.db")
    assert _contents(tmp_path / "target/memories.db") == ["one", "two"]
    store.close()
