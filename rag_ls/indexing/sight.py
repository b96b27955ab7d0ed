"""Tells files that are gone from those that cannot be looked at: of the latter nothing new is known."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from rag_ls.util.paths import unknown_folders
from rag_ls.util.patterns import lazy_pattern

_MOUNTS = Path("/proc/self/mounts")
_ESCAPED = lazy_pattern(rb"\\([0-7]{3})")
_UNMOUNTED = "not mounted"


class Sight:
    """Knows which folders of a tree can be looked at now. Each is tried once."""

    def __init__(self, root: Path, former_mounts: Collection[str] = ()) -> None:
        """`former_mounts` are the folders in which other file systems were mounted at the last look."""
        self._root = root
        self._mounts = mounts_below(root)
        self._former_mounts = frozenset(former_mounts) - self._mounts
        self._faults: dict[str, str] = {}

    def fault_of(self, path: str) -> str:
        """The reason why nobody can tell whether a file that was there is gone; empty where it can be told."""
        if fault := self._fault_of_folder(path.rpartition("/")[0]):
            return fault
        try:
            os.lstat(self._root / path)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def mounts(self) -> list[str]:
        """The folders in which other file systems are mounted, or were, and lie empty now."""
        return sorted(self._mounts | {folder for folder in self._former_mounts if self._fault_of_folder(folder)})

    def _fault_of_folder(self, folder: str) -> str:
        if not self._faults:
            self._faults[""] = self._look_at("")
        for each in unknown_folders(folder, self._faults):
            self._faults[each] = self._faults[each.rpartition("/")[0]] or self._look_at(each)
        return self._faults[folder]

    def _look_at(self, folder: str) -> str:
        place = self._root / folder
        try:
            if folder and os.path.islink(place):
                return ""
            with os.scandir(place) as entries:
                is_empty = next(entries, None) is None
        except (FileNotFoundError, NotADirectoryError) as error:
            # If the root cannot be seen, nothing of the tree is known; a missing folder below it is gone.
            return "" if folder else error.strerror or "it is gone"
        except OSError as error:
            return error.strerror or str(error)
        return _UNMOUNTED if is_empty and folder in self._former_mounts else ""


def mounts_below(root: Path) -> frozenset[str]:
    """The folders below a root in which other file systems are mounted, where the system tells them (Linux)."""
    try:
        lines = _MOUNTS.read_bytes().splitlines()
    except OSError:
        return frozenset()
    places = (os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), line.split(b" ")[1])) for line in lines)
    prefix = str(root).rstrip("/") + "/"
    return frozenset(place.removeprefix(prefix) for place in places if place.startswith(prefix))
