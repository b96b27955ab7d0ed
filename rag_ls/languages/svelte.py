"""Svelte."""

from __future__ import annotations

from rag_ls.languages.comments import TAGGED
from rag_ls.languages.javascript_resolver import JavaScriptResolver
from rag_ls.languages.language import Language
from rag_ls.languages.markup import TAG_IMPORTS, markup_syntax
from rag_ls.languages.scripts import DECORATORS, ERRORS, MARKUP_LEXIS, TESTS

SVELTE = Language(
    name="svelte",
    title="Svelte",
    family="typescript",
    suffixes=("svelte",),
    syntax=markup_syntax("svelte"),
    is_markup=True,
    comments=TAGGED,
    lexis=MARKUP_LEXIS,
    imports=TAG_IMPORTS,
    resolver=JavaScriptResolver,
    tests=TESTS,
    errors=ERRORS,
    decorators=DECORATORS,
)
