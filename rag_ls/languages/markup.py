"""The parts that HTML, Vue and Svelte share."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.syntax import Kind, Syntax, declare


def markup_syntax(grammar: str) -> Syntax:
    """The syntax of one of the grammars."""
    tags = ("element", "script_element", "style_element", "template_element")
    return Syntax(
        grammar=grammar,
        declarations=declare(Kind.GROUP, *tags, names=("!tag",)),
        qualified=False,
        plain_names=True,
    )


def _read_tag(text: str) -> Iterator[Taken]:
    """The `src` of a script, the `href` of a link."""
    tag = re.match(r"<(script|link)\b[^>]*", text, re.IGNORECASE)
    if tag:
        wanted = "src" if tag[1].lower() == "script" else "href"
        match = re.search(rf"\s{wanted}\s*=\s*(?:\"([^\"]+)\"|'([^']+)'|([^\s\"'>]+))", tag[0], re.IGNORECASE)
        if match:
            yield next(value for value in match.groups() if value), ()


TAG_IMPORTS = ImportRule(_read_tag, ("script_element",), ("(element) @call",), (b"<link", b"<LINK"))
