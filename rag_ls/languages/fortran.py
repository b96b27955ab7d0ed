"""Fortran."""

from __future__ import annotations

from rag_ls.languages.comments import Comments
from rag_ls.languages.import_readers import read_second_word
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare

FORTRAN = Language(
    name="fortran",
    suffixes=("f", "f77", "f90", "f95", "f03", "f08", "for", "ftn"),
    syntax=Syntax(
        grammar="fortran",
        one_line=True,
        declarations={
            **declare(Kind.SCOPE, "module", names=("<module_statement/<name",)),
            **declare(Kind.SCOPE, "submodule", names=("<submodule_statement/<name",)),
            **declare(Kind.FUNCTION, "program", names=("<program_statement/<name",)),
            **declare(Kind.FUNCTION, "subroutine", names=("<subroutine_statement/name",)),
            **declare(Kind.FUNCTION, "function", names=("<function_statement/name",)),
            **declare(Kind.TYPE, "derived_type_definition", names=("<derived_type_statement/<type_name",)),
        },
        transparent=frozenset({"internal_procedures"}),
    ),
    comments=Comments(pattern=r"![^\n]*", start="! "),
    references=ReferenceRule(calls=("(subroutine_call subroutine: (_) @call)", "(call_expression . (_) @call)")),
    imports=ImportRule(read_second_word, ("use_statement",)),
)
