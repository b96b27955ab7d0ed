"""Stores rows and vectors: the interfaces of the stores, their records, and the functions that open them."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
