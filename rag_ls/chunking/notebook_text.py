"""Extracts the plain text of a piece of a notebook's JSON text."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(
    r"""
    (?P<start>\A[\s{}\[\],]+(?="))
    |(?P<data>(?:[A-Za-z0-9+/=]|\\n){200,})
    |(?P<unicode>(?:\\u[0-9a-fA-F]{4})+)
    |\\(?P<escaped>.)
    |(?P<around>
        "(?:cell_type|id|output_type|name|mimetype)"\s*:\s*"[^"\\]*"\s*,?\s*
        |"execution_count"\s*:\s*(?:null|\d+)\s*,?\s*
        |"metadata"\s*:\s*\{(?:[^{}"]|"[^"\\]*"|\{[^{}]*\})*\}\s*,?\s*
        |"(?:outputs|attachments)"\s*:\s*(?:\[\s*\]|\{\s*\})\s*,?\s*
        |"(?:source|outputs|attachments|data|text|text/plain)"\s*:\s*[\[{]*\s*
        |"nbformat(?:_minor)?"\s*:\s*\d+\s*,?\s*
        |"cells"\s*:\s*\[[\s{]*
    )
    |(?P<end>"?\s*[\]}][\s\]}]*(?:,\s*)?\{\s*(?="))
    |(?P<quote>"(?:\s*,\s*"|[\s\]},]*\Z)?)
    """,
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "f": " "}


def plain_text(text: str) -> str:
    """The source or output in a piece of a notebook, wherever it was cut: without escapes, quotes, keys and images."""
    return _TOKEN.sub(_plain, text).strip()


def _plain(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "escaped":
        return _ESCAPES.get(match[kind], match[kind])
    if kind == "unicode":
        decoded: str = json.loads(f'"{match[kind]}"')
        return decoded.encode("utf-8", "replace").decode("utf-8")
    return {"data": "data", "end": "\n\n"}.get(kind or "", "")
