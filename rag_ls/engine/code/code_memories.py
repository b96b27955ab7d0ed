"""Memories as one client sees them in its open project: anchored to the present code, on the checked-out branch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from rag_ls import memory
from rag_ls.embedding import Embedding, HostedModel
from rag_ls.engine.code import anchors, places
from rag_ls.engine.code.hits import MAX_RERANKED
from rag_ls.engine.requests import read_k
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.memory import memory_of
from rag_ls.model import AnchorState, Hit, Memory, SearchAnswer, SearchStats
from rag_ls.storage import ChunkRow, StoredSymbol

WEAK = "weak: no memory is close enough to this in meaning or words; this is the nearest"
_WEAK_SHARE = 0.5
_WORDS_ALONE = "the embedding model is not ready: these are matches by words alone"


def recall(
    session: ProjectSession, query: str, filters: memory.MemoryFilters, *, k: int | None = None, min_similarity: float | None = None,
    wait_for_model_s: float = 0.0, is_unsaved: bool = False, is_weak: bool = False,
) -> SearchAnswer:  # fmt: skip
    """The memories that fit a query best; where none is close enough (`is_weak`), only the nearest of those half as close.

    A query that is unsaved text is not sent to another machine.
    """
    started = time.perf_counter()
    settings = session.settings
    question = memory.Question(
        text=query,
        k=read_k(k, settings.search.default_k),
        min_similarity=settings.search.min_similarity if min_similarity is None else min_similarity,
        filters=filters,
        expand=settings.search.query_expansion,
        half_life_days=settings.memory.half_life_days,
    )
    if is_weak:
        question = replace(question, k=1, min_similarity=question.min_similarity * _WEAK_SHARE)
    of_query = session.project.model_for_unsaved if is_unsaved else session.project.model
    model, note = of_query(wait_for_model_s), ""
    if settings.search.enable_reranking:
        hits = session.memories.recall(replace(question, k=max(question.k, MAX_RERANKED)), model)
        hits, note = session.reranking.reorder(query, hits)
    else:
        hits = session.memories.recall(question, model)
    anchored = [] if filters.restricts else _about_symbol(session, query, filters)
    known = {hit.item.id for hit in anchored}
    hits = [*anchored, *(hit for hit in hits if hit.item.id not in known)][: question.k]
    if is_weak:
        return _make_answer(session, query, hits, started, model, WEAK if hits else note)
    session.memories.note_uses(hits)
    return _make_answer(session, query, hits, started, model, note)


def _about_symbol(session: ProjectSession, query: str, filters: memory.MemoryFilters) -> list[Hit]:
    """The memories about the declaration that a query names, and about its members; none if it names none."""
    symbols = places.find_with_members(session, query)
    if not symbols:
        return []
    found = _resolve_memories(session, session.memories.find_about("", symbols, ()))
    # Memories about the declaration itself come before those about its members.
    ranks = {symbol: rank for rank, symbol in enumerate(symbols)}
    ranked = [
        (ranks[item.anchor.symbol], item.id, item)
        for item in found
        if item.anchor and item.anchor.symbol in ranks and item.scope in filters.scopes
    ]
    return [Hit(item, 1.0, ("anchor",)) for _, _, item in sorted(ranked, key=itemgetter(0, 1))]


def recall_about(session: ProjectSession, path: str, line: int, text: str, k: int | None) -> SearchAnswer:
    """The memories about the code at a place, then those that fit `text`, or else that code."""
    started = time.perf_counter()
    settings = session.settings
    count = read_k(k, settings.search.default_k)
    row = _row_at(session, path, line)
    hits = _of_chunk(_about_code(session, row), row) if row else []
    chunk = row.stored.chunk if row else None
    query = text.strip() or (f"{chunk.symbol} {chunk.doc or chunk.text[:500]}" if chunk else "")
    model = session.project.model_for_unsaved(0.0)
    if query:
        question = memory.Question(
            query, count, settings.search.min_similarity, replace(memory.ALL, branch=session.branch)
        )
        known = {hit.item.id for hit in hits}
        hits += [hit for hit in session.memories.recall(question, model) if hit.item.id not in known]
    return _make_answer(session, query, hits[:count], started, model)


def find_near(
    session: ProjectSession,
    row: ChunkRow,
    embedding: Embedding | None,
    path: str = "",
    line: int = 0,
    declared: StoredSymbol | None = None,
) -> list[Hit]:
    """Memories about a line, then those about a declaration, or else a chunk, then those close to the chunk in meaning.
    For hovers: calls no model."""
    hover = session.settings.hover
    chunk = row.stored.chunk
    symbols = [chunk.symbol, *([declared.symbol] if declared else [])]
    about = _resolve_memories(session, session.memories.find_about(chunk.path, symbols, (row.stored.content_hash,)))
    # The word under the cursor may be declared in another file.
    here = about if path in ("", chunk.path) else _resolve_memories(session, session.memories.find_about(path, (), ()))
    found = _find_beside(here, path or chunk.path, line)
    near = _of_chunk(about, row) if declared is None else _of_declaration(about, declared)
    known = {hit.item.id for hit in found}
    found += [hit for hit in near if hit.item.id not in known]
    if embedding is not None:
        # Those about other declarations of the chunk are close to it, but are not about what was asked.
        known = {hit.item.id for hit in (*found, *_of_chunk(about, row))}
        close = session.memories.near(
            embedding,
            replace(memory.ALL, branch=session.branch),
            k=hover.max_memories + len(known),
            min_similarity=hover.min_similarity,
        )
        anchoring = anchors.make_anchoring(session)
        new = [hit for hit in close if hit.item.id not in known]
        found += [replace(hit, item=anchors.resolve_by_index(session, memory_of(hit), anchoring)) for hit in new]
    return found[: hover.max_memories]


def _about_code(session: ProjectSession, row: ChunkRow) -> list[Memory]:
    """The memories about a chunk's document, symbol or text."""
    chunk = row.stored.chunk
    return _resolve_memories(
        session, session.memories.find_about(chunk.path, (chunk.symbol,), (row.stored.content_hash,))
    )


