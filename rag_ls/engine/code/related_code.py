"""Finds the code closest to a place, a symbol or a snippet, for one client's session."""

from __future__ import annotations

import time
from itertools import islice

from rag_ls.embedding import Embedding
from rag_ls.engine.code import places
from rag_ls.engine.code.hits import MAX_CANDIDATES, embed_text, mean_of_pieces
from rag_ls.engine.requests import read_k
from rag_ls.engine.session import ProjectSession
from rag_ls.model import Hit, SearchAnswer, StoredChunk
from rag_ls.search import NO_FILTERS, Filters, Found, analyse, is_docs, is_preamble
from rag_ls.util.records import dataclass, replace

_NOT_EMBEDDED = "that place has no embedding yet: these are matches by its words alone"
_CLOSE_NOT_EMBEDDED = "nothing close has an embedding yet: these are matches by words alone"
# A snippet without a path waits this long for a model that is still loading.
_SNIPPET_WAIT_S = 10.0
_MAX_SNIPPET_CHARACTERS = 8000


@dataclass(frozen=True, slots=True)
class _Target:
    """The code for which similar code is searched."""

    shown: str
    """Its name in the answer."""
    path: str
    """Its document; empty for none."""
    text: str
    embedding: Embedding | None
    """None where there is none yet."""
    is_code: bool = False
    """Whether it is known to be code: documentation that shares words with code is not like it."""
    is_saved: bool = True
    """Whether a file holds it, so that its vector may leave the machine."""


def find_related(
    session: ProjectSession, *, path: str = "", line: int = 0, symbol: str = "", snippet: str = "", k: int | None = None,
    minimum: float = 0.0, filters: Filters = NO_FILTERS,
) -> SearchAnswer:  # fmt: skip
    """The code closest to a place, a symbol or a snippet, in documents other than that of `path`.

    Falls back to words if the place has no embedding, or if nothing is close while embeddings are still made.
    Raises `InvalidRequest` for a missing or impossible place, `NotFound` for a place that the index does not have.
    """
    started = time.perf_counter()
    count = read_k(k, session.settings.search.code_k)
    unseen = session.catch_up()
    target = _target_of_snippet(session, snippet, path) if snippet else _target_at(session, path, line, symbol)
    found = Found((), False, 0, 0.0)
    if target.embedding is not None:
        found = session.project.searcher.related(
            target.embedding.vector, k=MAX_CANDIDATES, model_id=target.embedding.model.id, filters=filters, minimum=minimum,
            without=target.path, is_saved=target.is_saved, session=session.editing_session,
        )  # fmt: skip
    why_by_words = ""
    if target.embedding is None or (not found.hits and session.store.queue_lengths() != (0, 0)):
        found = _search_words(session, target, filters)
        if not session.project.engine.models.is_off:
            why_by_words = _CLOSE_NOT_EMBEDDED if target.embedding is not None else "" if snippet else _NOT_EMBEDDED
    skips_docs = target.is_code and filters == NO_FILTERS
    hits = (hit for hit in found.hits if not (skips_docs and _is_of_no_use(hit)))
    found = replace(found, hits=tuple(islice(hits, count)))
    return session.make_answer(target.shown, found, started, unseen, why_by_words=why_by_words, filters=filters)


def _target_of_snippet(session: ProjectSession, snippet: str, path: str) -> _Target:
    snippet = snippet[:_MAX_SNIPPET_CHARACTERS]
    # A question with a path comes from an editor, which does not wait for a model.
    model = session.project.model_for_unsaved(0.0) if path else session.project.model(_SNIPPET_WAIT_S)
    vector = embed_text(model, snippet, lambda model, text: mean_of_pieces(model.embed_documents, text))
    embedding = Embedding(model.card, vector) if model is not None and vector is not None else None
    return _Target(snippet, session.relative(path) if path else "", snippet, embedding, is_saved=not path)


def _target_at(session: ProjectSession, path: str, line: int, symbol: str) -> _Target:
    row = places.find_chunk(session, path, line, symbol)
    chunk = row.stored.chunk
    shown = chunk.symbol or f"{chunk.path}:{line}"
    text = f"{chunk.symbol} {chunk.signature} {chunk.doc} {chunk.text}"
    embedding = session.project.embedding_of(row)
    return _Target(shown, chunk.path, text, embedding, is_code=not is_docs(chunk.language), is_saved=row.is_saved)


def _search_words(session: ProjectSession, target: _Target, filters: Filters) -> Found:
    """The code of other documents that shares words with the target."""
    found = session.project.searcher.search(
        analyse(target.text), k=MAX_CANDIDATES, settings=session.settings.search, filters=filters, vector=None, model_id="",
        session=session.editing_session,
    )  # fmt: skip
    return replace(found, hits=tuple(hit for hit in found.hits if _path_of(hit) != target.path))


def _path_of(hit: Hit) -> str:
    return hit.item.chunk.path if isinstance(hit.item, StoredChunk) else ""


def _is_of_no_use(hit: Hit) -> bool:
    """Whether a hit is prose, or imports or a licence, all of which share words with any code."""
    return isinstance(hit.item, StoredChunk) and (is_docs(hit.item.chunk.language) or is_preamble(hit.item.chunk))
