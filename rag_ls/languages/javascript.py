"""JavaScript."""

from __future__ import annotations

from rag_ls.languages.javascript_resolver import JavaScriptResolver
from rag_ls.languages.language import Language
from rag_ls.languages.scripts import DECORATORS, ERRORS, EXPORTS, IMPORTS, LEXIS, TESTS, USES, script_syntax

JAVASCRIPT = Language(
    name="javascript",
    title="JavaScript",
    family="typescript",
    suffixes=("js", "jsx", "mjs", "cjs", "es6", "jsm"),
    file_names=("Jakefile",),
    interpreters=("node", "nodejs", "bun"),
    script_types=("js", "javascript", "module", "text/javascript", "application/javascript"),
    syntax=script_syntax("javascript"),
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
