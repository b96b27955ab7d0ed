"""Memories: stores, recalls, consolidates, summarises and deletes them."""

from rag_ls.memory.anchors import Anchoring, CodeCache
from rag_ls.memory.memories import (
    ALL,
    Change,
    Clock,
    Memories,
    NewMemory,
    Stored,
    sort_memories,
    utc_now,
)
from rag_ls.memory.recall import Question
from rag_ls.model import MemoryFilters

__all__ = [
    "ALL",
    "Anchoring",
    "Change",
    "Clock",
    "CodeCache",
    "Memories",
    "MemoryFilters",
    "NewMemory",
    "Question",
    "Stored",
    "sort_memories",
    "utc_now",
]
