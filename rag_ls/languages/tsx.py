"""TSX: TypeScript with elements, whose grammar reads JSX too."""

from __future__ import annotations

from rag_ls.languages.javascript_resolver import JavaScriptResolver
from rag_ls.languages.language import Language
from rag_ls.languages.scripts import DECORATORS, ERRORS, EXPORTS, IMPORTS, LEXIS, TESTS, USES, script_syntax

TSX = Language(
    name="tsx",
    title="TSX",
    family="typescript",
    suffixes=("tsx",),
    script_types=("tsx", "jsx", "text/babel", "text/jsx"),
    syntax=script_syntax("tsx"),
    lexis=LEXIS,
    is_matched=True,
    imports=IMPORTS,
    uses=USES,
    exports=EXPORTS,
    resolver=JavaScriptResolver,
    tests=TESTS,
    errors=ERRORS,
    decorators=DECORATORS,
)