def find_in_document(session: ProjectSession, path: str) -> list[tuple[ChunkRow, list[Memory]]]:
    """The chunks of a document that memories are about, from its top, with these memories.

    Each is there once, at the first piece of its code.
    """
    session.catch_up()
    rows = places.chunks_of(session, path)
    if not rows:
        return []
    symbols = [row.stored.chunk.symbol for row in rows]
    items = _resolve_memories(
        session, session.memories.find_about(path, symbols, [row.stored.content_hash for row in rows])
    )
    found = []
    for row in rows:
        about = [item for item in items if _is_about(item, row)]
        items = [item for item in items if item not in about]
        if about:
            found.append((row, about))
    return found


def _row_at(session: ProjectSession, path: str, line: int) -> ChunkRow | None:
    session.catch_up()
    try:
        place = session.place(path, line)
        return places.chunk_at(session, place.path, place.first)
    except (NotFound, InvalidRequest):
        return None


def _resolve_memories(session: ProjectSession, found: Sequence[Memory]) -> list[Memory]:
    """The memories that count on this branch, with their anchors resolved against the present code."""
    here = [item for item in found if item.anchor is None or not anchors.is_elsewhere(session, item.anchor)]
    anchoring = anchors.make_anchoring(session)
    return [
        anchors.resolve_by_index(session, item, anchoring) for item in here if item.branch in (None, session.branch)
    ]


def _make_answer(
    session: ProjectSession, query: str, hits: Sequence[Hit], started: float, model: HostedModel | None, note: str = ""
) -> SearchAnswer:
    anchored = tuple(
        hit if "anchor" in hit.matched_by else replace(hit, item=anchors.resolve_anchor(session, memory_of(hit)))
        for hit in hits
    )
    why = _WORDS_ALONE if model is None else model.failure and f"these are matches by words alone: {model.failure}"
    damage = session.memories.damage() or session.memories.take_note()
    notes = (damage,) if damage else (note, "" if session.project.engine.models.is_off else why)
    took_ms = round((time.perf_counter() - started) * 1000, 1)
    return SearchAnswer(
        query, anchored, SearchStats(took_ms, not why, len(hits), complete=True, notes=tuple(filter(None, notes)))
    )


def _find_beside(items: Sequence[Memory], path: str, line: int) -> list[Hit]:
    """The memories that were stored about a line, or the line above or below it."""
    return [
        Hit(item, 1.0, ("anchor",))
        for item in items
        if (at := item.anchor) and at.path == path and at.line_print and abs(at.start_line - line) <= 1
    ]


def _of_chunk(items: Sequence[Memory], row: ChunkRow) -> list[Hit]:
    """The memories that are about a chunk, the most important first."""
    about = sorted((item for item in items if _is_about(item, row)), key=lambda item: -item.metadata.importance_score)
    return [Hit(item, 1.0, ("anchor",)) for item in about]


def _of_declaration(items: Sequence[Memory], declared: StoredSymbol) -> list[Hit]:
    """The memories about a declaration, then those about what it lies in, the most important first."""

    def measure_nearness(item: Memory) -> int:
        anchor = item.anchor
        if anchor is None or anchor.path != declared.path or anchor.state is AnchorState.ORPHANED:
            return 0
        if anchor.symbol == declared.symbol:
            return 3
        is_around = bool(anchor.symbol) and declared.symbol.startswith(f"{anchor.symbol}.")
        is_on_it = not anchor.symbol and declared.start_line <= anchor.start_line <= declared.end_line
        return 2 if is_around or is_on_it else int(not (anchor.symbol or anchor.content_hash))

    about = sorted(
        filter(measure_nearness, items), key=lambda item: (-measure_nearness(item), -item.metadata.importance_score)
    )
    return [Hit(item, 1.0, ("anchor",)) for item in about]


def _is_about(item: Memory, row: ChunkRow) -> bool:
    anchor, stored = item.anchor, row.stored
    if anchor is None or anchor.state is AnchorState.ORPHANED or anchor.path != stored.chunk.path:
        return False
    if not (anchor.symbol or anchor.content_hash):
        # A memory about the whole document shows at its first chunk.
        return stored.chunk.ordinal == 0
    if anchor.symbol and anchor.symbol == stored.chunk.symbol:
        return True
    return stored.chunk.start_line <= anchor.start_line <= stored.chunk.end_line
