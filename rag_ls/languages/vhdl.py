"""VHDL, read by its lines: a character that its grammar does not know crashes it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import DASHED
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import DOUBLE_NOISE, LineRule
from rag_ls.languages.reference_rules import ReferenceRule


def _read_import(text: str) -> Iterator[Taken]:
    yield from ((match[1], (match[2],)) for match in re.finditer(r"(\w+\.\w+)(?:\.(\w+))?", text) if match[2])


VHDL = Language(
    name="vhdl",
    title="VHDL",
    suffixes=("vhd", "vhdl", "vho"),
    lines=LineRule(
        declared=(
            rb"(?i:^[ \t]*+(?:entity|component)[ \t]+(?P<type>\w+)(?=[ \t]+is\b|[ \t]*$)"
            rb"|^[ \t]*+(?:architecture[ \t]+(?P<module>\w+)[ \t]+of|package[ \t]+(?:body[ \t]+)?(?P<module2>\w+)[ \t]+is)\b"
            rb"|^[ \t]*+(?:(?:pure|impure)[ \t]+)?(?:function|procedure)[ \t]+(?P<function>\w+|\"[^\"\n]+\")"
            rb"|^[ \t]*+(?P<function2>\w+)[ \t]*:[ \t]*(?:postponed[ \t]+)?process\b"
            rb"|^[ \t]*+(?:sub)?type[ \t]+(?P<type2>\w+)"
            rb"|^[ \t]*+(?:constant|signal|shared[ \t]+variable|alias)[ \t]+(?P<value>\w+))"
        ),
        noise=rb"--[^\n]*|/\*(?s:.*?)(?:\*/|\Z)|" + DOUBLE_NOISE,
        closing=rb"(?i:end\b)|\)",
        going_on=rb"(?i:(?:begin|is|return|port|generic)\b)|\)[ \t]*(?i:is|return)\b",
        imported=rb"(?i:^[ \t]*use[ \t]+[^;\n]+;)",
        calls=rb"(?i:entity[ \t]+\w+\.|:[ \t]*(?:component[ \t]+)?)(\w+)(?=\s*(?:\(\w+\)\s*)?(?i:generic|port)\b)",
    ),
    comments=DASHED,
    has_single_quotes=False,
    references=ReferenceRule(is_open=True),
    imports=ImportRule(_read_import),
)
