"""rag-ls: one shared, always-fresh memory of a codebase for the editor and the coding agent."""

__version__ = "0.1.0"
