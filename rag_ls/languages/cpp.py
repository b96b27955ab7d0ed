"""C++."""

from __future__ import annotations

from rag_ls.languages.c import c_syntax
from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.exports import UNLESS_STATIC
from rag_ls.languages.import_readers import read_include
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import NEW, PREFIX_TYPE, ReferenceRule

CPP = Language(
    name="cpp",
    title="C++",
    aliases=("c++",),
    suffixes=("cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "inl", "cppm", "ixx"),
    syntax=c_syntax("cpp"),
    lexis=COMMON_LEXIS,
    is_matched=True,
    references=ReferenceRule(
        is_open=True,
        members_apart=True,
        kin="c",
        calls=(
            "(call_expression function: (_) @call)",
            "(template_function name: (_) @call)",
            "(template_method name: (_) @call)",
            "(new_expression type: (_) @call)",
        ),
        bases=("(base_class_clause (_) @base)", "(base_class_clause (template_type name: (_) @base))"),
        own_is_implied=True,
        types=(PREFIX_TYPE, NEW),
    ),
    imports=ImportRule(read_include, ("preproc_include",)),
    exports=UNLESS_STATIC,
    resolver=IncludeResolver,
)
