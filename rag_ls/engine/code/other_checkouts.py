"""Names the work tree or clone that a path lies in, where that is not the one that a project's index is of."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rag_ls.util.paths import is_elsewhere
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.repositories import find_repository, is_repository_top

if TYPE_CHECKING:
    from rag_ls.engine.session import ProjectSession

_WILD = lazy_pattern(r"[*?\[{,!]")


def describe_other_checkout(session: ProjectSession, written: str) -> str:
    """The checkout that a path or glob leads into, with the remedy; empty where that is the project's own."""
    root = session.project.root
    plain = written[: found.start()] if (found := _WILD.search(written)) else written
    if not plain.startswith(str(root)) and not os.path.exists(plain):
        # An absolute path without its root.
        plain = plain.lstrip("/")
    place = Path(os.path.normpath(root / plain)) if plain and "\0" not in plain else root
    if place == root or is_elsewhere(place, root):
        return ""
    top = next((each for each in (place, *place.parents) if is_repository_top(each)), None)
    if top is None or root.is_relative_to(top) or _is_indexed(session, top):
        return ""
    there, here = find_repository(top), find_repository(root)
    is_same = there is not None and here is not None and os.path.realpath(there.common) == os.path.realpath(here.common)
    kind = "another work tree of this repository" if is_same else "another checkout"
    return (
        f"{written!r} is in {kind}, {top}, and this index is of {root}: open that folder, "
        f"or run `rag-ls index {top}` and ask with its absolute path, or with project = {str(top)!r}"
    )


def _is_indexed(session: ProjectSession, top: Path) -> bool:
    """Whether the project holds files below a folder, as it does of a submodule."""
    root = session.project.root
    if not top.is_relative_to(root):
        return False
    return bool(session.store.files_at(top.relative_to(root).as_posix(), at_most=1))
