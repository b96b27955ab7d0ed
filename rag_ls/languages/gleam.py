"""Gleam."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.import_readers import first_words
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import NAMES, ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare


def _read_import(text: str) -> Iterator[Taken]:
    match = re.match(r"import\s+([\w/]+)(?:\.\{([^}]*)\})?", text)
    if match:
        yield match[1], first_words((match[2] or "").replace("type ", ""))


GLEAM = Language(
    name="gleam",
    suffixes=("gleam",),
    syntax=Syntax(
        grammar="gleam",
        declarations={
            **declare(Kind.TYPE, "type_definition", "type_alias", names=("<type_name",)),
            **declare(Kind.FUNCTION, "function"),
            **declare(Kind.VALUE, "constant"),
        },
        comments=frozenset({"comment", "statement_comment", "module_comment"}),
    ),
    references=ReferenceRule(
        calls=("(function_call function: (_) @call)",), names=NAMES | {"label", "type_name", "constructor_name"}
    ),
    imports=ImportRule(_read_import, ("import",)),
)
