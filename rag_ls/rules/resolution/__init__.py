"""Resolve imports to the documents that they mean, by the rules of each language: pure functions of paths and manifests."""

from rag_ls.rules.resolution.resolver import ImportResolver
from rag_ls.rules.resolution.source_tree import SourceTree, Target

__all__ = ["ImportResolver", "SourceTree", "Target"]
