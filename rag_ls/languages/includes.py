"""Finds the documents that an include names: C and its kin, stylesheets, makefiles, schemas."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from rag_ls.languages.source_tree import SourceTree, Target, above, join
from rag_ls.model import Import


class IncludeResolver:
    """See `Resolver`: a C include beside the document, else in any include folder. Other languages' file names too."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The file that is included."""
        beside = join(importer.rpartition("/")[0], imported.module)
        if beside in self._tree.paths:
            found = [beside]
        else:
            end = posixpath.normpath(imported.module).lstrip("./")
            found = self._in_include_folder(end, importer) or self._tree.find_ending(end, importer)
        yield from (Target(path) for path in found[:1])

    def _in_include_folder(self, end: str, importer: str) -> list[str]:
        places = (
            join(folder, f"{include}/{end}") for folder in above(importer) for include in ("include", "inc", "src")
        )
        return [place for place in places if place in self._tree.paths][:1]
