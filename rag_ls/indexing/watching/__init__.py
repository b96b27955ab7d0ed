"""File changes by other programs, to those who want to know."""

from rag_ls.indexing.watching.watcher import TreeWatcher, Watched

__all__ = ["TreeWatcher", "Watched"]
