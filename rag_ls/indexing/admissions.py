"""Decides which files of a project the ignore rules let in, and remembers each answer."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable
from pathlib import Path

from rag_ls.indexing.ignore_files import RAGIGNORE
from rag_ls.indexing.listing import Patterns, admitted, admitted_folders
from rag_ls.project import CONFIG_FILE
from rag_ls.storage import CheckoutIndex
from rag_ls.util.text import without_surrogates

_RULE_FILES = frozenset({".gitignore", RAGIGNORE, CONFIG_FILE})
# Programs create temporary names without end.
_MAX_REMEMBERED = 50_000


def is_ignore_file(path: str) -> bool:
    """Whether a file decides which others are indexed."""
    return path.rsplit("/", 1)[-1] in _RULE_FILES


class PathSet:
    """Some files, which can be looked up by the folders that they are in."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._files = frozenset(paths)
        self._sorted = sorted(self._files)

    def at(self, path: str) -> list[str]:
        """The file at `path`, or the files below the folder there."""
        # "0" is the character after "/".
        below = self._sorted[bisect_left(self._sorted, path + "/") : bisect_left(self._sorted, path + "0")]
        return [path, *below] if path in self._files else below


class Admissions:
    """Remembers what the ignore rules say, because each question starts a git process. Safe from several threads."""

    def __init__(self, root: Path, store: CheckoutIndex, patterns: Callable[[], Patterns]) -> None:
        """`patterns` gives the patterns of the settings."""
        self._root = root
        self._store = store
        self._patterns = patterns
        self._known: dict[str, bool] = {}

    def forget(self) -> None:
        """Forget all answers, because the rules changed."""
        self._known = {}

    def files(self, paths: list[str]) -> set[str]:
        """The files among `paths` that may be indexed."""
        # `forget` replaces the dict, so a decision by former rules goes into the former dict.
        known = self._known
        unknown = [path for path in paths if path not in known]
        if unknown:
            kept = admitted(self._root, unknown, self._patterns())
            if len(known) + len(unknown) > _MAX_REMEMBERED:
                known = self._known = {path: known[path] for path in paths if path in known}
            known.update((path, path in kept) for path in unknown)
        return {path for path in paths if known[path]}

    def folders(self, folders: list[str]) -> set[str]:
        """The folders among `folders` that are not ignored, or that hold indexed files although they are."""
        named = [folder for folder in folders if folder == without_surrogates(folder)]
        kept = admitted_folders(self._root, named, self._patterns()) if named else set()
        return kept | {folder for folder in named if folder not in kept and self._store.files_at(folder, at_most=1)}

    def relevant(self, paths: Iterable[str], in_hand: Iterable[str] = ()) -> list[str]:
        """The changed files and folders among `paths` that matter to the index.

        `in_hand` holds the files that are being indexed; the caller reads it before this call.
        """
        indexing = PathSet(in_hand)
        known: list[str] = []
        unknown: list[str] = []
        for path in paths:
            if path != without_surrogates(path):
                continue
            exists = os.path.lexists(self._root / path)
            # A skipped file matters only when it is deleted: a write does not bring it into the index.
            is_known = self._store.files_at(path, with_skipped=not exists, at_most=1)
            if is_ignore_file(path) or is_known or indexing.at(path):
                known.append(path)
            elif exists:
                # Most temporary files are deleted by now, so git is not asked about them.
                unknown.append(path)
        return sorted({*known, *self.files(unknown)})
