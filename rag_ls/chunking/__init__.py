"""Cut a document into chunks along its syntax: text in, `Chunk`s out; no I/O.

A document is parsed (`parse`), split from its declarations downward (`split`), and small pieces are
merged again (`merge`). Text without a grammar is cut into windows of lines (`windows`).
The document's declarations and imports are read from the same tree (`outline`).
A notebook is cut at its cells (`notebook`).
The method is split-then-merge of "cAST: Enhancing Code Retrieval-Augmented Generation with
Structural Chunking via Abstract Syntax Tree" (2025), with declarations kept apart so that the
symbol of a chunk means something.
"""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)
