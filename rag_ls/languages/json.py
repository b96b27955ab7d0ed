"""JSON."""

from __future__ import annotations

from rag_ls.languages.language import Language, Role
from rag_ls.languages.syntax import Kind, Syntax, declare

JSON = Language(
    name="json",
    role=Role.DATA,
    suffixes=tuple("json jsonc json5 geojson webmanifest topojson har avsc code-workspace jsonl ndjson ipynb".split()),
    file_names=tuple(
        ".babelrc .eslintrc .prettierrc .stylelintrc .jshintrc .swcrc composer.lock Pipfile.lock flake.lock "
        "deno.lock".split()
    ),
    script_types=("json", "importmap", "application/json", "application/ld+json"),
    syntax=Syntax(
        grammar="json",
        declarations=declare(Kind.GROUP, "pair", names=("key",)),
        plain_names=True,
        outline_depth=2,
    ),
    is_matched=True,
)
