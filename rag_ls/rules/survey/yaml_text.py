"""Writes YAML: strings in double quotes, with everything escaped that YAML reads as something else."""

from __future__ import annotations

import json
import re

# Line ends, marks and halves of characters that JSON leaves as they are and YAML does not.
_SPECIAL = re.compile("[\\x7f-\\x9f\\u2028\\u2029\\ufeff\\ufffe\\uffff\\ud800-\\udfff]")


def quote(text: str) -> str:
    """A string as a scalar of YAML."""
    return _SPECIAL.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def flow_list(texts: list[str] | tuple[str, ...]) -> str:
    """Strings as a list on one line."""
    return "[" + ", ".join(quote(text) for text in texts) + "]"


def comment(text: str) -> str:
    """A line that is a comment, whatever the text holds."""
    return "# " + " ".join(text.split())
