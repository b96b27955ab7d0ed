"""Finds the tests for a place in the code, and the evidence for each."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_ls.chunking import means
from rag_ls.engine.code.namesakes import closeness, is_named_after
from rag_ls.engine.code.places import Places
from rag_ls.engine.view_context import ViewContext
from rag_ls.model import StoredChunk
from rag_ls.search import Filters, is_docs, is_inline_test, is_test
from rag_ls.storage import ChunkRow, StoredSymbol, last_name, terms

# The weight of each reason; all but the first together give a score of 1.
_WEIGHTS = {"inline": 5.0, "named": 3.0, "imports": 3.0, "mentions": 2.5, "close": 1.5}
_ALL_WEIGHTS = 10.0
# A name that more documents declare is no evidence.
_MAX_HOLDERS = 3
_MAX_NAMESAKES = 2000
_MENTIONS = 200
_CLOSE = 10
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class RelatedTest:
    """A test document, with its most relevant chunk."""

    path: str
    score: float
    why: tuple[str, ...]
    chunk: StoredChunk | None
    """The chunk that mentions the symbol or is closest in meaning; None where the whole document is meant."""
    mentions: tuple[str, ...]
    """The symbols in the document that mention the symbol of the question."""


@dataclass(slots=True)
class _Evidence:
    why: dict[str, str] = field(default_factory=dict)
    chunk: StoredChunk | None = None
    mentions: list[str] = field(default_factory=list)

    @property
    def score(self) -> float:
        return min(1.0, sum(_WEIGHTS[reason] for reason in self.why) / _ALL_WEIGHTS)


class RelatedTests:
    """Finds tests by name, imports, mention and meaning. Safe from several threads."""

    def __init__(self, context: ViewContext, places: Places) -> None:
        self._context = context
        self._shared = context.shared
        self._places = places

    def of(self, row: ChunkRow, symbol: str, k: int) -> list[RelatedTest]:
        """The tests for a symbol at a chunk or, without a symbol, for the chunk's whole document."""
        chunk = row.stored.chunk
        tests = self._tests(chunk.path)
        found: dict[str, _Evidence] = defaultdict(_Evidence)
        self._by_name(chunk.path, tests, found)
        self._by_imports(chunk.path, symbol, tests, found)
        declared = self._shared.index.checkout.outlines.of_documents([row.document_id], _MENTIONS)
        self._inline(declared, found)
        names = [symbol] if symbol else self._telling(declared)
        self._by_mention(names, tests, found)
        self._by_meaning(row, tests, found)
        ranked = sorted(
            found.items(),
            key=lambda item: (
                "inline" not in item[1].why,
                -len(item[1].why),
                -item[1].score,
                -closeness(item[0], chunk.path),
                item[0],
            ),
        )
        return [
            RelatedTest(path, round(item.score, 4), tuple(item.why.values()), item.chunk, tuple(item.mentions[:_SHOWN]))
            for path, item in ranked[:k]
        ]

    def _tests(self, without: str) -> dict[int, str]:
        """The paths of test documents, by document id."""
        hidden = self._shared.searcher.hidden_documents(self._context.session)
        return {
            number: path
            for number, path, language, _ in self._shared.index.checkout.document_paths()
            if number not in hidden and path != without and is_test(path) and not is_docs(language)
        }

    def _inline(self, declared: list[StoredSymbol], found: dict[str, _Evidence]) -> None:
        """Note the tests that stand in the file itself."""
        if inline := [item for item in declared if is_inline_test(item.symbol, item.language)]:
            found[inline[0].path].why["inline"] = f"holds tests itself (line {inline[0].start_line})"

    def _by_name(self, path: str, tests: dict[int, str], found: dict[str, _Evidence]) -> None:
        for test in tests.values():
            if is_named_after(test, path):
                found[test].why["named"] = f"named after {path.rsplit('/', 1)[-1]}"

    def _by_imports(self, path: str, symbol: str, tests: dict[int, str], found: dict[str, _Evidence]) -> None:
        for item in self._shared.index.checkout.outlines.imports(tests):
            imported = item.imported
            if means(imported, item.path, path):
                name = _last(symbol)
                what = f"imports {name} from it" if name and name in imported.names else "imports it"
                found[item.path].why["imports"] = f"{what} (line {imported.line})"

    def _telling(self, declared: list[StoredSymbol]) -> list[str]:
        """The functions and types that a document exports, but names that many documents declare: `open`, `build`."""
        outlines = self._shared.index.checkout.outlines
        exported = [item.symbol for item in declared if item.exported and item.kind in ("function", "type")]
        namesakes = outlines.named({last_name(symbol) for symbol in exported}, _MAX_NAMESAKES)
        holders = Counter(name for name, _ in {(last_name(item.symbol), item.document_id) for item in namesakes})
        return [symbol for symbol in exported if holders[last_name(symbol)] <= _MAX_HOLDERS]

    def _by_mention(self, symbols: list[str], tests: dict[int, str], found: dict[str, _Evidence]) -> None:
        # Names of up to three letters are too common to be evidence.
        names = {name for symbol in symbols if len(name := _last(symbol)) > 3}
        if not names:
            return
        word = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)")
        for chunk in self._chunks_with(names, tests):
            mentioned = word.search(chunk.chunk.text)
            if mentioned is None:
                continue
            evidence = found[chunk.chunk.path]
            evidence.why.setdefault("mentions", f"mentions {mentioned[0]}")
            evidence.chunk = evidence.chunk or chunk
            if chunk.chunk.symbol and chunk.chunk.symbol not in evidence.mentions:
                evidence.mentions.append(chunk.chunk.symbol)

    def _chunks_with(self, names: set[str], tests: dict[int, str]) -> Iterator[StoredChunk]:
        """The test chunks that hold the terms of the names, those with the most first."""
        parts = tuple(dict.fromkeys(term for name in sorted(names) for term in terms(name)))
        found = self._shared.index.lexical.search(parts[:32], _MENTIONS, tests)
        rows = self._shared.index.checkout.chunks.by_row([candidate.row for candidate in found])
        named = {last_name(name) for name in names}
        order = [rows[candidate.row] for candidate in found if candidate.row in rows]
        # A chunk that only declares a namesake is no test of it.
        yield from (row.stored for row in order if last_name(row.stored.chunk.symbol) not in named)

    def _by_meaning(self, row: ChunkRow, tests: dict[int, str], found: dict[str, _Evidence]) -> None:
        embedding = self._shared.embedding_of(row)
        if embedding is None or not tests:
            return
        close = self._shared.searcher.related(
            embedding.vector, k=_CLOSE, model_id=embedding.model.id, filters=Filters(kind="test"),
            minimum=self._shared.settings.hover.min_similarity, without=row.stored.chunk.path, is_saved=row.is_saved,
            session=self._context.session,
        )  # fmt: skip
        paths = set(tests.values())
        for hit in close.hits:
            if isinstance(hit.item, StoredChunk) and hit.item.chunk.path in paths:
                evidence = found[hit.item.chunk.path]
                evidence.why.setdefault("close", f"close in meaning ({hit.score:.2f})")
                evidence.chunk = evidence.chunk or hit.item


def _last(symbol: str) -> str:
    """The last part of a qualified symbol, in its own case."""
    return re.split(r"\.|::|#| > ", symbol)[-1] if symbol else ""
