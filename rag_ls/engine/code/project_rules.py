"""Answers one client's questions about its project's rules, and about what a change would touch."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding import HostedModel
from rag_ls.engine.code.code_memories import CodeMemories
from rag_ls.engine.code.namesakes import is_named_after
from rag_ls.engine.code.places import Places
from rag_ls.engine.code.project_imports import ProjectImports
from rag_ls.engine.view_context import ViewContext
from rag_ls.errors import InvalidRequest, NotFound, RagLsError
from rag_ls.model import Memory, StoredChunk
from rag_ls.rules.finding import RuleFinder, RuleHit, RuleQuestion
from rag_ls.rules.impact import Dependent, Dependents, ImpactFinder
from rag_ls.search import NO_FILTERS, is_docs, is_test
from rag_ls.storage import ChunkRow, StoredSymbol, is_called
from rag_ls.util.paths import portable

if TYPE_CHECKING:
    from rag_ls.rules.survey.endpoints import Endpoint
    from rag_ls.rules.survey.events import SocketEvent

_log = logging.getLogger(__name__)

_MAX_DECLARED = 5000
# The characters of a change that a small model reads, and how many such pieces of it count.
_PIECE_CHARACTERS, _MAX_PIECES = 1000, 4
# Chunks for each similar file that is wanted: several may be of one file.
_CHUNKS_FOR_EACH = 8
_LEAST_SIMILAR = 0.35
_SEPARATORS = (".", "::", "#", " > ")


@dataclass(frozen=True, slots=True)
class SimilarFile:
    """A document like another one."""

    path: str
    similarity: float
    """0 to 1: the cosine similarity of the nearest chunks."""
    reason: str


@dataclass(frozen=True, slots=True)
class SymbolUse:
    """How often an exported symbol is used."""

    symbol: str
    line: int
    """The 1-based line of its declaration."""
    files: int
    """How many other documents use it, tests among them."""
    tests: int


@dataclass(frozen=True, slots=True)
class Impact:
    """The things that a change of a document, or of one symbol in it, would touch."""

    path: str
    exports: tuple[StoredSymbol, ...]
    endpoints: tuple[Endpoint, ...]
    events: tuple[SocketEvent, ...]
    dependents: Dependents
    tests: tuple[str, ...]
    similar: tuple[SimilarFile, ...]
    memories: tuple[Memory, ...]


class ProjectRules:
    """Finds rules and impact for one client. Safe from several threads."""

    def __init__(
        self, context: ViewContext, places: Places, code_memories: CodeMemories, imports: ProjectImports
    ) -> None:
        self._context = context
        self._shared = context.shared
        self._places = places
        self._code_memories = code_memories
        self._imports = imports
        self._finder = RuleFinder(context.shared.index)

    # --- rules

    def find(self, text: str, paths: Sequence[str], *, wait_for_model_s: float = 0.0) -> list[RuleHit]:
        """The sections of rule documents that apply to a change in words, and to the files that it is about."""
        self._shared.catch_up()
        model = self._shared.model(wait_for_model_s)
        question = RuleQuestion(text, tuple(paths), _mean_embedding(model, text))
        return self._finder.find(question, self._hidden())

    def about_file(self, path: str) -> list[RuleHit]:
        """The sections that name a file or its folder, or stand in a folder above it. Calls no model."""
        found = self._finder.find(RuleQuestion(path, (path,)), self._hidden())
        return [hit for hit in found if hit.names_path]

    def chunk_counts(self) -> dict[str, int]:
        """How many chunks hold code and other text, constraints, and patterns."""
        return self._finder.chunk_counts(self._hidden())

    def edges(self) -> tuple[tuple[str, str, int], ...]:
        """Every import between two documents: the importing path, the imported one, and the line of the import.

        Of a package that is a folder, one document stands for all. It reads all imports: not for questions.
        """
        resolver, hidden = self._imports.resolver(), self._hidden()
        lines: dict[tuple[str, str], int] = {}
        for item in self._shared.index.checkout.outlines.imports():
            if item.document_id not in hidden:
                targets = (target.path for target in resolver.targets(item.path, item.language, item.imported))
                by_folder = {posixpath.dirname(path): path for path in targets if path != item.path}
                for path in by_folder.values():
                    lines.setdefault((item.path, path), item.imported.line)
        return tuple((importer, imported, line) for (importer, imported), line in lines.items())

    # --- impact

    def impact(self, path: str, symbol: str, similar: int) -> Impact:
        """The impact of a change of a document. Raises `NotFound` with the nearest paths, and `PathOutsideProject`."""
        # Imported here: compiling what reads routes takes as long as starting the rest of the engine.
        from rag_ls.rules.survey.endpoints import endpoints_in
        from rag_ls.rules.survey.events import events_in

        self._shared.catch_up()
        if not path.strip():
            raise InvalidRequest("file_path is empty: give a file, relative to the project's root")
        path = self._context.relative(portable(path))
        document = self._shared.searcher.document(path, self._context.session)
        if document is None:
            raise self._places.not_indexed(path)
        store = self._shared.index.checkout
        declared = store.outlines.of_documents([document.id], _MAX_DECLARED)
        meant = self._meant(declared, symbol, path)
        hidden = self._hidden()
        dependents = self._finder_of_impact(hidden).dependents(path, meant, uses_one=bool(symbol))
        rows = store.chunks.of_document(document.id)
        text = "".join(row.stored.chunk.text for row in rows)
        return Impact(
            path=path,
            exports=tuple(item for item in meant if item.exported and _is_top(item)),
            endpoints=tuple(endpoints_in(path, document.language, text)),
            events=tuple(events_in(document.language, text)),
            dependents=dependents,
            tests=self._tests(path, dependents.direct, hidden),
            similar=tuple(self._similar(path, rows, similar)),
            memories=tuple(item for _, items in self._code_memories.of_document(path) for item in items),
        )

    def uses(self, path: str) -> list[SymbolUse]:
        """How often each exported top-level symbol of a document is used, from its top; symbols that nobody uses are left out."""
        document = self._shared.searcher.document(path, self._context.session)
        if document is None:
            return []
        declared = self._shared.index.checkout.outlines.of_documents([document.id], _MAX_DECLARED)
        direct = self._finder_of_impact(self._hidden()).dependents(path, declared, beyond_s=0.0).direct
        found = []
        for item in declared:
            users = [each.path for each in direct if item.symbol in each.names]
            if users and item.exported and _is_top(item):
                tests = sum(1 for user in users if is_test(user))
                found.append(SymbolUse(item.symbol, item.start_line, len(users), tests))
        return found

    def _meant(self, declared: list[StoredSymbol], symbol: str, path: str) -> list[StoredSymbol]:
        if not symbol:
            return declared
        found = [item for item in declared if is_called(item.symbol, symbol)]
        if not found:
            names = ", ".join(item.symbol for item in declared if item.exported and _is_top(item)) or "nothing"
            raise NotFound(f"{path} declares no {symbol!r}; it exports {names[:400]}")
        return found

    def _finder_of_impact(self, hidden: Collection[int]) -> ImpactFinder:
        return ImpactFinder(self._shared.index.checkout, self._imports.resolver(), hidden)

    def _tests(self, path: str, dependents: Sequence[Dependent], hidden: Collection[int]) -> tuple[str, ...]:
        """The tests that are named after a document, and those that import it; none for a test."""
        if is_test(path):
            return ()
        named = [
            other
            for number, other, language, _ in self._shared.index.checkout.document_paths()
            if is_test(other) and is_named_after(other, path) and not is_docs(language) and number not in hidden
        ]
        return tuple(dict.fromkeys([*named, *(each.path for each in dependents if is_test(each.path))]))

    def _similar(self, path: str, rows: Sequence[ChunkRow], count: int) -> list[SimilarFile]:
        """The documents whose chunks are nearest to those of a document, each with the pair that is nearest."""
        model, vector = self._mean(rows)
        if vector is None:
            return []
        found = self._shared.searcher.related(
            vector, k=_CHUNKS_FOR_EACH * count, model_id=model, filters=NO_FILTERS, minimum=_LEAST_SIMILAR, without=path,
            is_saved=all(row.is_saved for row in rows), session=self._context.session,
        )  # fmt: skip
        best: dict[str, SimilarFile] = {}
        for hit in found.hits:
            if isinstance(hit.item, StoredChunk) and hit.item.chunk.path not in best:
                chunk = hit.item.chunk
                what = f"{chunk.symbol} (line {chunk.start_line})" if chunk.symbol else f"line {chunk.start_line}"
                reason = f"close in meaning: {what}"
                best[chunk.path] = SimilarFile(chunk.path, round(max(0.0, min(1.0, hit.score)), 4), reason)
            if len(best) == count:
                break
        return list(best.values())

    def _mean(self, rows: Sequence[ChunkRow]) -> tuple[str, NDArray[np.float32] | None]:
        """The answering model, and the mean of the vectors of some chunks, of length one; None if there are none."""
        index = self._shared.index
        model = index.checkout.embeddings.active_model()
        found = index.vectors.get(model, [row.text_hash for row in rows]) if model else {}
        if not found:
            return model, None
        mean = np.mean(np.stack(list(found.values())), axis=0)
        length = float(np.linalg.norm(mean))
        return model, np.asarray(mean / length, np.float32) if length > 0 else None

    def _hidden(self) -> frozenset[int]:
        return self._shared.searcher.hidden_documents(self._context.session)


def _is_top(item: StoredSymbol) -> bool:
    """Whether a symbol is declared at the top of its document."""
    return not any(mark in item.symbol for mark in _SEPARATORS)


def _mean_embedding(model: HostedModel | None, text: str) -> NDArray[np.float32] | None:
    """The embedding of a question; of a long one, the mean of its first pieces, because a model reads only the start."""
    if model is None or not text.strip():
        return None
    pieces = [text[at : at + _PIECE_CHARACTERS] for at in range(0, len(text), _PIECE_CHARACTERS)][:_MAX_PIECES]
    try:
        found = np.mean(np.stack([model.embed_query(piece) for piece in pieces]), axis=0)
    except RagLsError as error:
        _log.warning("%s", error)
        return None
    return np.asarray(found / np.linalg.norm(found), np.float32)
