"""The settings, and how they are read from files, environment and editor."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
