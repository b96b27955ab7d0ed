"""Reads the uses of names in the pieces of code of a template."""

from __future__ import annotations

import re
from dataclasses import replace

from rag_ls.chunking.document import Document
from rag_ls.chunking.parse import is_safe, parse
from rag_ls.chunking.uses import UseTable
from rag_ls.languages import find_language
from rag_ls.languages.language import TemplateRule

_MAX_BYTES = 1_000_000


def uses_of_template(document: Document, language: str) -> bytes:
    """The uses in a template's code, packed; empty for a text that is none."""
    rule = find_language(language).template
    if rule is None or len(document.data) > _MAX_BYTES:
        return b""
    data, syntax = _code_alone(document.data, rule), find_language(rule.language).syntax
    table = UseTable()
    if syntax is not None and is_safe(data, syntax):
        table.add(replace(document, data=data), parse(data, syntax), syntax, language)
    return table.pack()


def _code_alone(data: bytes, rule: TemplateRule) -> bytes:
    """The text with its code where it was, a semicolon after each piece, and spaces for all the rest."""
    code = bytearray(re.sub(rb"[^\r\n]", b" ", data))
    pieces = [match.span(1) for pattern in rule.code for match in re.finditer(pattern, data)]
    for start, end in pieces:
        code[start:end] = data[start:end]
    for _, end in pieces:
        if code[end : end + 1] == b" ":
            code[end] = ord(";")
    first = min((start for start, _ in pieces), default=0)
    code[max(0, first - len(rule.opening)) : first] = rule.opening
    return bytes(code)
