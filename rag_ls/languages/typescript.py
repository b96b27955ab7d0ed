"""TypeScript."""

from __future__ import annotations

from rag_ls.languages.scripts import make_script_language

TYPESCRIPT = make_script_language(
    "typescript",
    "TypeScript",
    suffixes=("ts", "mts", "cts"),
    interpreters=("ts-node", "tsx", "deno"),
    script_types=("ts", "typescript", "text/typescript", "application/typescript"),
)
