"""Assembly of several dialects, read by its lines: labels, macros, procedures."""

from __future__ import annotations

from rag_ls.languages.comments import Comments
from rag_ls.languages.import_readers import read_include
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import DOUBLE_NOISE, SLASHED_NOISE, LineRule
from rag_ls.languages.reference_rules import ReferenceRule

_LOCAL = (
    rb"(?:L(?:BB|BE|C|CPI|FB|FE|JTI|VL|loh|tmp|func_begin|func_end)?\d|L_\.|\$(?:BB|LN?|M|SG|T)\d|\$L_|\$\w+\$"
    rb"|(?:loc(?:ret)?_|inst_|lbl_)[\dA-Fa-f]+:|_[\dA-F]{8}:)"
)
"""The beginning of a label that a compiler or disassembler made: part of a function, and no name that anyone looks for."""

ASSEMBLY = Language(
    name="assembly",
    title="Assembly",
    aliases=("asm68k", "gas"),
    suffixes=("asm", "s", "nasm", "a51"),
    lines=LineRule(
        declared=(
            rb"^(?!" + _LOCAL + rb")(?P<function>[A-Za-z_$][\w.$@]*):(?!=)"
            rb"|^[ \t]*+(?i:[.%]?macro)[ \t]+(?P<function2>[A-Za-z_]\w*)"
            rb"|^(?:SYM_FUNC_START(?:_\w+)?|ENTRY|FUNC(?:TION)?|SYM_CODE_START(?:_\w+)?)\((?P<function3>\w+)\)"
            rb"|^(?P<function4>[A-Za-z_]\w*)[ \t]+(?i:macro|proc)\b"
            rb"|^[ \t]*+[.%]?(?:equ|set|define)[ \t]+(?P<value>[A-Za-z_]\w*)"
        ),
        noise=SLASHED_NOISE + rb"|" + DOUBLE_NOISE + rb"|;[^\n]*|^[ \t]*#[ \t][^\n]*",
        closing=rb"(?!)",
        going_on=_LOCAL + rb"|\.L\w*:|\d+:|[.%#](?!macro)|(?i:endp|endm)\b",
        imported=rb"^[ \t]*[.#%]include[ \t]+[^\n]+",
        called=rb"(?!)",
        calls=rb"^[ \t]+(?:call[lq]?|bl|blx|jal|jsr|b|jmp|j)[ \t]+(?:\w+,[ \t]*)?([A-Za-z_]\w*)",
    ),
    comments=Comments(pattern=r";[^\n]*|//[^\n]*|/\*.*?\*/", start="; "),
    references=ReferenceRule(is_open=True, kin="c"),
    imports=ImportRule(read_include),
    resolver=IncludeResolver,
)
