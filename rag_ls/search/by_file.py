"""Orders ranked results file by file."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

MAX_PLACES = 3
"""The places of a file that an answer shows."""

T = TypeVar("T")


def group_by_file(ranked: Iterable[T], file_of: Callable[[T], Hashable]) -> list[list[T]]:
    """The best places of each file, files in the order of their best places."""
    files: dict[Hashable, list[T]] = {}
    for item in ranked:
        of_file = files.setdefault(file_of(item), [])
        if len(of_file) < MAX_PLACES:
            of_file.append(item)
    return list(files.values())
