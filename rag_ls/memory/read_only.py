"""The memories of a scope for a client that may read them, and change none."""

from __future__ import annotations

from typing import Any, cast

from rag_ls.errors import ScopeRefused
from rag_ls.storage import MemoryStore
from rag_ls.util.records import dataclass

_CHANGES = frozenset(
    {"insert", "replace", "touch", "delete", "clear", "evict", "keep_version", "add_batch", "note_undone"}
)


def make_read_only(store: MemoryStore, refusal: str) -> MemoryStore:
    """The store, of which each method that changes a memory raises `ScopeRefused`. Uses and vectors are noted as ever."""
    return cast(MemoryStore, _ReadOnly(store, refusal))


@dataclass(frozen=True)
class _ReadOnly:
    """Equal to each other of the same store."""

    _store: MemoryStore
    _refusal: str

    def __getattr__(self, name: str) -> Any:
        if name in _CHANGES:
            raise ScopeRefused(self._refusal, f"{self._store.scope} memories")
        return getattr(self._store, name)
