"""Finds the sections of a project's rule documents that apply to a change or to a file, for one client's session."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking import rule_kind
from rag_ls.embedding import HostedModel
from rag_ls.engine.requests import SearchRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import RagLsError
from rag_ls.model import StoredChunk
from rag_ls.rules.finding import FoundRules, RuleHit, RuleQuestion

_log = logging.getLogger(__name__)

# About as many characters as a small model reads of a change; this many such pieces are used.
_PIECE_CHARACTERS, _MAX_PIECES = 1000, 4
_LIKELY_FILES = 3


def find_rules(
    session: ProjectSession, text: str, paths: Sequence[str], *, wait_for_model_s: float = 0.0
) -> FoundRules:
    """The sections of rule documents that apply to a change in words, and to the files that it is about."""
    session.catch_up()
    model = session.project.model(wait_for_model_s)
    likely = () if paths else _find_likely_files(session, text)
    question = RuleQuestion(text, tuple(paths), likely, _mean_embedding(model, text))
    return session.rule_finder.find(question, session.hidden_documents())


def find_rules_about(session: ProjectSession, path: str) -> list[RuleHit]:
    """The sections that name a file or its folder, or stand in a folder above it. Calls no model."""
    found = session.rule_finder.find(RuleQuestion(path, (path,)), session.hidden_documents())
    return [hit for hit in found.hits if hit.names_path]


def count_rule_chunks(session: ProjectSession) -> dict[str, int]:
    """The numbers of chunks that hold code and other text, constraints, and patterns."""
    return session.rule_finder.chunk_counts(session.hidden_documents())


def _find_likely_files(session: ProjectSession, text: str) -> tuple[str, ...]:
    """The files of code that a change in words will probably touch: those that a search for it finds."""
    hits = session.search(SearchRequest(text, _LIKELY_FILES, by_file=True)).hits if text.strip() else ()
    paths = [hit.item.chunk.path for hit in hits if isinstance(hit.item, StoredChunk)]
    return tuple(path for path in dict.fromkeys(paths) if rule_kind(path) is None)


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
