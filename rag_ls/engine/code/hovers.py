"""Answers hovers, and finds what lenses show, for one client's session."""

from __future__ import annotations

from rag_ls.engine.code import places
from rag_ls.engine.code.code_memories import find_in_document, find_near
from rag_ls.engine.code.impact import SymbolUse, find_uses
from rag_ls.engine.requests import Related
from rag_ls.engine.session import ProjectSession
from rag_ls.model import Memory
from rag_ls.search import NO_FILTERS
from rag_ls.storage import ChunkRow


def hover(session: ProjectSession, path: str, line: int, word: str = "") -> Related:
    """Memories about the code at a place, and close code of other files; never calls a model."""
    settings = session.settings.hover
    row = places.chunk_under_cursor(session, path, line, word) if settings.enabled else None
    if row is None:
        return Related((), ())
    embedding = session.project.embedding_of(row)
    memories = find_near(session, row, embedding, path, line)
    if embedding is None:
        return Related(tuple(memories), ())
    related = session.project.searcher.related(
        embedding.vector, k=settings.max_related, model_id=embedding.model.id, filters=NO_FILTERS,
        minimum=settings.min_similarity, without=row.stored.chunk.path, is_saved=row.is_saved,
        session=session.editing_session,
    )  # fmt: skip
    return Related(tuple(memories), related.hits)


def find_memory_lenses(session: ProjectSession, path: str) -> list[tuple[ChunkRow, list[Memory]]]:
    """The chunks of a document that have memories, with these memories; none if the settings turn lenses off."""
    return find_in_document(session, path) if session.settings.hover.lenses else []


def find_use_lenses(session: ProjectSession, path: str) -> list[SymbolUse]:
    """The uses of each exported symbol of a document; none if the settings turn lenses off."""
    return find_uses(session, path) if session.settings.hover.lenses else []
