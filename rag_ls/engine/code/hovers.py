"""Answers hovers, and finds what lenses show, for one client's session."""

from __future__ import annotations

from rag_ls.engine.code import places
from rag_ls.engine.code.code_memories import find_in_document, find_near
from rag_ls.engine.code.impact import SymbolUse, count_uses
from rag_ls.engine.code.references import find_uses
from rag_ls.engine.code.references.answers import Reference, ReferenceKind
from rag_ls.engine.session import ProjectSession
from rag_ls.model import Hit, Memory
from rag_ls.search import NO_FILTERS
from rag_ls.storage import ChunkRow, is_called, split_identifier
from rag_ls.util.records import dataclass

_MAX_HOLDERS = 40
"""The calls of a name that more documents hold are not looked for: a hover must not take a second."""
_MAX_DECLARED = 2000


@dataclass(frozen=True, slots=True)
class Related:
    """The content of a hover."""

    memories: tuple[Hit, ...]
    calls: tuple[Reference, ...] = ()
    """Calls of the symbol, one in each symbol that calls it."""
    code: tuple[Hit, ...] = ()
    """Similar code of other files."""


def hover(session: ProjectSession, path: str, line: int, word: str = "") -> Related:
    """Memories about the code at a place, calls of its symbol, and close code of other files; never calls a model."""
    settings = session.settings.hover
    row, declared = places.find_under_cursor(session, path, line, word) if settings.enabled else (None, None)
    if row is None:
        return Related(())
    embedding = session.project.embedding_of(row)
    memories = find_near(session, row, embedding, path, line, declared)
    calls = _find_calls(session, row, word)[: settings.max_related]
    left = settings.max_related - len(calls)
    if embedding is None or not left:
        return Related(tuple(memories), calls)
    related = session.project.searcher.related(
        embedding.vector, k=left, model_id=embedding.model.id, filters=NO_FILTERS,
        minimum=settings.min_similarity, without=row.stored.chunk.path, is_saved=row.is_saved,
        session=session.editing_session,
    )  # fmt: skip
    return Related(tuple(memories), calls, related.hits)


def _find_calls(session: ProjectSession, row: ChunkRow, word: str) -> tuple[Reference, ...]:
    """The first call of a declaration of the chunk's document in each symbol that calls it, tests and calls by name alone last."""
    named = session.store.outlines.of_documents([row.document_id], _MAX_DECLARED)
    declared = [item for item in named if item.kind in ("function", "type") and is_called(item.symbol, word)]
    holders = session.project.index.lexical.documents_holding(split_identifier(word)[-1:]) if declared else ()
    if not 0 < len(holders) <= _MAX_HOLDERS:
        return ()
    uses = find_uses(session, declared)
    calls = [use for use in uses if use.kind is ReferenceKind.CALL]
    calls.sort(key=lambda use: (not use.resolved, use.is_test))
    return tuple({(use.path, use.symbol): use for use in reversed(calls)}.values())[::-1]


def find_memory_lenses(session: ProjectSession, path: str) -> list[tuple[ChunkRow, list[Memory]]]:
    """The chunks of a document that have memories, with these memories; none if the settings turn lenses off."""
    return find_in_document(session, path) if session.settings.hover.lenses else []


def find_use_lenses(session: ProjectSession, path: str) -> list[SymbolUse]:
    """The uses of each exported symbol of a document; none if the settings turn lenses off."""
    return count_uses(session, path) if session.settings.hover.lenses else []
