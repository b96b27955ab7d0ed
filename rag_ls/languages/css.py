"""CSS."""

from __future__ import annotations

from rag_ls.languages.comments import SLASHED, Comments
from rag_ls.languages.import_readers import read_stylesheet
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language, Role
from rag_ls.languages.syntax import Kind, Syntax, declare

CSS = Language(
    name="css",
    role=Role.DATA,
    suffixes=("css",),
    script_types=("css", "postcss", "text/css"),
    syntax=Syntax(
        grammar="css",
        declarations={
            **declare(Kind.FUNCTION, "rule_set", names=("<selectors",), listed="section"),
            **declare(Kind.GROUP, "media_statement", "supports_statement", "at_rule", names=("!prelude",)),
            **declare(Kind.FUNCTION, "keyframes_statement", names=("!prelude",), listed="section"),
        },
        comments=frozenset({"comment", "js_comment"}),
        qualified=False,
        plain_names=True,
    ),
    comments=Comments(pattern=SLASHED.pattern, start="/* ", end=" */"),
    is_matched=True,
    imports=ImportRule(read_stylesheet, ("import_statement",)),
    resolver=IncludeResolver,
)
