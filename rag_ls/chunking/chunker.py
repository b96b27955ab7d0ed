"""The way from a text to its chunks."""

from __future__ import annotations

import re

import numpy as np

from rag_ls.chunking.budget import Budget, TokenOffsets
from rag_ls.chunking.document import Document
from rag_ls.chunking.grammars import SPECS
from rag_ls.chunking.languages import PROSE
from rag_ls.chunking.merge import Group, merge
from rag_ls.chunking.parse import MAX_BYTES, is_safe, parse
from rag_ls.chunking.specs import Kind, LanguageSpec
from rag_ls.chunking.split import Piece, Scope, split_tree
from rag_ls.chunking.symbols import doc_of, signature_of
from rag_ls.chunking.windows import overlap_start, windows
from rag_ls.model import Chunk

_LONG_LINE = 32_768
_CPP = re.compile(rb"^\s*(?:class|namespace|template|using|public:|private:)\b", re.MULTILINE)


def chunk_text(
    text: str, path: str, *, language: str | None, budget: Budget, token_offsets: TokenOffsets
) -> list[Chunk]:
    """Cut a document into chunks; none for the empty text.

    The chunks partition the text, in order. None exceeds `budget.max_tokens` tokens, nor 16 bytes
    for each of them (but a single character is never parted). `token_offsets` is called once, with
    the whole text. `language` is what `detect_language` says; None and languages without a grammar
    get windows of lines. The same arguments give the same chunks.
    """
    if not text:
        return []
    language = language or "text"
    document = Document.of(text, token_offsets)
    spec = _spec(language, path, document.data)
    if spec is None or not _worth_parsing(document, spec.grammar):
        return _from_windows(document, path, language, budget)
    pieces = split_tree(document, parse(document.data, spec.grammar), spec, budget)
    groups = merge(pieces, document, budget)
    maker = _Maker(document, path, language, spec, budget)
    return [maker.chunk(ordinal, group) for ordinal, group in enumerate(groups)]


def embedding_text(chunk: Chunk) -> str:
    """What is embedded for a chunk: a header that says where it belongs, its overlap, its text.

    The header is the scope of what the chunk declares; for any other chunk it is
    `symbol > signature`. The path is not part of it: vectors are addressed by this text, so that a
    renamed file or a copied folder costs no embedding.
    """
    names = (_scope_of(chunk),) if chunk.is_declaration else (chunk.symbol, chunk.signature)
    header = " > ".join(name for name in names if name)
    return (header + "\n" if header else "") + chunk.overlap + chunk.text


def _scope_of(chunk: Chunk) -> str:
    spec = SPECS.get(chunk.language)
    if spec is None or not spec.qualified:
        return ""
    return chunk.symbol.rpartition(spec.separator)[0]


def _spec(language: str, path: str, data: bytes) -> LanguageSpec | None:
    if language == "c" and path.endswith(".h") and _CPP.search(data):
        return SPECS["cpp"]  # nothing but its text tells a C++ header from a C one
    return SPECS.get(language)


def _worth_parsing(document: Document, grammar: str) -> bool:
    """Huge documents, those that are mostly one long line, and absurdly nested ones are data or minified."""
    total = len(document.data)
    if total > MAX_BYTES:
        return False
    longest = int(np.diff(document.lines, append=total).max())
    return (longest <= _LONG_LINE or longest < total // 2) and is_safe(document.data, grammar)


def _from_windows(document: Document, path: str, language: str, budget: Budget) -> list[Chunk]:
    ranges = windows(document, 0, len(document.data), budget, prose=language in PROSE)
    chunks = []
    for ordinal, (start, end) in enumerate(ranges):
        before = overlap_start(document, 0, start, budget.overlap_tokens)
        chunks.append(
            Chunk(
                path,
                language,
                ordinal,
                start,
                end,
                document.line(start),
                document.line(end - 1),
                document.text(start, end),
                overlap=document.text(before, start),
            )
        )
    return chunks


class _Maker:
    """Makes the chunks of one document; remembers signatures, which many chunks may share."""

    def __init__(self, document: Document, path: str, language: str, spec: LanguageSpec, budget: Budget) -> None:
        self._document = document
        self._path = path
        self._language = language
        self._spec = spec
        self._budget = budget
        self._signatures: dict[int, str] = {}

    def chunk(self, ordinal: int, group: Group) -> Chunk:
        document, first = self._document, group.pieces[0]
        start, end = group.start, group.end
        scope = group.main_scope(self._budget.min_tokens)
        declared = next((piece for piece in group.pieces if piece.declares is scope), None)
        declared = declared if scope.kind is not Kind.SCOPE else None
        overlap = start
        if first.origin >= 0 and first.declares is None:
            overlap = overlap_start(document, first.origin, start, self._budget.overlap_tokens)
        node_type, parents = self._kind(declared, scope, group)
        return Chunk(
            path=self._path,
            language=self._language,
            ordinal=ordinal,
            start_byte=start,
            end_byte=end,
            start_line=document.line(start),
            end_line=document.line(end - 1),
            text=document.text(start, end),
            overlap=document.text(overlap, start),
            symbol=scope.symbol,
            node_type=node_type,
            parent_types=parents,
            depth=len(parents),
            is_declaration=declared is not None,
            signature=self._signature(scope),
            doc=self._doc(scope) if declared is not None else "",
        )

    def _kind(self, declared: Piece | None, scope: Scope, group: Group) -> tuple[str, tuple[str, ...]]:
        if declared is not None and scope.found is not None:
            return scope.found.node.type, scope.parents
        largest = max(group.pieces, key=lambda piece: piece.size)
        return largest.node_type, largest.parents

    def _signature(self, scope: Scope) -> str:
        if scope.found is None:
            return ""
        key = id(scope)
        if key not in self._signatures:
            self._signatures[key] = signature_of(scope.found, self._spec, self._document.data)
        return self._signatures[key]

    def _doc(self, scope: Scope) -> str:
        if scope.found is None:
            return ""
        return doc_of(scope.found, scope.comments, self._spec, self._document.data)
