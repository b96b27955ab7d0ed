"""Vue."""

from __future__ import annotations

from rag_ls.languages.comments import TAGGED
from rag_ls.languages.javascript_resolver import JavaScriptResolver
from rag_ls.languages.language import Language
from rag_ls.languages.markup import TAG_IMPORTS, markup_syntax
from rag_ls.languages.scripts import DECORATORS, ERRORS, MARKUP_LEXIS, TESTS

VUE = Language(
    name="vue",
    title="Vue",
    family="typescript",
    suffixes=("vue",),
    syntax=markup_syntax("vue"),
    is_markup=True,
    comments=TAGGED,
    lexis=MARKUP_LEXIS,
    imports=TAG_IMPORTS,
    resolver=JavaScriptResolver,
    tests=TESTS,
    errors=ERRORS,
    decorators=DECORATORS,
)
