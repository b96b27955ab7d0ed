"""The language server: LSP to engine calls and back."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
