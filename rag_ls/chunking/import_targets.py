"""Matches imports with documents by the ends of their names and paths. Pure functions of paths."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from rag_ls.model import Import
from rag_ls.util.paths import FOLDER_STEMS
from rag_ls.util.patterns import lazy_pattern

_ROOTS = frozenset({"crate", "self", "super", "std", "@", "~", ""})
_SUFFIX = lazy_pattern(r"\.(?:[cm]?[jt]sx?|py|vue|svelte|h|hpp|hh|go|rs|rb|php|dart)$")
_BETWEEN = lazy_pattern(r"::|\.|\\")


def parts_of(path: str) -> list[str]:
    """A path's folders, and its name without suffix unless the document stands for its folder."""
    *folders, _ = path.split("/")
    stem = stem_of(path)
    return folders if stem in FOLDER_STEMS and folders else [*folders, stem]


def stem_of(path: str) -> str:
    """A path's last name without its suffix."""
    name = path.rsplit("/", 1)[-1]
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and stem else suffix


def means(imported: Import, importer: str, path: str) -> bool:
    """Whether an import in the document at `importer` means the document at `path`."""
    target = parts_of(path)
    if imported.module.startswith(("./", "../")):
        return _join_path(imported.module, importer) == target
    wanted = _module_parts(imported.module)
    if path.endswith(".go"):
        # A Go import names the folder.
        return len(target) > 1 and (_ends_with(wanted, target[:-1]) or _ends_with(target[:-1], wanted))
    return any(_names(each, target) for each in (wanted, *([*wanted, name] for name in imported.names if name != "*")))


def last_names(imported: Import, importer: str) -> Iterator[str]:
    """The possible last parts (`parts_of`) of the documents that an import may mean; for Go, of their folders."""
    if imported.module.startswith(("./", "../")):
        yield from _join_path(imported.module, importer)[-1:]
    else:
        yield from _module_parts(imported.module)[-1:]
        yield from imported.names


def _join_path(module: str, importer: str) -> list[str]:
    return parts_of(posixpath.normpath(posixpath.join(posixpath.dirname(importer), module)))


def _names(wanted: list[str], target: list[str]) -> bool:
    if not wanted:
        return False
    return _ends_with(target, wanted) or (len(target) > 1 and _ends_with(wanted, target))


def _ends_with(parts: list[str], end: list[str]) -> bool:
    return bool(end) and parts[-len(end) :] == end


def _module_parts(module: str) -> list[str]:
    parts = _SUFFIX.sub("", module).split("/") if "/" in module else _BETWEEN.split(module)
    return [part for part in parts if part not in _ROOTS and not part.startswith(".")]
