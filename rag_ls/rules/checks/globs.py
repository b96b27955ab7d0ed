"""Matches paths with the globs of rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from rag_ls.search import glob_matcher


def matches_any(globs: Sequence[str], path: str) -> bool:
    """Whether a path matches one of some globs; a glob without wildcards means a file, or all below a folder."""
    return any(_matcher(glob)(path) for glob in globs)


@lru_cache(maxsize=4096)
def _matcher(glob: str) -> Callable[[str], bool]:
    plain = glob.removeprefix("./").strip("/")
    if "*" in glob or "?" in glob:
        return glob_matcher(glob if "/" in glob.rstrip("/") or glob.endswith("/") else f"**/{glob}")
    return lambda path: (
        not plain
        or path == plain
        or path.startswith(plain + "/")
        or ("/" not in plain and path.rsplit("/", 1)[-1] == plain)
    )
