"""Follows the prefixes that files give to the routers of others."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from rag_ls.rules.survey.file_facts import FileFacts, RouterMount
from rag_ls.rules.survey.routes import join_routes

_MAX_DEPTH = 6
_INDEXES = ("__init__", "index")


def mounted_prefixes(facts: Mapping[str, FileFacts], edges: Iterable[tuple[str, str, int]]) -> dict[str, str]:
    """The prefix of each file whose router one other file mounts; a file that several mount, at several places, has none."""
    imported: dict[str, list[tuple[str, int]]] = {}
    for importing, target, line in edges:
        if importing in facts and facts[importing].mounts and target != importing:
            imported.setdefault(importing, []).append((target, line))
    mounted: dict[str, set[tuple[str, str]]] = {}
    for path, targets in imported.items():
        for mount in facts[path].mounts:
            if (target := _target_of(mount, targets)) and target in facts:
                mounted.setdefault(target, set()).add((path, mount.prefix))
    return {path: prefix for path in mounted if (prefix := _prefix_of(path, mounted, _MAX_DEPTH)) not in ("", "/")}


def _target_of(mount: RouterMount, targets: Iterable[tuple[str, int]]) -> str:
    """The file that a mounted name is of; "" where that does not show."""
    on_line = {target for target, line in targets if line == mount.line}
    named = {target for target in on_line if _stem(target) == mount.name} or on_line
    return named.pop() if len(named) == 1 else ""


def _stem(path: str) -> str:
    folder, name = posixpath.split(path)
    stem = name.partition(".")[0]
    return posixpath.basename(folder) if stem in _INDEXES else stem


def _prefix_of(path: str, mounted: Mapping[str, set[tuple[str, str]]], depth: int) -> str:
    if len(mounted.get(path, ())) != 1 or depth == 0:
        return ""
    ((mounting, prefix),) = mounted[path]
    return join_routes(_prefix_of(mounting, mounted, depth - 1), prefix)
