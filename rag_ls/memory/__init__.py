"""Memories: stores, recalls, consolidates, summarises and deletes them."""

# A package offers what it imports here.
# mypy: implicit-reexport
# ruff: noqa: F401

from rag_ls.memory.anchors import Anchoring, CodeCache
from rag_ls.memory.memories import ALL, Change, Clock, Memories, sort_memories, utc_now
from rag_ls.memory.new_memories import NewMemory, Stored
from rag_ls.memory.recall import Question
from rag_ls.model import MemoryFilters
