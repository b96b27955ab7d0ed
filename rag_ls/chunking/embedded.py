"""Scripts and styles inside markup: ranges of a document in a language of their own."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from rag_ls.chunking.document import Document
from rag_ls.chunking.parse import Part, is_safe, nodes_of, parse, parse_within
from rag_ls.chunking.uses import UseTable
from rag_ls.languages import Syntax, TemplateRule, find_language, language_of_script
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node

_ELEMENTS = frozenset({"script_element", "style_element"})
_KIND = lazy_pattern(r"""\b(?:lang|type)\s*=\s*["']?([\w/+.-]+)""", re.IGNORECASE)

_MAX_REGIONS = 40
"""Further scripts and styles stay with their host, because each one costs another pass over the host's tree."""


@dataclass(frozen=True, slots=True)
class Region:
    """A range of a document in one language, and the trees that cover it."""

    start: int
    end: int
    language: str
    syntax: Syntax
    parts: list[Part]


def regions_of(document: Document, host: Region, min_tokens: int) -> list[Region]:
    """The regions that partition a document: its scripts and styles, and the markup between them.

    An embedded region includes the tags around it. If it has fewer than `min_tokens`, it stays with
    its host; a part of the host that is as small goes to the region before it.
    """
    if not find_language(host.language).is_markup:
        return [host]
    regions: list[Region] = []
    end = host.start
    for inner in _find_embedded(document, host, min_tokens):
        if inner.start < end:
            continue
        if regions and document.size(end, inner.start) < min_tokens:
            regions[-1] = _until(regions[-1], inner.start)
        elif end < inner.start:
            regions.append(_between(host, end, inner.start))
        regions.append(inner)
        end = inner.end
    if regions and document.size(end, host.end) < min_tokens:
        regions[-1] = _until(regions[-1], host.end)
    elif end < host.end:
        regions.append(_between(host, end, host.end))
    return regions


def _until(region: Region, end: int) -> Region:
    last = region.parts[-1]
    parts = [*region.parts[:-1], Part(last.start, end, last.root)]
    return Region(region.start, end, region.language, region.syntax, parts)


def _between(host: Region, start: int, end: int) -> Region:
    clipped = [Part(max(part.start, start), min(part.end, end), part.root) for part in host.parts]
    return Region(start, end, host.language, host.syntax, [part for part in clipped if part.start < part.end])


def _find_embedded(document: Document, host: Region, min_tokens: int) -> list[Region]:
    found = [node for part in host.parts for node in nodes_of(part, host.syntax.grammar, _ELEMENTS)]
    regions = (_region(document, node, min_tokens) for node in found)
    return list(islice((region for region in regions if region is not None), _MAX_REGIONS))


def _region(document: Document, element: Node, min_tokens: int) -> Region | None:
    raw = next((child for child in element.children if child.type == "raw_text"), None)
    if raw is None or document.size(raw.start_byte, raw.end_byte) < min_tokens:
        return None
    language = _language(document, element, raw)
    syntax = find_language(language).syntax
    if syntax is None:
        return None
    start, end = _whole_lines(document, element.start_byte, element.end_byte)
    root = parse_within(document.data, syntax, raw.start_byte, raw.end_byte)
    return Region(start, end, language, syntax, [Part(start, end, root)])


def _language(document: Document, element: Node, raw: Node) -> str:
    """The language that the start tag names; empty for an unknown one."""
    kind = _KIND.search(document.text(element.start_byte, raw.start_byte))
    if kind is None:
        return "javascript" if element.type == "script_element" else "css"
    return language_of_script(kind[1]) or ""


def _whole_lines(document: Document, start: int, end: int) -> tuple[int, int]:
    """The range with the white space before it on its line, and after it up to the next line."""
    line = document.line_start(start)
    if not document.data[line:start].strip():
        start = line
    following = document.first_line_start(end, len(document.data))
    stop = len(document.data) if following is None else following
    return start, end if document.data[end:stop].strip() else stop


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
