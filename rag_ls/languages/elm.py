"""Elm."""

from __future__ import annotations

from rag_ls.languages.comments import DASHED
from rag_ls.languages.import_readers import read_qualified
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare

ELM = Language(
    name="elm",
    suffixes=("elm",),
    syntax=Syntax(
        grammar="elm",
        declarations={
            **declare(Kind.TYPE, "type_alias_declaration", "type_declaration"),
            **declare(Kind.FUNCTION, "type_annotation", "port_annotation"),
            **declare(Kind.FUNCTION, "value_declaration", names=("functionDeclarationLeft/<lower_case_identifier",)),
        },
        comments=frozenset({"line_comment", "block_comment"}),
        clauses=True,
    ),
    comments=DASHED,
    has_single_quotes=False,
    references=ReferenceRule(
        calls=("(function_call_expr target: (_) @call)",),
        names=frozenset({"lower_case_identifier", "upper_case_identifier"}),
    ),
    imports=ImportRule(read_qualified, ("import_clause",)),
)
