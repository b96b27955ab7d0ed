"""JavaScript."""

from __future__ import annotations

from rag_ls.languages.scripts import make_script_language

JAVASCRIPT = make_script_language(
    "javascript",
    "JavaScript",
    suffixes=("js", "jsx", "mjs", "cjs", "es6", "jsm"),
    file_names=("Jakefile",),
    interpreters=("node", "nodejs", "bun"),
    script_types=("js", "javascript", "module", "text/javascript", "application/javascript"),
)
