"""R."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_rules import Taken, import_calls
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax

_FUNCTION = frozenset({"function_definition"})


def _read_import(text: str) -> Iterator[Taken]:
    match = re.search(r"\(\s*[\"']?([^\"',)]+)", text)
    if match:
        yield match[1].strip(), ()


R = Language(
    name="r",
    suffixes=("r",),
    file_names=(".Rprofile",),
    interpreters=("Rscript", "littler"),
    syntax=Syntax(
        grammar="r",
        declarations={"binary_operator": (Declaration(Kind.FUNCTION, ("lhs",), when=("rhs", _FUNCTION)),)},
    ),
    comments=HASHED,
    references=ReferenceRule(
        is_open=True, calls=("(call function: (_) @call)",), skipped=("(argument name: (_) @skip)",)
    ),
    imports=import_calls(
        _read_import, "call function: (identifier)", "library", "require", "source", "requireNamespace"
    ),
)
