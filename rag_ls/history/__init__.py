"""Reads git's history: commits as hits, and the commits that changed one declaration."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
