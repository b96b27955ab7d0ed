"""Lua."""

from __future__ import annotations

from rag_ls.languages.comments import DASHED
from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_readers import read_strings
from rag_ls.languages.import_rules import import_calls
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare


def _is_not_local(_name: str, signature: str, _member: bool) -> bool:
    return not signature.startswith("local ")


LUA = Language(
    name="lua",
    suffixes=("lua", "luau", "rockspec"),
    file_names=(".luacheckrc",),
    interpreters=("lua", "luajit", "texlua"),
    syntax=Syntax(
        grammar="lua",
        declarations={
            **declare(Kind.FUNCTION, "function_declaration"),
            "assignment_statement": (
                Declaration(
                    Kind.FUNCTION,
                    ("<variable_list/name",),
                    when=("<expression_list/value", frozenset({"function_definition"})),
                ),
                Declaration(Kind.VALUE, ("<variable_list/name",)),
            ),
        },
        wrappers=frozenset({"variable_declaration"}),
    ),
    comments=DASHED,
    is_matched=True,
    references=ReferenceRule(
        is_open=True,
        calls=("(function_call name: (_) @call)",),
        tables=r"(?m)^\s*(?:local\s+)?{name}\s*=\s*(?:require\s*\(?\s*[\"']([\w./-]+)[\"'])?",
    ),
    imports=import_calls(read_strings, "function_call name: (identifier)", "require", "dofile"),
    exports=ExportRule(_is_not_local),
)
