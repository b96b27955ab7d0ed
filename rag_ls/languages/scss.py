"""SCSS."""

from __future__ import annotations

from rag_ls.languages.import_readers import read_stylesheet
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language, Role
from rag_ls.languages.syntax import Kind, Syntax, declare

SCSS = Language(
    name="scss",
    role=Role.DATA,
    suffixes=("scss",),
    script_types=("scss", "text/scss"),
    syntax=Syntax(
        grammar="scss",
        declarations={
            **declare(Kind.FUNCTION, "mixin_statement", "function_statement"),
            **declare(Kind.FUNCTION, "rule_set", names=("<selectors",), listed="section"),
            **declare(Kind.GROUP, "media_statement", "supports_statement", "at_rule", names=("!prelude",)),
            **declare(Kind.FUNCTION, "keyframes_statement", names=("!prelude",), listed="section"),
        },
        comments=frozenset({"comment", "js_comment"}),
        qualified=False,
        plain_names=True,
    ),
    imports=ImportRule(read_stylesheet, ("import_statement", "use_statement", "forward_statement")),
    resolver=IncludeResolver,
)
