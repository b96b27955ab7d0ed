"""Embeds texts: turns them into vectors."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
