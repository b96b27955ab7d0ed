"""C++."""

from __future__ import annotations

from rag_ls.languages.c import c_syntax
from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.exports import UNLESS_STATIC
from rag_ls.languages.import_readers import read_include
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language

CPP = Language(
    name="cpp",
    title="C++",
    aliases=("c++",),
    suffixes=("cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "inl", "cppm", "ixx"),
    syntax=c_syntax("cpp"),
    lexis=COMMON_LEXIS,
    is_matched=True,
    imports=ImportRule(read_include, ("preproc_include",)),
    exports=UNLESS_STATIC,
    resolver=IncludeResolver,
)
