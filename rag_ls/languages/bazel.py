"""Bazel's Starlark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_readers import STRING
from rag_ls.languages.import_rules import Taken, import_calls
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.languages.syntax import Kind, Syntax, declare
from rag_ls.model import Import


def _read_import(text: str) -> Iterator[Taken]:
    strings = [match[2] for match in re.finditer(STRING, text)]
    if strings:
        yield strings[0], tuple(strings[1:])


def _is_public(name: str, _signature: str, _member: bool) -> bool:
    return not name.startswith("_")


class BazelResolver:
    """See `Resolver`: a label names a file of a package."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document of a label."""
        package, colon, name = (
            imported.module.partition("//")[2].partition(":")
            if "//" in imported.module
            else ("", ":", imported.module.lstrip(":"))
        )
        if "//" not in imported.module:
            package = importer.rpartition("/")[0]
        path = "/".join(filter(None, (package, name if colon else package.rpartition("/")[2])))
        if path in self._tree.paths:
            yield Target(path, imported.names)


BAZEL = Language(
    name="bazel",
    title="Bazel",
    aliases=("starlark",),
    suffixes=("bzl", "bazel", "star", "starlark", "sky"),
    file_names=("BUILD", "WORKSPACE", "BUCK", "Tiltfile", "WORKSPACE.bzlmod"),
    syntax=Syntax(
        grammar="starlark",
        declarations={
            **declare(Kind.FUNCTION, "function_definition"),
            **declare(Kind.VALUE, "assignment", names=("left",)),
            **declare(Kind.VALUE, "call", names=("!target",), listed="value"),
        },
        wrappers=frozenset({"expression_statement"}),
        docstrings=frozenset({"string", "expression_statement"}),
    ),
    comments=HASHED,
    is_indented=True,
    references=ReferenceRule(
        calls=("(call function: (_) @call)",), skipped=("(keyword_argument name: (identifier) @skip)",)
    ),
    imports=import_calls(_read_import, "call function: (identifier)", "load"),
    exports=ExportRule(_is_public),
    resolver=BazelResolver,
    is_named_by_tools=True,
)
