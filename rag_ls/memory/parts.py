"""Embeds memories. Long content is embedded in parts, but stays one memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking import Budget, approximate_token_offsets, chunk_text
from rag_ls.embedding import Embedder, Embedding
from rag_ls.errors import RagLsError
from rag_ls.model import Memory
from rag_ls.search import note_stems
from rag_ls.storage import MemoryStore, stem

_log = logging.getLogger(__name__)

# A part of this length fits the window of every known model.
_BUDGET = Budget(max_tokens=200, min_tokens=24, overlap_tokens=24)
# Texts per call of the model, so that no caller waits for long.
_MAX_EMBEDDED_AT_ONCE = 64
# More parts than these are embedded in the background: a model takes seconds for them, and their words are found meanwhile.
MAX_PARTS_AT_ONCE = 24
# Shorter memories are shown whole wherever they are shown.
MIN_LONG_CHARACTERS = 600
_MAX_TITLE_CHARACTERS = 120
_GAP = " … "


def parts_of(content: str) -> list[str]:
    """The texts to embed for a memory: its content, or pieces of it if it is too long for a model."""
    if approximate_token_offsets(content).size <= _BUDGET.max_tokens:
        return [content]
    chunks = chunk_text(
        content, "memory.md", language="markdown", budget=_BUDGET, token_offsets=approximate_token_offsets
    )
    return [text for chunk in chunks if (text := (chunk.overlap + chunk.text).strip())] or [content]


def part_offsets(content: str, parts: Sequence[str]) -> list[int]:
    """The character at which each part begins; a part begins after the one before it."""
    offsets, at = [], 0
    for part in parts:
        at = max(at, content.find(part, at))
        offsets.append(at)
        at += 1
    return offsets


def embed_missing(
    store: MemoryStore,
    embedder: Embedder,
    limit: int = _MAX_EMBEDDED_AT_ONCE,
    stopped: Callable[[], bool] = lambda: False,
    *,
    at_once: bool = False,
) -> int:
    """Embed up to `limit` memories that have no vectors yet; returns how many were embedded.

    `at_once`: somebody waits, so those of more than `MAX_PARTS_AT_ONCE` parts are left for later.
    """
    # A part that cannot be embedded stays missing, and must not hold up the rest.
    missing = store.vectors.missing(embedder.card.id, limit + _MAX_EMBEDDED_AT_ONCE)
    done = 0
    while missing and done < limit and not stopped():
        batch: list[tuple[str, str, int]] = []
        texts: list[str] = []
        while missing and len(texts) < _MAX_EMBEDDED_AT_ONCE and done + len(batch) < limit:
            memory_id, content, digest = missing.pop(0)
            parts = parts_of(content)
            if at_once and len(parts) > MAX_PARTS_AT_ONCE:
                continue
            batch.append((memory_id, digest, len(parts)))
            texts += parts
        if not batch:
            break
        slices = [texts[at : at + _MAX_EMBEDDED_AT_ONCE] for at in range(0, len(texts), _MAX_EMBEDDED_AT_ONCE)]
        vectors = np.concatenate([embedder.embed_documents(each) for each in slices])
        starts = np.cumsum([0, *(count for _, _, count in batch)])
        with store.transaction():
            for (memory_id, digest, count), start in zip(batch, starts, strict=False):
                parts_found = vectors[start : start + count]
                usable = parts_found[np.isfinite(parts_found).all(axis=1) & parts_found.any(axis=1)]
                if len(usable):
                    store.vectors.add(memory_id, embedder.card.id, digest, usable)
                    done += 1
                else:
                    _log.debug("%s makes no vector of the memory %s", embedder.card.id, memory_id)
    return done


def find_answer(
    content: str,
    words: Mapping[str, Sequence[str]],
    vectors: NDArray[np.float32] | None = None,
    asked: NDArray[np.float32] | None = None,
) -> int:
    """The character at which the part of a memory begins that answers a question best; 0 for a short memory.

    `words` are the question's, with their synonyms. `vectors` are those of the parts, shape (parts, dimensions), and
    `asked` is the question's.
    """
    if len(content) < MIN_LONG_CHARACTERS:
        return 0
    parts = parts_of(content)
    if len(parts) == 1:
        return 0
    held = [note_stems(part) for part in parts]
    scores = np.zeros(len(parts))
    for word, others in words.items():
        holders = [stem(word) in each for each in held]
        if not any(holders):
            holders = [any(stem(other) in each for other in others) for each in held]
        # A word that most parts hold does not tell which part answers.
        scores += np.asarray(holders) / (sum(holders) or 1)
    if scores.any():
        scores /= scores.max()
    if vectors is not None and asked is not None and len(vectors) == len(parts):
        lengths = np.linalg.norm(vectors, axis=1) * (np.linalg.norm(asked) or 1.0)
        scores += vectors @ asked / np.where(lengths > 0, lengths, 1.0)
    return part_offsets(content, parts)[int(scores.argmax())]


def cut_around(content: str, offset: int, size: int) -> tuple[str, int]:
    """At most about `size` characters of a text from `offset` on, and where they begin; before them stands its first line.

    The end of a text is not cut short: it begins earlier instead.
    """
    if len(content) <= size:
        return content, 0
    start = max(0, min(offset, len(content) - size))
    if start == 0:
        return content[:size].rstrip() + _GAP.rstrip(), 0
    title = content.lstrip().partition("\n")[0].strip()
    if len(title) > _MAX_TITLE_CHARACTERS:
        title = title[: _MAX_TITLE_CHARACTERS - 1] + "…"
    # Do not cut a word in two.
    start = max(start, content.rfind(" ", start - _MAX_TITLE_CHARACTERS, start + 1) + 1)
    end = min(len(content), start + max(size - len(title), size // 2))
    return title + _GAP + content[start:end].strip() + (_GAP.rstrip() if end < len(content) else ""), start


def embed_content(memory: Memory, embedder: Embedder | None) -> NDArray[np.float32] | None:
    """The vectors of a memory's parts, now; None where that fails, or takes too long."""
    if embedder is None:
        return None
    parts = parts_of(memory.content)
    if len(parts) > MAX_PARTS_AT_ONCE:
        return None
    try:
        vectors = embedder.embed_documents(parts)
    except RagLsError as error:
        _log.warning("%s", error)
        return None
    if not np.all(np.isfinite(vectors)) or not vectors.any(axis=1).all():
        _log.warning("%s gave a vector that is zero or not finite for %s", embedder.card.id, memory.id)
        return None
    return vectors


def embed_question(embedder: Embedder, text: str) -> Embedding | None:
    """The question's vector; None if embedding fails, so that only words count."""
    try:
        return Embedding(embedder.card, embedder.embed_query(text))
    except RagLsError as error:
        _log.warning("%s", error)
        return None
