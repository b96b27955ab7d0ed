"""Thrift."""

from __future__ import annotations

from rag_ls.languages.import_readers import read_strings
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare

THRIFT = Language(
    name="thrift",
    suffixes=("thrift",),
    syntax=Syntax(
        grammar="thrift",
        one_line=True,
        declarations={
            **declare(
                Kind.TYPE, "struct_definition", "enum_definition", "service_definition", names=("type", "<identifier")
            ),
            **declare(Kind.TYPE, "union_definition", "exception_definition", names=("type", "<identifier")),
            **declare(Kind.FUNCTION, "function_definition", names=("<identifier",)),
        },
    ),
    references=ReferenceRule(),
    imports=ImportRule(read_strings, ("include_statement",)),
    resolver=IncludeResolver,
)
