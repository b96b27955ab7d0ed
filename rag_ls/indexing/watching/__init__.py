"""Watches a project for file changes by other programs."""

from rag_ls.indexing.watching.sources import ChangeSources
from rag_ls.indexing.watching.watcher import TreeSync

__all__ = ["ChangeSources", "TreeSync"]
