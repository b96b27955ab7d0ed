"""C++."""

from __future__ import annotations

from rag_ls.languages.c import C_REFERENCES, c_syntax
from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.exports import UNLESS_STATIC
from rag_ls.languages.import_readers import read_include
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import NEW

_EXPORTED = (
    rb"(\b(?:class|struct|union)\s+(?:alignas\([^()]*\)\s*)?)([A-Z][A-Z0-9_]+(?:\([^()\n]*\))?)"
    rb"(?=\s+[A-Za-z_][\w:]*(?:<[^<>;{}]*>)?\s*(?:final\b\s*)?(?:\{|:(?!:)))"
)
"""A macro before the name of a class, which the grammar takes for the name: `class SHOP_EXPORT Cart {`."""

CPP = Language(
    name="cpp",
    title="C++",
    aliases=("c++",),
    suffixes=("cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "txx", "inl", "metal", "cppm", "ixx"),
    syntax=c_syntax("cpp", _EXPORTED),
    lexis=COMMON_LEXIS,
    is_matched=True,
    references=C_REFERENCES._replace(
        members_apart=True,
        is_overloaded=True,
        calls=(
            "(call_expression function: (_) @call)",
            "(template_function name: (_) @call)",
            "(template_method name: (_) @call)",
            "(new_expression type: (_) @call)",
        ),
        bases=("(base_class_clause (_) @base)", "(base_class_clause (template_type name: (_) @base))"),
        own_is_implied=True,
        types=(*C_REFERENCES.types, NEW),
        wrappers=frozenset({"optional", "reference_wrapper", "shared_ptr", "unique_ptr", "weak_ptr"}),
        lists=frozenset({"array", "deque", "list", "set", "span", "unordered_set", "vector"}),
        elements=frozenset({"[]", "at", "back", "front"}),
        loops=(r"\bfor\s*\(\s*(?:const\s+)?auto\s*[&*]*\s*{name}\s*:\s*",),
    ),
    imports=ImportRule(read_include, ("preproc_include",)),
    exports=UNLESS_STATIC,
    resolver=IncludeResolver,
)
