"""TypeScript."""

from __future__ import annotations

from rag_ls.languages.javascript_resolver import JavaScriptResolver
from rag_ls.languages.language import Language
from rag_ls.languages.scripts import DECORATORS, ERRORS, EXPORTS, IMPORTS, LEXIS, TESTS, USES, script_syntax

TYPESCRIPT = Language(
    name="typescript",
    title="TypeScript",
    family="typescript",
    suffixes=("ts", "mts", "cts"),
    interpreters=("ts-node", "tsx", "deno"),
    script_types=("ts", "typescript", "text/typescript", "application/typescript"),
    syntax=script_syntax("typescript"),
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
