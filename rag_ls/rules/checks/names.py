"""Checks the names of files and declarations, and the places of files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.rules.checks.patterns import Pattern, pattern_of
from rag_ls.rules.checks.records import CheckedDocument, FileNameCheck, PlaceCheck, SymbolNameCheck, TextRange
from rag_ls.util.path_globs import matches_any
from rag_ls.util.text import lines_of

STYLES = {
    "snake_case": r"_*[a-z0-9]+(?:_[a-z0-9]+)*_*",
    "kebab-case": r"[a-z0-9]+(?:-[a-z0-9]+)*",
    "camelCase": r"_*[a-z][a-zA-Z0-9]*",
    "PascalCase": r"_*[A-Z][a-zA-Z0-9]*",
    "UPPER_CASE": r"_*[A-Z0-9]+(?:_[A-Z0-9]+)*",
    "lowercase": r"[a-z0-9]+",
}
"""Regular expressions of the styles of names."""

_ASKED_BY_TOOLS = re.compile(r"^[+\[(@$]")
"""Routers of frameworks ask for such names: `+page`, `[slug]`, `(group)`, `$id`."""
_SEPARATOR = re.compile(r"\.|::|#| > ")
Found = tuple[TextRange, str]
"""A place, and what is wrong there."""


def file_name(document: CheckedDocument, check: FileNameCheck) -> Iterator[Found]:
    """Whether the document's name has its style."""
    stem = document.path.rsplit("/", 1)[-1].split(".", 1)[0]
    if check.style in STYLES and _ASKED_BY_TOOLS.search(stem):
        return
    if stem and not style_of(check.style).matches_all(stem):
        yield first_line(document), f"the name {stem!r} is not {_format_style(check.style)}"


def symbol_names(document: CheckedDocument, check: SymbolNameCheck) -> Iterator[Found]:
    """The declarations whose names do not have their style."""
    style = style_of(check.style)
    lines = lines_of(document.text)
    for symbol in document.symbols:
        name = _SEPARATOR.split(symbol.name)[-1]
        if (not check.kind or symbol.kind == check.kind) and not style.matches_all(name):
            line = lines[symbol.start_line - 1] if symbol.start_line <= len(lines) else ""
            at = max(line.find(name), 0)
            place = TextRange(symbol.start_line, at, symbol.start_line, at + len(name))
            yield place, f"the name {name!r} is not {_format_style(check.style)}"


def place(document: CheckedDocument, check: PlaceCheck) -> Iterator[Found]:
    """Whether the document lies where it must."""
    if not matches_any(check.inside, document.path):
        yield first_line(document), f"it must lie in {' or '.join(check.inside)}"


def first_line(document: CheckedDocument) -> TextRange:
    """The first line of a document, for what is wrong with all of it."""
    end = document.text.find("\n")
    return TextRange(1, 0, 1, len(document.text) if end < 0 else end)


def style_of(style: str) -> Pattern:
    """The regular expression of a style. Raises `re.error`."""
    return pattern_of(STYLES.get(style, style))


def _format_style(style: str) -> str:
    return f"in {style}" if style in STYLES else f"like {style}"
