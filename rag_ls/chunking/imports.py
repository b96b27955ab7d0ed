"""Reads the imports at the nodes that the rule of a language found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_ls.chunking.document import Document
from rag_ls.chunking.import_uses import statement_of
from rag_ls.languages.import_rules import ImportRule, Statement
from rag_ls.model import Import

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_STATEMENT = 8_192
MAX_MODULE = 300


def imports_of(node: Node, rule: ImportRule, document: Document) -> list[Statement]:
    """The imports of one node that the rule found, in the order of the text; empty if it cannot be read."""
    start = node.start_byte
    text = document.data[start : min(node.end_byte, start + _MAX_STATEMENT)].decode("utf-8", "ignore")
    line = document.line(start)
    return [
        # In broken code, a name may be missing.
        statement_of(Import(module, tuple(filter(None, names)), line), text, document.data, start)
        for module, names in rule.reader(text)
        if module and len(module) <= MAX_MODULE and "\n" not in module
    ]
