"""Languages of hardware, and assembly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.imports import ImportRule, Taken, read_include
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import DOUBLE_NOISE, SLASHED_NOISE, LineRule
from rag_ls.languages.patterns import COMMON_LEXIS, DASHED, Comments
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.resolvers import IncludeResolver
from rag_ls.languages.syntax import words


def _read_verilog_import(text: str) -> Iterator[Taken]:
    if match := re.match(r"`include\s+[\"<]([^\">]+)", text):
        yield match[1], ()
    yield from ((package, (name,)) for package, name in re.findall(r"(\w+)\s*::\s*(\w+|\*)", text))


VERILOG = Language(
    "verilog", title="Verilog",
    lines=LineRule(
        rb"^[ \t]*+(?:(?:virtual|static|automatic|interface)[ \t]+)*(?P<word>module|interface|package|program|class|checker|covergroup)"
        rb"[ \t]+(?:(?:static|automatic)[ \t]+)?(?P<type>\w+)"
        rb"|^[ \t]*+(?:extern|pure|import[ \t]+\"[^\"\n]*\")[ \t][^;(\n]*?\b(?:function|task)\b[^;(\n]*?"
        rb"(?P<function2>\w+)[ \t]*(?=[(;])"
        rb"|^[ \t]*+(?:(?:virtual|static|automatic|local|protected)[ \t]+)*(?P<word2>function|task)\b[^;(]{0,200}?"
        rb"(?P<function>(?:\w+::)?\w+)\s*(?=[(;])"
        rb"|^[ \t]*+(?P<word3>property|sequence)[ \t]+(?P<function3>\w+)"
        rb"|^[ \t]*+typedef[ \t]+(?!class\b)(?:[^;{}]|\{[^{}]*\}){0,400}?\b(?P<type2>\w+)(?:[ \t]*\[[^\]\n]*\])*[ \t]*;"
        rb"|^[ \t]*+(?:parameter|localparam)[ \t]+(?:[\w:\[\]$*+-]+[ \t]+){0,8}?(?P<value>\w+)[ \t]*(?==)"
        rb"|^[ \t]*+`define[ \t]+(?P<value2>\w+)",
        noise=SLASHED_NOISE + rb"|" + DOUBLE_NOISE, paired=rb"end%s\b", attributes=rb"\(\*",
        imported=rb"^[ \t]*(?:import[ \t]+\w+[ \t]*::[^;\n]+;|`include[ \t]+[^\n]+)",
        calls=rb"^[ \t]*([A-Za-z_]\w*)[ \t]+(?:#[ \t]*\(|\w+[ \t]*\()", bases=rb"\bextends[ \t]+(\w+)",
    ),
    lexis=COMMON_LEXIS, has_single_quotes=False,
    references=ReferenceRule(is_open=True, own=words("this"), parents=words("super"), constructors=words("new")),
    imports=ImportRule(_read_verilog_import), resolver=IncludeResolver,
)  # fmt: skip


def _read_vhdl_import(text: str) -> Iterator[Taken]:
    yield from ((match[1], (match[2],)) for match in re.finditer(r"(\w+\.\w+)(?:\.(\w+))?", text) if match[2])


VHDL = Language(
    "vhdl", title="VHDL",
    lines=LineRule(
        rb"(?i:^[ \t]*+(?:entity|component)[ \t]+(?P<type>\w+)(?=[ \t]+is\b|[ \t]*$)"
        rb"|^[ \t]*+(?:architecture[ \t]+(?P<module>\w+)[ \t]+of|package[ \t]+(?:body[ \t]+)?(?P<module2>\w+)[ \t]+is)\b"
        rb"|^[ \t]*+(?:(?:pure|impure)[ \t]+)?(?:function|procedure)[ \t]+(?P<function>\w+|\"[^\"\n]+\")"
        rb"|^[ \t]*+(?P<function2>\w+)[ \t]*:[ \t]*(?:postponed[ \t]+)?process\b"
        rb"|^[ \t]*+(?:sub)?type[ \t]+(?P<type2>\w+)"
        rb"|^[ \t]*+(?:constant|signal|shared[ \t]+variable|alias)[ \t]+(?P<value>\w+))",
        noise=rb"--[^\n]*|/\*(?s:.*?)(?:\*/|\Z)|" + DOUBLE_NOISE, closing=rb"(?i:end\b)|\)",
        going_on=rb"(?i:(?:begin|is|return|port|generic)\b)|\)[ \t]*(?i:is|return)\b", imported=rb"(?i:^[ \t]*use[ \t]+[^;\n]+;)",
        calls=rb"(?i:entity[ \t]+\w+\.|:[ \t]*(?:component[ \t]+)?)(\w+)(?=\s*(?:\(\w+\)\s*)?(?i:generic|port)\b)",
    ),
    comments=DASHED, has_single_quotes=False, references=ReferenceRule(is_open=True), imports=ImportRule(_read_vhdl_import),
)  # fmt: skip

_LOCAL_LABEL = (
    rb"(?:L(?:BB|BE|C|CPI|FB|FE|JTI|VL|loh|tmp|func_begin|func_end)?\d|L_\.|\$(?:BB|LN?|M|SG|T)\d|\$L_|\$\w+\$"
    rb"|(?:loc(?:ret)?_|inst_|lbl_)[\dA-Fa-f]+:|_[\dA-F]{8}:)"
)
"""The beginning of a label that a compiler or disassembler made: part of a function, and no name that anyone looks for."""
ASSEMBLY = Language(
    "assembly", title="Assembly",
    lines=LineRule(
        rb"^(?!" + _LOCAL_LABEL + rb")(?P<function>[A-Za-z_$][\w.$@]*):(?!=)"
        rb"|^[ \t]*+(?i:[.%]?macro)[ \t]+(?P<function2>[A-Za-z_]\w*)"
        rb"|^(?:SYM_FUNC_START(?:_\w+)?|ENTRY|FUNC(?:TION)?|SYM_CODE_START(?:_\w+)?)\((?P<function3>\w+)\)"
        rb"|^(?P<function4>[A-Za-z_]\w*)[ \t]+(?i:macro|proc)\b"
        rb"|^[ \t]*+[.%]?(?:equ|set|define)[ \t]+(?P<value>[A-Za-z_]\w*)",
        noise=SLASHED_NOISE + rb"|" + DOUBLE_NOISE + rb"|;[^\n]*|^[ \t]*#[ \t][^\n]*", closing=rb"(?!)",
        going_on=_LOCAL_LABEL + rb"|\.L\w*:|\d+:|[.%#](?!macro)|(?i:endp|endm)\b",
        imported=rb"^[ \t]*[.#%]include[ \t]+[^\n]+", called=rb"(?!)",
        calls=rb"^[ \t]+(?:call[lq]?|bl|blx|jal|jsr|b|jmp|j)[ \t]+(?:\w+,[ \t]*)?([A-Za-z_]\w*)",
    ),
    comments=Comments(pattern=r";[^\n]*|//[^\n]*|/\*.*?\*/", start="; "),
    references=ReferenceRule(is_open=True, kin="c"), imports=ImportRule(read_include), resolver=IncludeResolver,
)  # fmt: skip

LANGUAGES = (VERILOG, VHDL, ASSEMBLY)
