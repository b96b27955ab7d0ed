"""Looks up code of one client's project: the lines around a chunk, declarations, and tests of a place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_ls.engine.code.places import Places
from rag_ls.engine.code.questions import CodeQuestions
from rag_ls.engine.code.related_tests import RelatedTest, RelatedTests
from rag_ls.engine.view_context import ViewContext
from rag_ls.model import Chunk, Hit, StoredChunk
from rag_ls.search import glob_matcher, is_test
from rag_ls.storage import ChunkRow, StoredSymbol

CONTEXTS = ("chunk", "neighbours", "declaration", "file")
_MAX_LINES = 2000
_MAX_SYMBOLS = 200_000
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_OWNER = re.compile(r"\.|::|#| > ")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The lines of a document around a chunk."""

    hit: Hit
    start_line: int
    end_line: int
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class SymbolQuestion:
    """Selects declarations; an empty field selects everything."""

    path: str = ""
    path_glob: str = ""
    query: str = ""
    """A name or a part of it, in any case style."""
    kind: str = ""


class CodeLookup:
    """Looks up chunks with their context, outlines, and tests of a place. Safe from several threads."""

    def __init__(
        self,
        context: ViewContext,
        places: Places,
        questions: CodeQuestions,
    ) -> None:
        self._context = context
        self._shared = context.shared
        self._places = places
        self._questions = questions
        self._tests = RelatedTests(context, places)

    def around(self, chunk_id: str, context: str) -> Excerpt:
        """A chunk by its id, with more of its document as `context`, one of `CONTEXTS`, says. Raises `NotFound`."""
        hit = self._questions.chunk(chunk_id)
        assert isinstance(hit.item, StoredChunk)
        chunk = hit.item.chunk
        document = self._shared.index.checkout.document(chunk.path, hit.item.session)
        rows = self._shared.index.checkout.chunks.of_document(document.id) if document else []
        if context == "chunk" or document is None or not rows:
            return Excerpt(hit, chunk.start_line, chunk.end_line, chunk.text)
        if context == "neighbours":
            near = [row for row in rows if abs(row.stored.chunk.ordinal - chunk.ordinal) <= 1]
            text = "".join(row.stored.chunk.text for row in near)
            return Excerpt(hit, near[0].stored.chunk.start_line, near[-1].stored.chunk.end_line, text)
        if context == "file":
            return _lines(hit, rows, 1, rows[-1].stored.chunk.end_line)
        symbols = self._shared.index.checkout.outlines.of_documents([document.id], _MAX_SYMBOLS)
        first, declared, last = _declaration(chunk, symbols, rows)
        return _lines(hit, rows, first, last, declared)

    def symbols(self, question: SymbolQuestion) -> list[StoredSymbol]:
        """The selected declarations, in order of place, or by name with the best match first. Raises `NotFound`."""
        self._shared.catch_up()
        outlines = self._shared.index.checkout.outlines
        if question.path or question.path_glob:
            found = outlines.of_documents(self._documents(question), _MAX_SYMBOLS)
        else:
            hidden = self._shared.searcher.hidden_documents(self._context.session)
            wanted = _plain(_OWNER.split(question.query)[-1]) or question.query.strip().lower()
            found = [item for item in outlines.containing(wanted, _MAX_SYMBOLS) if item.document_id not in hidden]
        if question.kind:
            found = [item for item in found if item.kind == question.kind]
        return _best_named(question.query, found) if question.query.strip() else found

    def nearest_symbols(self, name: str) -> list[str]:
        """The symbols whose names are most like one that no declaration has."""
        return self._places.nearest_symbols(name)

    def tests_of(self, path: str, line: int, symbol: str, k: int) -> list[RelatedTest]:
        """The tests for a place, those with the most evidence first. Raises `InvalidRequest` and `NotFound`."""
        self._shared.catch_up()
        row = self._questions.row_of(path, line, symbol)
        return self._tests.of(row, symbol or (row.stored.chunk.symbol if line else ""), k)

    def _documents(self, question: SymbolQuestion) -> list[int]:
        searcher, session = self._shared.searcher, self._context.session
        if question.path:
            path = self._context.relative(question.path)
            document = searcher.document(path, session)
            if document is None:
                raise self._places.not_indexed(path)
            return [document.id]
        matches, hidden = glob_matcher(question.path_glob), searcher.hidden_documents(session)
        paths = self._shared.index.checkout.document_paths()
        return [number for number, path, _, _ in paths if number not in hidden and matches(path)]


def _declaration(chunk: Chunk, symbols: Sequence[StoredSymbol], rows: Sequence[ChunkRow]) -> tuple[int, int, int]:
    """The declaration that a chunk is or is in: the first line where its comments may begin, its first and last line.

    If there is none, the lines of the chunk itself.
    """
    own = [
        item
        for item in symbols
        if item.symbol == chunk.symbol and item.start_line <= chunk.end_line and item.end_line >= chunk.start_line
    ]
    around = [item for item in symbols if item.start_line <= chunk.start_line and item.end_line >= chunk.end_line]
    if not own and not around:
        return chunk.start_line, chunk.start_line, chunk.end_line
    chosen = own[0] if own else min(around, key=lambda item: item.end_line - item.start_line)
    start = chosen.start_line
    head = next((row.stored.chunk for row in rows if row.stored.chunk.end_line >= start), chunk)
    if head.symbol != chosen.symbol:
        return start, start, chosen.end_line
    before = [item for item in symbols if item.start_line < start]
    others = max((item.end_line if item.end_line < start else item.start_line for item in before), default=0)
    return max(head.start_line, others + 1), start, chosen.end_line


def _lines(hit: Hit, rows: Sequence[ChunkRow], first: int, last: int, declared: int = 0) -> Excerpt:
    """The lines `first` to `last` of a document; those before line `declared` only if no blank line follows them."""
    chunks = [
        row.stored.chunk for row in rows if row.stored.chunk.end_line >= first and row.stored.chunk.start_line <= last
    ]
    lines = _LINE.findall("".join(chunk.text for chunk in chunks))
    lines = lines[first - chunks[0].start_line : last - chunks[0].start_line + 1]
    blank = [at for at, line in enumerate(lines[: max(0, declared - first)]) if not line.strip()]
    apart = blank[-1] + 1 if blank else 0
    shown = lines[apart : apart + _MAX_LINES]
    count = len(lines) - apart
    note = f"the first {_MAX_LINES:,} of {count:,} lines" if count > _MAX_LINES else ""
    return Excerpt(hit, first + apart, first + apart + max(len(shown), 1) - 1, "".join(shown), note)


def _best_named(query: str, found: Sequence[StoredSymbol]) -> list[StoredSymbol]:
    """The symbols whose names contain the query's name, the closest names first."""
    *owners, last = _OWNER.split(query.strip())
    name, owner = _plain(last) or query.strip().lower(), _plain("".join(owners))
    ranked = []
    for item in found:
        *outer, own = _OWNER.split(item.symbol)
        plain = _plain(own) or own.lower()
        if name in plain and owner in _plain("".join(outer)):
            closeness = 0 if plain == name else 1 if plain.startswith(name) else 2
            ranked.append((closeness, not item.exported, is_test(item.path), item.path, item.start_line, item))
    return [entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:-1])]


def _plain(name: str) -> str:
    """A name without its case style: letters and digits, in lower case."""
    return "".join(re.findall(r"[^\W_]+", name.lower()))
