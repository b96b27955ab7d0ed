"""Memories: stores, recalls, consolidates, summarises and deletes them."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
