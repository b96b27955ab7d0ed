"""Lets open memory stores rest: a store that was not used for a while closes its files and drops its caches."""

from __future__ import annotations

from rag_ls.storage import MemoryStore

# Longer than an agent thinks between two questions. The first question after a rest takes some milliseconds more.
REST_S = 15.0


def rests(store: MemoryStore) -> bool:
    """Close the files of a store that was not used for a while; whether it rests now.

    A store that rests has no memories to embed. One that another process wrote meanwhile may have some, and does not rest.
    """
    return store.unused_s >= REST_S and not store.was_written and store.let_go()
