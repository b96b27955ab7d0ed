"""HTML."""

from __future__ import annotations

from rag_ls.languages.comments import TAGGED
from rag_ls.languages.javascript_resolver import JavaScriptResolver
from rag_ls.languages.language import Language, Role
from rag_ls.languages.markup import TAG_IMPORTS, markup_syntax

HTML = Language(
    name="html",
    role=Role.DOCS,
    suffixes=("html", "htm", "xhtml"),
    syntax=markup_syntax("html"),
    is_markup=True,
    comments=TAGGED,
    is_matched=True,
    imports=TAG_IMPORTS,
    resolver=JavaScriptResolver,
)
