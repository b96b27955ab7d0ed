"""Rest: open stores that nobody has asked for a while close their files and drop their caches, until they are needed."""

from __future__ import annotations

from rag_ls.storage import MemoryStore

# Longer than an agent thinks between two questions; the first question after it costs some milliseconds.
REST_S = 15.0


def rests(store: MemoryStore) -> bool:
    """Have memories that nobody asked for a while let go; whether they rest, so that no work waits in them."""
    return store.unused_s >= REST_S and not store.was_written and store.let_go()
