"""Zig."""

from __future__ import annotations

from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_readers import read_strings
from rag_ls.languages.import_rules import import_calls
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax


def _is_exported(_name: str, _signature: str, _member: bool) -> bool:
    return False  # except by its prefix


ZIG = Language(
    name="zig",
    suffixes=("zig", "zon"),
    syntax=Syntax(
        grammar="zig",
        declarations={
            "Decl": (
                Declaration(
                    Kind.TYPE,
                    ("<VarDecl/variable_type_function",),
                    when=("<VarDecl/<ErrorUnionExpr/<SuffixExpr/<ContainerDecl", frozenset({"ContainerDecl"})),
                ),
                Declaration(Kind.FUNCTION, ("<FnProto/function",), when=("<FnProto", frozenset({"FnProto"}))),
                Declaration(Kind.VALUE, ("<VarDecl/variable_type_function",)),
            ),
            "TestDecl": (Declaration(Kind.FUNCTION, ("<STRINGLITERALSINGLE", "<IDENTIFIER")),),
        },
        comments=frozenset({"line_comment", "doc_comment"}),
        attributes=frozenset({"pub"}),
    ),
    references=ReferenceRule(names=frozenset({"IDENTIFIER"})),
    imports=import_calls(read_strings, "SuffixExpr . (BUILTINIDENTIFIER)", "@import", "@cImport"),
    exports=ExportRule(_is_exported, prefix=b"pub"),
)
