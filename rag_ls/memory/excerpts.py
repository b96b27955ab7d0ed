"""Chooses the part of a long memory that answers a question, and cuts the memory around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_ls.memory.parts import part_offsets, parts_of
from rag_ls.search.terms import note_stems
from rag_ls.storage import stem

# Shorter memories are shown whole wherever they are shown.
MIN_LONG_CHARACTERS = 600
_MAX_TITLE_CHARACTERS = 120
_GAP = " … "


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
