"""macOS and Windows: the system watches a whole tree at once."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from rag_ls.indexing.watching.events import Changes
from rag_ls.project import DATA_FOLDER

# How often the library looks for changes. A shorter step would cost noticeable processor time on an idle machine.
_STEP_MS = 400
_NEVER_NOTICED = frozenset(
    {".git", ".hg", ".svn", ".jj", DATA_FOLDER, "node_modules", "__pycache__", ".venv", ".tox", ".nox", ".mypy_cache"}
)


class NativeChanges:
    """See `ChangeSource`. Ignored folders cannot be left out here; their events are dropped by name, or later."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._woken = threading.Event()
        self._changes: set[tuple[int, str]] = set()
        try:
            self._notify: Any = RustNotify(
                [str(root)],
                debug=False,
                force_polling=False,
                poll_delay_ms=_STEP_MS,
                recursive=True,
                ignore_permission_denied=True,
            )
        except WatchfilesRustInternalError as error:
            raise OSError(str(error)) from error

    def wait(self, timeout_s: float | None) -> bool:
        timeout_ms = 0 if timeout_s is None else max(1, int(1000 * timeout_s))
        try:
            found = self._notify.watch(_STEP_MS, _STEP_MS, timeout_ms, self._woken)
        except (RuntimeError, WatchfilesRustInternalError) as error:
            raise OSError(str(error)) from error
        self._woken.clear()
        if isinstance(found, str):
            return found != "timeout"
        self._changes |= found
        return True

    def has_changes(self) -> bool:
        """See `ChangeSource`; changes that the library still holds are not seen."""
        return bool(self._changes)

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        self._notify.close()

    def follow_folders(self) -> bool:
        return False

    def take(self) -> Changes:
        seen, self._changes = self._changes, set()
        changes = Changes(ended=not self._root.is_dir())
        for _, place in seen:
            if _is_below(place, str(self._root)):
                path = place[len(str(self._root)) :].strip(os.sep).replace(os.sep, "/")
                if path and not _NEVER_NOTICED.intersection(path.split("/")):
                    changes.paths.add(path)
        return changes


def _is_below(place: str, folder: str) -> bool:
    place, folder = _same(place), _same(folder).rstrip(os.sep)
    return place == folder or place.startswith(folder + os.sep)


def _same(place: str) -> str:
    """The form that all spellings of a place share: systems tell names as on disk, users give them in any case."""
    return place.lower()
