"""Languages of hardware, and assembly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.imports import ImportRule, Taken, read_include
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import line_rule
from rag_ls.languages.patterns import COMMON_LEXIS, DASHED, Comments
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.registry import IncludeResolver
from rag_ls.languages.syntax import words


def _read_verilog_import(text: str) -> Iterator[Taken]:
    if match := re.match(r"`include\s+[\"<]([^\">]+)", text):
        yield match[1], ()
    yield from ((package, (name,)) for package, name in re.findall(r"(\w+)\s*::\s*(\w+|\*)", text))


VERILOG = Language(
    "verilog", title="Verilog",
    lines=line_rule("verilog"),
    lexis=COMMON_LEXIS, has_single_quotes=False,
    references=ReferenceRule(is_open=True, own=words("this"), parents=words("super"), constructors=words("new")),
    imports=ImportRule(_read_verilog_import), resolver=IncludeResolver,
)  # fmt: skip


def _read_vhdl_import(text: str) -> Iterator[Taken]:
    yield from ((match[1], (match[2],)) for match in re.finditer(r"(\w+\.\w+)(?:\.(\w+))?", text) if match[2])


VHDL = Language(
    "vhdl", title="VHDL",
    lines=line_rule("vhdl"),
    comments=DASHED, has_single_quotes=False, references=ReferenceRule(is_open=True), imports=ImportRule(_read_vhdl_import),
)  # fmt: skip

ASSEMBLY = Language(
    "assembly", title="Assembly",
    lines=line_rule("assembly"),
    comments=Comments(pattern=r";[^\n]*|//[^\n]*|/\*.*?\*/", start="; "),
    references=ReferenceRule(is_open=True, kin="c"), imports=ImportRule(read_include), resolver=IncludeResolver,
)  # fmt: skip

LANGUAGES = (VERILOG, VHDL, ASSEMBLY)
