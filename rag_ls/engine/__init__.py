"""The engine, its clients, and the projects that they share."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
