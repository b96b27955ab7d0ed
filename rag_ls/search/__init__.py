"""Searches the index: turns a query into hits."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
