"""Watches a project for file changes by other programs."""

# A package offers what it imports here.
# mypy: implicit-reexport
# ruff: noqa: F401

from rag_ls.indexing.watching.events import ChangeSources
from rag_ls.indexing.watching.watcher import TreeSync
