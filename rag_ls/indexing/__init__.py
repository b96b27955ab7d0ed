"""Reads, cuts and stores documents, and embeds their chunks."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
