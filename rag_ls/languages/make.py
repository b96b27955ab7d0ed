"""Makefiles."""

from __future__ import annotations

from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language
from rag_ls.languages.syntax import Kind, Syntax, declare


def _read_import(text: str) -> Iterator[Taken]:
    """`include a.mk b.mk`"""
    yield from ((word, ()) for word in text.split()[1:])


MAKE = Language(
    name="make",
    suffixes=("mk", "mak", "make"),
    file_names=("Makefile", "makefile", "GNUmakefile", "Kbuild", "BSDmakefile"),
    interpreters=("make",),
    syntax=Syntax(
        grammar="make",
        one_line=True,
        declarations={
            **declare(Kind.FUNCTION, "rule", names=("<targets",)),
            **declare(Kind.FUNCTION, "define_directive"),
            **declare(Kind.VALUE, "variable_assignment", "shell_assignment"),
        },
        plain_names=True,
    ),
    comments=HASHED,
    imports=ImportRule(_read_import, ("include_directive",)),
    resolver=IncludeResolver,
)
