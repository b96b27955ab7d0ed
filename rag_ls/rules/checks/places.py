"""Finds an import in a document, and words a chain of imports."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.rules.checks.graph import Edge
from rag_ls.rules.checks.records import CheckedDocument, TextRange
from rag_ls.util.text import lines_of

_MAX_SHOWN = 6


def place_of(document: CheckedDocument, edge: Edge) -> TextRange:
    """The line of an import, without its indentation."""
    lines = lines_of(document.text)
    line = lines[edge.line - 1] if 0 < edge.line <= len(lines) else ""
    start = len(line) - len(line.lstrip())
    return TextRange(edge.line, start, edge.line, max(len(line.rstrip()), start))


def word_import(chain: Sequence[str]) -> str:
    """An import that leads to the end of a chain, in words."""
    return f"it imports {shorten_chain(chain)}"


def shorten_chain(chain: Sequence[str]) -> str:
    """The documents of a chain with arrows between; of a long one, the beginning and the end."""
    return " -> ".join(chain if len(chain) <= _MAX_SHOWN else [*chain[: _MAX_SHOWN - 1], "…", chain[-1]])
