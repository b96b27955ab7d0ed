"""Solidity."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.exports import UNLESS_PRIVATE
from rag_ls.languages.import_readers import STRING, first_words
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare


def _read_import(text: str) -> Iterator[Taken]:
    strings = list(re.finditer(STRING, text))
    braces = re.search(r"\{(.*)\}", text, re.DOTALL)
    if strings:
        yield strings[-1][2], first_words(braces[1]) if braces else ()


SOLIDITY = Language(
    name="solidity",
    suffixes=("sol",),
    syntax=Syntax(
        grammar="solidity",
        declarations={
            **declare(Kind.TYPE, "contract_declaration", "interface_declaration", "library_declaration"),
            **declare(Kind.TYPE, "struct_declaration", "enum_declaration"),
            **declare(Kind.FUNCTION, "function_definition", "modifier_definition", "event_definition"),
            **declare(Kind.FUNCTION, "error_declaration"),
            "constructor_definition": (Declaration(Kind.FUNCTION, ("=constructor",)),),
            **declare(Kind.VALUE, "state_variable_declaration", "constant_variable_declaration"),
        },
    ),
    is_matched=True,
    references=ReferenceRule(
        calls=("(call_expression function: (_) @call)", "(modifier_invocation (identifier) @call)"),
        bases=("(inheritance_specifier ancestor: (_) @base)",),
        own_is_implied=True,
    ),
    imports=ImportRule(_read_import, ("import_directive",)),
    exports=UNLESS_PRIVATE,
)
