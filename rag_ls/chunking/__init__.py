"""Cut a document into chunks along its syntax: text in, `Chunk`s out; no I/O.

A document is parsed (`parse`), split from its declarations downward (`split`), and small pieces are
merged again (`merge`). Text without a grammar is cut into windows of lines (`windows`).
The document's declarations and imports are read from the same tree (`outline`).
A notebook is cut at its cells (`notebook`).
The method is split-then-merge of "cAST: Enhancing Code Retrieval-Augmented Generation with
Structural Chunking via Abstract Syntax Tree" (2025), with declarations kept apart so that the
symbol of a chunk means something.
"""

# A package offers what it imports here.
# mypy: implicit-reexport
# ruff: noqa: F401

from rag_ls.chunking.chunker import NOTEBOOK, Cut, chunk_text, cut, embedding_text, outline_of_document, recognise
from rag_ls.chunking.document import CHARACTERS_PER_TOKEN, Budget, approximate_token_offsets
from rag_ls.chunking.imports import parts_of, stem_of
from rag_ls.chunking.notebook_cells import read_notebook_code, source_lines, with_open_cells
from rag_ls.chunking.parse import find_keywords
from rag_ls.chunking.rule_documents import RuleKind, cut_rules, find_fenced_lines, is_surveyed, rule_kind
from rag_ls.chunking.uses import KEY, SHORTHAND, UNKNOWN, read_uses
