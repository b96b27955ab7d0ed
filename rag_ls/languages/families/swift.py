"""Swift and Dart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from rag_ls.languages.imports import STRING, ImportRule, Taken, first_words, read_match
from rag_ls.languages.language import UNLESS_PRIVATE, UNLESS_UNDERSCORED, Language
from rag_ls.languages.patterns import COMMON_LEXIS
from rag_ls.languages.reference_rules import read_references
from rag_ls.languages.source_tree import SourceTree, Target, join
from rag_ls.languages.syntax import read_syntax
from rag_ls.model import Import

SWIFT = Language(
    "swift", title="Swift",
    syntax=read_syntax("swift"),
    lexis=COMMON_LEXIS, is_matched=True,
    references=read_references("swift"),
    imports=ImportRule(
        read_match(r"\bimport\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?([\w.]+)"), ("import_declaration",),
    ),
    exports=UNLESS_PRIVATE,
)  # fmt: skip


def _read_dart_import(text: str) -> Iterator[Taken]:
    module = re.search(STRING, text)
    if module:
        shown = re.search(r"\bshow\s+([\w\s,]+?)(?:\bhide\b|;|$)", text)
        is_named = re.search(r"\bas\s+\w+", text)
        yield module[2], first_words(shown[1]) if shown else () if is_named else ("*",)


class DartResolver:
    """See `Resolver`: paths from a document's folder, and from `lib` of the packages that manifests name."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document that is imported, exported or a part."""
        if imported.module.startswith("package:"):
            package, _, rest = imported.module.removeprefix("package:").partition("/")
            paths = [join(folder, f"lib/{rest}") for folder in self._packages.get(package, ())]
        else:
            paths = [join(importer.rpartition("/")[0], imported.module)]
        yield from (Target(path, imported.names) for path in paths if path in self._tree.paths)

    @cached_property
    def _packages(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for manifest in self._tree.by_name.get("pubspec.yaml", ()):
            if named := re.search(r"^name:\s*(\w+)", self._tree.read(manifest), re.MULTILINE):
                found.setdefault(named[1], []).append(manifest.rpartition("/")[0])
        return found


DART = Language(
    "dart", title="Dart",
    syntax=read_syntax("dart"),
    lexis=COMMON_LEXIS,
    references=read_references("dart"),
    imports=ImportRule(_read_dart_import, ("import_or_export", "part_directive", "part_of_directive")),
    resolver=DartResolver, exports=UNLESS_UNDERSCORED,
)  # fmt: skip

LANGUAGES = (SWIFT, DART)
