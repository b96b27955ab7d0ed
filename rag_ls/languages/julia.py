"""Julia."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_readers import first_word, first_words, read_strings, split_list
from rag_ls.languages.import_rules import Taken, import_calls
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare

_CALLS = ("<signature/<call_expression", "<signature/<where_expression/<call_expression", "<signature")


def _read_import(text: str) -> Iterator[Taken]:
    if text.startswith("include"):
        yield from read_strings(text)
        return
    module, colon, names = re.sub(r"^(?:using|import)\s+", "", text).partition(":")
    if colon:
        yield module.strip(), first_words(names)
    else:
        yield from ((first_word(part), ()) for part in split_list(module))


JULIA = Language(
    name="julia",
    suffixes=("jl",),
    interpreters=("julia",),
    syntax=Syntax(
        grammar="julia",
        declarations={
            **declare(Kind.TYPE, "struct_definition", "abstract_definition", names=("<type_head",)),
            **declare(Kind.FUNCTION, "function_definition", "macro_definition", names=_CALLS),
            "assignment": (
                Declaration(
                    Kind.FUNCTION,
                    ("<call_expression",),
                    when=("<call_expression", frozenset({"call_expression"})),
                ),
            ),
            **declare(Kind.VALUE, "const_statement", names=("<assignment/<identifier",)),
            **declare(Kind.SCOPE, "module_definition"),
        },
        comments=frozenset({"line_comment", "block_comment", "string_literal"}),
    ),
    comments=HASHED,
    references=ReferenceRule(is_open=True, calls=("(call_expression . (_) @call)",)),
    imports=import_calls(
        _read_import, "call_expression . (identifier)", "include", types=("using_statement", "import_statement")
    ),
)
