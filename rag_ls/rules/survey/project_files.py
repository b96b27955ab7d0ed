"""The files of a project as set-up reads them: from the files alone, so that it waits for no index."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from rag_ls.indexing import Patterns, list_files, reason_by_name
from rag_ls.languages import ImportResolver, SourceTree, detect_language
from rag_ls.rules.checks.checked_code import OutlinedFile, ReadSource, read_imports
from rag_ls.rules.checks.contracts import ImportGraph, resolve_imports
from rag_ls.rules.survey.sources import is_surveyed, is_vendored
from rag_ls.util.paths import text_in
from rag_ls.util.records import dataclass

MAX_READ = 5_000
"""The most source files that are read; of more, every so-manieth is."""

FileJobs = Callable[
    [Callable[[Sequence[str]], list[OutlinedFile | str]], Sequence[str]], Iterable[OutlinedFile | str | None]
]
"""Calls a function for some paths, perhaps in other processes; None for a file that ended its process."""


class ProjectFiles:
    """The files of a project, and the imports of those that are read."""

    def __init__(
        self, root: Path, listed: Iterable[str], read: ReadSource, outline: FileJobs, most: int = MAX_READ
    ) -> None:
        """`listed` are the paths of regular files. `read` and `outline` find what one holds; secrets, generated files and
        what else `read` refuses are left out."""
        there = sorted(path for path in listed if not reason_by_name(path))
        code = [path for path in there if is_surveyed(detect_language(path) or "")]
        chosen = _take_sample([path for path in code if not is_vendored(path)], most)
        chosen += _take_sample([path for path in code if is_vendored(path)], most - len(chosen))
        outlined = dict(zip(chosen, outline(partial(read_imports, read), chosen), strict=True))
        refused = {path for path, each in outlined.items() if isinstance(each, str)}
        self.paths = tuple(path for path in there if path not in refused)
        self.refused = tuple(sorted(refused))
        """The files that `read` refuses: rules that are checked look at them, too."""
        self.unread = frozenset(code).difference(chosen)
        files = [each for each in outlined.values() if isinstance(each, tuple)]
        self.read = len(files)
        """The number of source files that were read."""
        # Generated files are imported all the same.
        resolver = ImportResolver(SourceTree(there, partial(text_in, root)))
        self.graph = ImportGraph(
            {
                path: resolve_imports(resolver, path, language, outline.imports)
                for path, language, outline in files
                if outline.imports
            }
        )


@dataclass(frozen=True, slots=True)
class ListedFiles:
    """The files of a project as they are listed, before any is read."""

    paths: tuple[str, ...]
    """Those of regular files."""
    fingerprint: str
    """A digest of the names, sizes and times of all."""

    @classmethod
    def of(cls, root: Path, patterns: Patterns) -> ListedFiles:
        """The files of a folder that the ignore rules and the settings leave."""
        digest, regular, start = hashlib.sha256(), [], os.path.join(root, "")
        for path in sorted(list_files(root, patterns)):
            status = _look_at(start + path)
            stamp = status and (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            digest.update(repr((path, stamp)).encode("utf-8", "surrogateescape"))
            if status is not None and stat.S_ISREG(status.st_mode):
                regular.append(path)
        return cls(tuple(regular), digest.hexdigest())


def _take_sample(paths: Sequence[str], most: int) -> list[str]:
    """At most so many of the paths, from all folders alike."""
    return [paths[at * len(paths) // most] for at in range(most)] if len(paths) > most else list(paths)


def _look_at(file: str) -> os.stat_result | None:
    """The state of a file, or of a link; None where it cannot be told."""
    try:
        return os.lstat(file)
    except OSError:
        return None
