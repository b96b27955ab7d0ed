"""Remember, recall, forget."""

from rag_ls.memory.anchors import anchor_to, resolved
from rag_ls.memory.memories import ALL, SCOPES, Clock, Memories, MemoryFilters, NewMemory, Stored, utc_now

__all__ = [
    "ALL",
    "SCOPES",
    "Clock",
    "Memories",
    "MemoryFilters",
    "NewMemory",
    "Stored",
    "anchor_to",
    "resolved",
    "utc_now",
]
