"""Cuts a text into chunks."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking.document import Budget, Document, TokenOffsets, approximate_token_offsets, overlap_start, windows
from rag_ls.chunking.embedded import Region, regions_of, uses_of_template
from rag_ls.chunking.headings import outline_of_text
from rag_ls.chunking.lines import LineText
from rag_ls.chunking.merge import Group, merge
from rag_ls.chunking.notebook import cut_notebook
from rag_ls.chunking.notebook_cells import plain_text, read_notebook
from rag_ls.chunking.outline import outline_of
from rag_ls.chunking.parse import MAX_BYTES, Part, is_safe, parse, parse_within
from rag_ls.chunking.split import Enclosing, Piece, split_tree
from rag_ls.chunking.symbols import doc_of, signature_of
from rag_ls.chunking.uses import UseTable
from rag_ls.languages import Kind, Syntax, choose_language, detect_language, find_language, guess_language
from rag_ls.model import Chunk, Outline
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_LONG_LINE_BYTES = 32_768
_MAX_HEAD_SHARE = 0.7
"""The largest share of a text up to its last import that is parsed alone: where that fails, the whole is parsed besides."""
_BELOW_PARAGRAPH = lazy_pattern(rb"\n[ \t\r]*\n(?=[^\s)}\]])")
_CPP = lazy_pattern(rb"^[ \t]*(?:class|namespace|template|using|public:|private:)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cut:
    """The chunks of a document, its outline, and the uses of names in it (`uses.read_uses`)."""

    chunks: list[Chunk]
    outline: Outline
    uses: bytes = b""


def chunk_text(
    text: str, path: str, *, language: str | None, budget: Budget, token_offsets: TokenOffsets
) -> list[Chunk]:
    """The chunks of a document, as `cut` makes them; none for the empty text."""
    return cut(text, path, language=language, budget=budget, token_offsets=token_offsets).chunks


def cut(text: str, path: str, *, language: str | None, budget: Budget, token_offsets: TokenOffsets) -> Cut:
    """Cut a document into chunks, and read its outline from the same syntax tree.

    The chunks partition the text, in order. None exceeds `budget.max_tokens` tokens or 16 bytes per
    token (but a single character is never divided). `token_offsets` is called once, with the whole
    text. `language` is the result of `recognise`; with None or a language without a grammar, the
    text is cut into windows of lines. The same arguments give the same chunks. The empty text has
    neither chunks nor an outline.
    """
    if not text:
        return Cut([], Outline())
    language = language or "text"
    document = Document.of(text, token_offsets)
    if language == "notebook":
        notebook = read_notebook(text)
        if notebook is not None:
            return Cut(*cut_notebook(document, notebook, path, budget))
        language = "json"
    if (by_lines := _lines_of(document, language)) is not None:
        return _cut_by_lines(by_lines, path, budget)
    host = _parse_region(document, path, language)
    if host is None:
        chunks = _from_windows(document, path, language, budget)
        return Cut(chunks, outline_of_text(document, language), uses_of_template(document, language))
    regions = regions_of(document, host, budget.min_tokens)
    signatures: dict[int, str] = {}
    outline = _outline(document, host, regions, signatures)
    chunks = []
    for region in regions:
        pieces = split_tree(document, region.parts, region.syntax, budget)
        maker = _Maker(
            document=document,
            path=path,
            language=region.language,
            budget=budget,
            described=_Nodes(region.syntax, document.data, signatures),
        )
        groups = merge(pieces, document, budget)
        chunks += (maker.chunk(ordinal, group) for ordinal, group in enumerate(groups, len(chunks)))
    uses = UseTable()
    for each in regions:
        uses.add(document, each.parts, each.syntax, each.language)
    return Cut(chunks, outline, uses.pack())


def outline_of_document(text: str, path: str, language: str, *, declarations: bool = True) -> Outline:
    """The outline alone, as `cut` reads it, without chunks; empty for notebooks, and without a grammar.

    Without `declarations`, the imports are all that is read, in half the time.
    """
    known = find_language(language)
    if not text or language == "notebook" or not (declarations or known.imports or known.is_markup):
        return Outline()
    document = Document.of(text, approximate_token_offsets if known.is_markup or known.lines else _no_tokens)
    if (by_lines := _lines_of(document, language)) is not None:
        return by_lines.outline(declarations=declarations)
    host = _parse_region(document, path, language, declarations=declarations)
    if host is None:
        return outline_of_text(document, language)
    return _outline(document, host, regions_of(document, host, 0), {}, declarations=declarations)


def _no_tokens(_text: str) -> NDArray[np.int64]:
    return np.empty(0, dtype=np.int64)


def _lines_of(document: Document, language: str) -> LineText | None:
    """The document as one whose declarations the lines tell; None in other languages, and for what is not worth reading."""
    known = find_language(language)
    if known.lines is None or not _is_code(document):
        return None
    return LineText(document, known, known.lines)


def _cut_by_lines(text: LineText, path: str, budget: Budget) -> Cut:
    outline = text.outline()
    maker = _Maker(document=text.document, path=path, language=text.language.name, budget=budget, described=text)
    groups = merge(text.pieces(budget), text.document, budget)
    return Cut([maker.chunk(ordinal, group) for ordinal, group in enumerate(groups)], outline, text.uses())


def _parse_region(document: Document, path: str, language: str, *, declarations: bool = True) -> Region | None:
    """The whole document as one region of its language; None without a grammar, and for what is not worth parsing.

    Without `declarations`, only the text that may hold imports is parsed.
    """
    syntax = _syntax_of(language, path, document.data)
    if syntax is None or not _worth_parsing(document, syntax):
        return None
    rule = find_language(language).imports
    marks = rule.marks if rule is not None and not declarations else ()
    parts = (_parse_head(document.data, syntax, marks) if marks else None) or parse(document.data, syntax)
    return Region(0, len(document.data), language, syntax, parts)


def _parse_head(data: bytes, syntax: Syntax, marks: Sequence[bytes]) -> list[Part] | None:
    """The tree of the text up to the paragraph of the last import; None where that is long, or no whole text by itself."""
    last = max(map(data.rfind, marks))
    below = _BELOW_PARAGRAPH.search(data, last) if last >= 0 else None
    end = below.start() + 1 if below is not None else len(data) if last >= 0 else 0
    if end > _MAX_HEAD_SHARE * len(data):
        return None
    root = parse_within(data, syntax, 0, end) if end else None
    if end and (root is None or root.has_error):
        return None
    return [Part(0, end, root)]


def _outline(
    document: Document,
    host: Region,
    regions: list[Region],
    signatures: dict[int, str],
    *,
    declarations: bool = True,
) -> Outline:
    """The outline of the document and of its embedded regions, in order of lines."""
    inner = [region for region in regions if region.language != host.language]
    outlines = [
        outline_of(document, each.parts, each.syntax, each.language, signatures, declarations=declarations)
        for each in (host, *inner)
    ]
    if not inner:
        return outlines[0]
    symbols = sorted((symbol for each in outlines for symbol in each.symbols), key=lambda symbol: symbol.start_line)
    imports = sorted((found for each in outlines for found in each.imports), key=lambda found: found.line)
    return Outline(tuple(symbols), tuple(imports), tuple(name for each in outlines for name in each.own_names))


def embedding_text(chunk: Chunk) -> str:
    """The text that is embedded for a chunk: a header, its overlap and its text.

    The header of a declaration is its scope; for any other chunk it is `symbol > signature`. The
    path is not part of it: vectors are addressed by this text, so a renamed file or a copied folder
    needs no new embedding. For a notebook, the JSON text is reduced to its plain text.
    """
    names = (_scope_of(chunk),) if chunk.is_declaration else (chunk.symbol, chunk.signature)
    header = " > ".join(name for name in names if name)
    text = chunk.overlap + chunk.text
    return (header + "\n" if header else "") + ((chunk.language == "notebook" and plain_text(text)) or text)


def _scope_of(chunk: Chunk) -> str:
    language = find_language(chunk.language)
    syntax = language.syntax
    if (syntax is None or not syntax.qualified) and language.lines is None:
        return ""
    return chunk.symbol.rpartition(syntax.separator if syntax is not None else ".")[0]


def _syntax_of(language: str, path: str, data: bytes) -> Syntax | None:
    if language == "c" and path.endswith(".h") and _CPP.search(data):
        return find_language("cpp").syntax  # only the text tells a C++ header from a C header
    return find_language(language).syntax


def _worth_parsing(document: Document, syntax: Syntax) -> bool:
    """Whether to parse a document: it is code, and not absurdly nested."""
    return _is_code(document) and is_safe(document.data, syntax)


def _is_code(document: Document) -> bool:
    """Whether a document may be code. Huge or mostly single-line documents are data or minified code."""
    total = len(document.data)
    if total > MAX_BYTES:
        return False
    longest = int(np.diff(document.lines, append=total).max())
    return longest <= _LONG_LINE_BYTES or longest < total // 2


def _from_windows(document: Document, path: str, language: str, budget: Budget) -> list[Chunk]:
    ranges = windows(document, 0, len(document.data), budget, prose=find_language(language).is_prose)
    overlap = budget.overlap_tokens
    return [
        document.chunk(
            start, end, overlap_start(document, 0, start, overlap), path=path, language=language, ordinal=ordinal
        )
        for ordinal, (start, end) in enumerate(ranges)
    ]


class _Described(Protocol):
    """A text that tells what its declarations are."""

    def node_of(self, scope: Enclosing) -> tuple[str, tuple[str, ...]] | None:
        """The type of a declaration's node, and the types of those around it; None for the document itself."""

    def signature_of(self, scope: Enclosing) -> str: ...

    def doc_of(self, scope: Enclosing) -> str: ...


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Tells of declarations what their nodes say; remembers signatures, which many chunks may share."""

    syntax: Syntax
    data: bytes
    signatures: dict[int, str]

    def node_of(self, scope: Enclosing) -> tuple[str, tuple[str, ...]] | None:
        return (scope.found.node.type, scope.parents) if scope.found is not None else None

    def signature_of(self, scope: Enclosing) -> str:
        if scope.found is None:
            return ""
        key = scope.found.path[0].id
        if key not in self.signatures:
            self.signatures[key] = signature_of(scope.found, self.syntax, self.data)
        return self.signatures[key]

    def doc_of(self, scope: Enclosing) -> str:
        return doc_of(scope.found, scope.comments, self.syntax, self.data) if scope.found is not None else ""


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the chunks of one document."""

    document: Document
    path: str
    language: str
    budget: Budget
    described: _Described

    def chunk(self, ordinal: int, group: Group) -> Chunk:
        document, first = self.document, group.pieces[0]
        start, end = group.start, group.end
        scope = group.main_scope(self.budget.min_tokens)
        declared = next((piece for piece in group.pieces if piece.declares is scope), None)
        declared = declared if scope.kind is not Kind.SCOPE else None
        overlap = start
        if first.origin >= 0 and first.declares is None:
            overlap = overlap_start(document, first.origin, start, self.budget.overlap_tokens)
        node_type, parents = self._kind(declared, scope, group)
        return document.chunk(
            start,
            end,
            overlap,
            path=self.path,
            language=self.language,
            ordinal=ordinal,
            symbol=scope.symbol,
            node_type=node_type,
            parent_types=parents,
            depth=len(parents),
            is_declaration=declared is not None,
            signature=self.described.signature_of(scope),
            doc=self.described.doc_of(scope) if declared else "",
        )

    def _kind(self, declared: Piece | None, scope: Enclosing, group: Group) -> tuple[str, tuple[str, ...]]:
        node = self.described.node_of(scope) if declared is not None else None
        if node is not None:
            return node
        largest = max(group.pieces, key=lambda piece: piece.size)
        return largest.node_type, largest.parents


MAX_HEAD_CHARACTERS = 16_384
"""At most this many characters from the beginning are read."""

NOTEBOOK = "notebook"
"""The language of documents that hold cells as JSON."""

_MAX_JSON = 1_000_000


def recognise(path: str, text: str) -> str | None:
    """The language of a document by its name, suffix, first line and contents, in this order.

    If several languages share a suffix, the text decides. None if the language is unknown; languages
    without a grammar are returned too. Only the beginning of the text is read, so time does not grow with its length, except
    for JSON, which is parsed.
    """
    head = text[:MAX_HEAD_CHARACTERS]
    first = head.split("\n", 1)[0].rstrip("\r")
    suffix = path.replace("\\", "/").rpartition("/")[2].lower().rpartition(".")[2]
    if suffix == "ipynb" and read_notebook(text) is not None:
        return NOTEBOOK
    by_text = choose_language(suffix, head) if "." in path else None
    if by_text is not None:
        return by_text
    named = detect_language(path) or detect_language("", first) or guess_language(head)
    return named or ("json" if _is_json(text) else None)


def _is_json(text: str) -> bool:
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[") or len(text) > _MAX_JSON:
        return False
    try:
        json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True
