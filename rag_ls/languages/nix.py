"""Nix."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax

_SETS = frozenset({"attrset_expression", "rec_attrset_expression"})


def _read_import(text: str) -> Iterator[Taken]:
    match = re.match(r"import\s+([^\s;(){}]+)", text)
    if match:
        yield match[1], ()


NIX = Language(
    name="nix",
    suffixes=("nix",),
    interpreters=("nix-shell",),
    syntax=Syntax(
        grammar="nix",
        declarations={
            "binding": (
                Declaration(Kind.FUNCTION, ("attrpath",), when=("expression", frozenset({"function_expression"}))),
                Declaration(Kind.GROUP, ("attrpath",), when=("expression", _SETS), listed="value"),
                Declaration(Kind.VALUE, ("attrpath",)),
            ),
        },
        transparent=frozenset({"function_expression", "let_expression", "binding_set"}),
        plain_names=True,
        outline_depth=3,
    ),
    comments=HASHED,
    is_indented=True,
    is_matched=True,
    references=ReferenceRule(calls=("(apply_expression function: (_) @call)",)),
    imports=ImportRule(_read_import, (), ("(apply_expression) @call",), (b"import",)),
)
