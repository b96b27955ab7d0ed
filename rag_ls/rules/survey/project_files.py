"""The files of a project and their outlines as set-up reads them: from the files alone, so that it waits for no index."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rag_ls.indexing import Patterns, list_files, reason_by_name
from rag_ls.languages import ImportResolver, SourceTree, detect_language
from rag_ls.rules.checks.file_outlines import (
    OutlinedFile,
    ReadSource,
    has_tests_inside,
    outline_files,
    read_imports,
)
from rag_ls.rules.checks.graph import ImportGraph, resolve_imports
from rag_ls.rules.survey.sources import is_surveyed, is_vendored
from rag_ls.storage import StoredImport, StoredSymbol, last_name
from rag_ls.util.paths import text_in
from rag_ls.util.records import dataclass

MAX_READ = 5_000
"""The most source files that are read; of more, every so-manieth is."""


FileJobs = Callable[[Callable[[Sequence[str]], list[Any]], Sequence[str]], Iterable[Any]]
"""Calls a function for some paths, perhaps in other processes; None for a file that ended its process."""


class FileOutlines:
    """The imports of files that were just read, and their declarations where they are wanted, asked as those of the index are."""

    def __init__(self, root: Path, files: Sequence[OutlinedFile], known: Collection[str], jobs: FileJobs) -> None:
        """Of `known` paths, and of languages with tests inside, the files have their declarations already."""
        self._files = list(files)
        self._unread = {
            row for row, (path, language, _) in enumerate(files) if path not in known and not has_tests_inside(language)
        }
        self._read, self._jobs = partial(text_in, root), jobs
        self._root = root

    def named(self, names: Collection[str], limit: int) -> list[StoredSymbol]:
        """Declarations whose last name, lower-case, is one of `names`, in the files whose declarations are read."""
        found = [
            (last_name(symbol.name), row, number)
            for row, (_, _, outline) in enumerate(self._files)
            for number, symbol in enumerate(outline.symbols)
        ]
        return [self._symbol(row, number) for name in names for last, row, number in found if last == name][:limit]

    def of_documents(self, documents: Collection[int], limit: int) -> list[StoredSymbol]:
        """The declarations of some files, in order."""
        unread = sorted(self._unread.intersection(documents))
        paths = [self._files[row][0] for row in unread]
        for row, found in zip(unread, self._jobs(partial(outline_files, self._root), paths), strict=True):
            self._files[row] = found or self._files[row]
        self._unread.difference_update(unread)
        places = ((row, number) for row in sorted(documents) for number in range(len(self._files[row][2].symbols)))
        return [self._symbol(*place) for place in places][:limit]

    def imports(self, documents: Collection[int] | None = None) -> list[StoredImport]:
        """The imports of some files, or of all."""
        return list(self._imports(range(len(self._files)) if documents is None else sorted(documents)))

    def imports_holding(self, words: Sequence[str]) -> list[StoredImport]:
        """The imports whose module or names hold one of some words, in any case."""
        lower = [word.lower() for word in words]
        texts = ((each, " ".join((each.imported.module, *each.imported.names)).lower()) for each in self.imports())
        return [each for each, text in texts if any(word in text for word in lower)]

    def graph(self, resolver: ImportResolver) -> ImportGraph:
        """The imports of all files."""
        return ImportGraph(
            {
                path: resolve_imports(resolver, path, language, outline.imports)
                for path, language, outline in self._files
                if outline.imports
            }
        )

    def _imports(self, rows: Iterable[int]) -> Iterator[StoredImport]:
        for row in rows:
            path, language, outline = self._files[row]
            yield from (StoredImport(row, path, imported, language) for imported in outline.imports)

    def _symbol(self, row: int, number: int) -> StoredSymbol:
        path, language, outline = self._files[row]
        each = outline.symbols[number]
        return StoredSymbol(
            document_id=row, path=path, language=language, symbol=each.name, kind=each.kind, start_line=each.start_line,
            end_line=each.end_line, signature=each.signature, exported=each.exported,
        )  # fmt: skip


class ProjectFiles:
    """The files of a project, and the outlines of those that are read."""

    def __init__(
        self,
        root: Path,
        listed: Iterable[str],
        read: ReadSource,
        outline: FileJobs,
        most: int = MAX_READ,
        known: Mapping[str, OutlinedFile] | None = None,
    ) -> None:
        """`listed` are the paths of regular files. `read` and `outline` find what one holds, unless it is `known`; secrets,
        generated files and what else `read` refuses are left out."""
        there = sorted(path for path in listed if not reason_by_name(path))
        code = [path for path in there if is_surveyed(detect_language(path) or "")]
        own = [path for path in code if not is_vendored(path)]
        chosen = _take_sample(own, most)
        chosen += _take_sample([path for path in code if is_vendored(path)], most - len(chosen))
        outlined: dict[str, OutlinedFile | str | None] = dict(known or {})
        left = [path for path in chosen if path not in outlined]
        outlined.update(zip(left, outline(partial(read_imports, read), left), strict=True))
        found = [(path, outlined[path]) for path in chosen]
        refused = {path for path, each in found if isinstance(each, str)}
        self.paths = tuple(path for path in there if path not in refused)
        self.refused = tuple(sorted(refused))
        """The files that `read` refuses: rules that are checked look at them, too."""
        self.unread = frozenset(code).difference(chosen)
        # Generated files are imported all the same.
        self.resolver = ImportResolver(SourceTree(there, partial(text_in, root)))
        self._outlined = [each for _, each in found if isinstance(each, tuple)]
        self.outlines = FileOutlines(root, self._outlined, outlined.keys() - left, outline)

    def documents(self) -> list[tuple[int, str, str]]:
        """The row, path and language of each file that was read."""
        return [(row, path, language) for row, (path, language, _) in enumerate(self._outlined)]


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
