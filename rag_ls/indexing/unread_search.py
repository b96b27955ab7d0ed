"""Finds the unread files that a question is about: searches their bytes for its words, without cutting any."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rag_ls.indexing.files import reason_by_name
from rag_ls.storage import stem
from rag_ls.util.paths import project_file
from rag_ls.util.records import dataclass

_SATURATION_FACTOR = 1.2
_LENGTH_FACTOR = 0.6
_PATH_WEIGHT = 1.5


@dataclass(frozen=True, slots=True)
class _Looked:
    """The number of times that each word is in a file."""

    path: str
    size: int
    counts: tuple[int, ...]
    in_path: tuple[bool, ...]


def files_holding(
    root: Path,
    paths: Iterable[str],
    words: Sequence[str],
    *,
    most_bytes: int,
    largest: int,
    longest_s: float,
    weight: Callable[[str], float] = lambda path: 1.0,
) -> list[str]:
    """The files that match the words best, best first, up to `most_bytes` together.

    `words` are lower-case terms; their stems are searched for, inside other words too. Files of more than `largest`
    bytes are passed over. The search ends after `longest_s` seconds. `weight` of a path multiplies its score.
    """
    roots = tuple(dict.fromkeys(_beginning(word) for word in words))
    if not roots:
        return []
    needles = tuple(each.encode("utf-8", "surrogatepass") for each in roots)
    looked, deadline = [], time.monotonic() + longest_s
    # The time may be over before all files were looked into.
    for path in sorted(paths, key=lambda path: not any(each in path.lower() for each in roots)):
        data = b"" if reason_by_name(path) else _bytes_of(root, path, largest)
        if data:
            low, name = data.lower(), path.lower()
            looked.append(
                _Looked(path, len(data), tuple(map(low.count, needles)), tuple(each in name for each in roots))
            )
        if time.monotonic() > deadline:
            break
    return _best(looked, len(roots), most_bytes, weight)


def _best(looked: Sequence[_Looked], words: int, most_bytes: int, weight: Callable[[str], float]) -> list[str]:
    holders = [sum(1 for file in looked if file.counts[at] or file.in_path[at]) for at in range(words)]
    rarity = [math.log(1 + (len(looked) - count + 0.5) / (count + 0.5)) for count in holders]
    mean = sum(file.size for file in looked) / max(1, len(looked))
    scored = [(weight(file.path) * _score(file, rarity, mean), file) for file in looked]
    chosen: list[str] = []
    total = 0
    for score, file in sorted(scored, key=lambda item: (-item[0], item[1].path)):
        if score and (not chosen or total + file.size <= most_bytes):
            total += file.size
            chosen.append(file.path)
    return chosen


def _score(file: _Looked, rarity: Sequence[float], mean: float) -> float:
    """BM25 (Robertson and Zaragoza, 2009) over whole files, more for a word in the path."""
    often = _SATURATION_FACTOR * (1 - _LENGTH_FACTOR + _LENGTH_FACTOR * file.size / mean)
    return sum(
        idf * (count * (_SATURATION_FACTOR + 1) / (count + often) + _PATH_WEIGHT * named)
        for idf, count, named in zip(rarity, file.counts, file.in_path, strict=True)
    )


def _beginning(word: str) -> str:
    """The beginning that all forms of a word share: `retr` for retry, retries and retried."""
    alike = (at for at, (one, other) in enumerate(zip(word, stem(word), strict=False)) if one != other)
    return word[: next(alike, min(len(word), len(stem(word))))] or word


def _bytes_of(root: Path, path: str, largest: int) -> bytes:
    """A regular file's bytes; empty for a file that is too large, a link, or unreadable."""
    try:
        with project_file(root, path) as file:
            return b"" if os.fstat(file.fileno()).st_size > largest else file.read()
    except (OSError, ValueError):
        return b""
