"""Builds and set-ups."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.imports import STRING, ImportRule, Taken, import_calls, read_second_word, read_strings
from rag_ls.languages.language import UNLESS_UNDERSCORED, Language
from rag_ls.languages.line_rules import read_line_rule
from rag_ls.languages.patterns import HASHED
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.registry import IncludeResolver
from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.languages.syntax import read_syntax
from rag_ls.model import Import

MAKE = Language(
    "make",
    syntax=read_syntax("make"),
    comments=HASHED,
    # `include a.mk b.mk`
    imports=ImportRule(lambda text: ((word, ()) for word in text.split()[1:]), ("include_directive",)), resolver=IncludeResolver,
)  # fmt: skip

CMAKE = Language(
    "cmake",
    syntax=read_syntax("cmake"),
    comments=HASHED, references=ReferenceRule(),
    imports=import_calls(read_second_word, "normal_command", "include", "add_subdirectory", "find_package"), resolver=IncludeResolver,
)  # fmt: skip

JUST = Language(
    "just",
    lines=read_line_rule("just"),
    comments=HASHED, references=ReferenceRule(is_open=True), imports=ImportRule(read_strings),
)  # fmt: skip

DOCKERFILE = Language(
    "dockerfile", syntax=read_syntax("dockerfile"),
    comments=HASHED,
)  # fmt: skip


def _read_bazel_import(text: str) -> Iterator[Taken]:
    strings = [match[2] for match in re.finditer(STRING, text)]
    if strings:
        yield strings[0], tuple(strings[1:])


class BazelResolver:
    """See `Resolver`: a label names a file of a package."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document of a label."""
        _, slashes, label = imported.module.rpartition("//")
        package, colon, name = (
            label.partition(":") if slashes else (importer.rpartition("/")[0], ":", label.lstrip(":"))
        )
        path = "/".join(filter(None, (package, name if colon else package.rpartition("/")[2])))
        if path in self._tree.paths:
            yield Target(path, imported.names)


BAZEL = Language(
    "bazel", title="Bazel",
    syntax=read_syntax("bazel"),
    comments=HASHED, is_indented=True,
    references=ReferenceRule(calls=("(call function: (_) @call)",), skipped=("(keyword_argument name: (identifier) @skip)",)),
    imports=import_calls(_read_bazel_import, "call function: (identifier)", "load"), exports=UNLESS_UNDERSCORED, resolver=BazelResolver,
    is_named_by_tools=True,
)  # fmt: skip

PUPPET = Language(
    "puppet", title="Puppet",
    lines=read_line_rule("puppet"),
    comments=HASHED, references=ReferenceRule(is_open=True), imports=ImportRule(read_second_word),
)  # fmt: skip

LANGUAGES = (MAKE, CMAKE, JUST, DOCKERFILE, BAZEL, PUPPET)
