"""What the tests of memories need: a clock, stores of all scopes, records, vectors of a known closeness."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_ls.memory import Memories, NewMemory
from rag_ls.model import Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.storage import MemoryStore
from rag_ls.util.text import content_hash
from tests.support import MODEL, until


@dataclass
class Clock:
    """A second passes with each look at it."""

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def memories_in(folder: Path, *, max_session: Callable[[], int] = lambda: 1000) -> Memories:
    """Session memories in RAM, the project's and the user's in files."""
    stores = {
        Scope.SESSION: MemoryStore(None, Scope.SESSION),
        Scope.PROJECT: MemoryStore(folder / "project.db", Scope.PROJECT),
        Scope.GLOBAL: MemoryStore(folder / "global.db", Scope.GLOBAL),
    }
    return Memories({scope: lambda at=scope: stores[at] for scope in stores}, Clock(), max_session=max_session)


def new(content: str, scope: Scope = Scope.PROJECT, *tags: str) -> NewMemory:
    """Something to keep."""
    return NewMemory(content, scope, MemoryMetadata(tags=tags))


def record(number: int = 1, content: str = "", **changes: object) -> Memory:
    """A memory as a store holds it; greater numbers are newer ones."""
    content = content or f"memory number {number}"
    memory = Memory(
        id=f"{number:08d}-0000", content=content, scope=Scope.PROJECT, metadata=MemoryMetadata(), memory_type=MemoryType.SEMANTIC,
        created_at=stamp(number), updated_at=stamp(number), version=1, content_hash=content_hash(content),
    )  # fmt: skip
    return replace(memory, **changes)  # type: ignore[arg-type]


def stamp(minutes: int) -> str:
    """A time, so many minutes into a day."""
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def at_angle(degrees: float, dimensions: int = 8) -> NDArray[np.float32]:
    """A unit vector in a plane: two of them are as close as the cosine of the angle between them."""
    vector = np.zeros(dimensions, np.float32)
    vector[:2] = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return vector


def used(store: MemoryStore, memory_id: str, times: int = 1) -> None:
    """Recall a memory, so many times."""
    for _ in range(times):
        memory = store.get(memory_id)
        wanted = memory.uses + 1 if memory else 0
        store.note_uses([memory_id], stamp(60))
        # Uses are written beside the answer.
        assert until(lambda wanted=wanted: (found := store.get(memory_id)) and found.uses == wanted, 10)


def put(store: MemoryStore, memory: Memory, *vectors: NDArray[np.float32]) -> Memory:
    """Store a memory with the vectors of its parts."""
    store.insert(memory)
    if vectors:
        store.vectors.add(memory.id, MODEL, memory.content_hash, np.stack(vectors))
    return memory


STEPS = st.lists(
    st.tuples(st.sampled_from(("put", "change", "delete")), st.integers(0, 4), st.integers(0, 5)), max_size=10
)
"""Changes of five memories for `play`: what is done, the memory's number, and the number of its content."""


def play(store: MemoryStore, steps: list[tuple[str, int, int]]) -> set[str]:
    """Make the changes that are possible; returns all contents that were stored."""
    stored = set()
    for step, number, content in steps:
        memory = record(number, f"content {content}")
        present, former = store.get(memory.id), store.history(memory.id)
        if step == "delete":
            store.delete(memory.id)
        elif store.twin(memory) is None and (present is None) == (step == "put"):
            newest = max([present.version if present else 0, *(item.memory.version for item in former)])
            changed = replace(memory, version=newest + 1)
            store.insert(changed) if present is None else store.replace(changed)
            stored.add(memory.content)
    return stored
