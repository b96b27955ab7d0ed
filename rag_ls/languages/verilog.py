"""Verilog and SystemVerilog, read by their lines: the grammar fails on two fifths of real code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import DOUBLE_NOISE, SLASHED_NOISE, LineRule
from rag_ls.languages.reference_rules import ReferenceRule


def _read_import(text: str) -> Iterator[Taken]:
    if match := re.match(r"`include\s+[\"<]([^\">]+)", text):
        yield match[1], ()
    yield from ((package, (name,)) for package, name in re.findall(r"(\w+)\s*::\s*(\w+|\*)", text))


VERILOG = Language(
    name="verilog",
    title="Verilog",
    aliases=("systemverilog", "verilog_systemverilog"),
    suffixes=("v", "vh", "sv", "svh", "svp", "vlg"),
    lines=LineRule(
        declared=(
            rb"^[ \t]*+(?:(?:virtual|static|automatic|interface)[ \t]+)*(?P<word>module|interface|package|program|class|checker|covergroup)"
            rb"[ \t]+(?:(?:static|automatic)[ \t]+)?(?P<type>\w+)"
            rb"|^[ \t]*+(?:extern|pure|import[ \t]+\"[^\"\n]*\")[ \t][^;(\n]*?\b(?:function|task)\b[^;(\n]*?"
            rb"(?P<function2>\w+)[ \t]*(?=[(;])"
            rb"|^[ \t]*+(?:(?:virtual|static|automatic|local|protected)[ \t]+)*(?P<word2>function|task)\b[^;(]{0,200}?"
            rb"(?P<function>(?:\w+::)?\w+)\s*(?=[(;])"
            rb"|^[ \t]*+(?P<word3>property|sequence)[ \t]+(?P<function3>\w+)"
            rb"|^[ \t]*+typedef[ \t]+(?!class\b)(?:[^;{}]|\{[^{}]*\}){0,400}?\b(?P<type2>\w+)(?:[ \t]*\[[^\]\n]*\])*[ \t]*;"
            rb"|^[ \t]*+(?:parameter|localparam)[ \t]+(?:[\w:\[\]$*+-]+[ \t]+){0,8}?(?P<value>\w+)[ \t]*(?==)"
            rb"|^[ \t]*+`define[ \t]+(?P<value2>\w+)"
        ),
        noise=SLASHED_NOISE + rb"|" + DOUBLE_NOISE,
        paired=rb"end%s\b",
        attributes=rb"\(\*",
        imported=rb"^[ \t]*(?:import[ \t]+\w+[ \t]*::[^;\n]+;|`include[ \t]+[^\n]+)",
        calls=rb"^[ \t]*([A-Za-z_]\w*)[ \t]+(?:#[ \t]*\(|\w+[ \t]*\()",
        bases=rb"\bextends[ \t]+(\w+)",
    ),
    lexis=COMMON_LEXIS,
    has_single_quotes=False,
    references=ReferenceRule(
        is_open=True, own=frozenset({"this"}), parents=frozenset({"super"}), constructors=frozenset({"new"})
    ),
    imports=ImportRule(_read_import),
    resolver=IncludeResolver,
)
