"""Languages that are compiled or describe hardware, and have no family of their own here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.imports import (
    STRING,
    ImportRule,
    Taken,
    first_word,
    first_words,
    import_calls,
    read_include,
    read_second_word,
    read_strings,
    split_list,
)
from rag_ls.languages.language import UNLESS_PRIVATE, ExportRule, Language
from rag_ls.languages.line_rules import read_line_rule
from rag_ls.languages.patterns import COMMON_LEXIS, DASHED, HASHED, Comments
from rag_ls.languages.reference_rules import COLON_TYPE, CONSTRUCTED, ReferenceRule, read_references
from rag_ls.languages.registry import IncludeResolver, resolve_by_file
from rag_ls.languages.syntax import read_syntax, words

ZIG = Language(
    "zig",
    syntax=read_syntax("zig"),
    references=ReferenceRule(names=words("IDENTIFIER")),
    imports=import_calls(read_strings, "SuffixExpr . (BUILTINIDENTIFIER)", "@import", "@cImport"),
    exports=ExportRule(lambda _name, _signature, _member: False, prefix=b"pub"),
)  # fmt: skip


def _read_d_import(text: str) -> Iterator[Taken]:
    modules, colon, names = re.sub(r"^(?:(?:public|static|private)\s+)*import\s+", "", text.rstrip(";")).partition(":")
    *others, last = [first_word(part.rpartition("=")[2].strip()) for part in split_list(modules)] or [""]
    yield from ((module, ()) for module in others)
    if last:
        yield last, first_words(names) if colon else ()


D = Language(
    "d", title="D",
    syntax=read_syntax("d"),
    lexis=COMMON_LEXIS,
    references=read_references("d"),
    imports=ImportRule(_read_d_import, ("import_declaration",)), exports=UNLESS_PRIVATE,
    resolver=resolve_by_file(lambda module: [module.replace(".", "/") + end for end in (".d", "/package.d")]),
)  # fmt: skip


def _read_nim_import(text: str) -> Iterator[Taken]:
    text = re.sub(r"#[^\n]*", " ", text)
    if match := re.match(r"from\s+([\w./]+)\s+import\s+(.*)", text, re.DOTALL):
        yield match[1], first_words(match[2])
        return
    body = re.sub(r"^(?:import|include)\s+", "", text).partition(" except ")[0]
    for folder, names in re.findall(r"([\w./]+)/\[([^\]]*)\]", body):
        yield from ((f"{folder}/{name}", ()) for name in split_list(names))
    yield from ((first_word(part), ()) for part in split_list(re.sub(r"[\w./]+/\[[^\]]*\]", "", body)))


NIM = Language(
    "nim", title="Nim",
    lines=read_line_rule("nim"),
    comments=HASHED, has_single_quotes=False, is_indented=True, references=ReferenceRule(is_open=True, types=(COLON_TYPE, CONSTRUCTED)),
    imports=ImportRule(_read_nim_import),
    exports=ExportRule(lambda name, signature, _member: re.search(rf"(?:^|\s){re.escape(name)}`?\*", signature) is not None),
    resolver=resolve_by_file(lambda module: [re.sub(r"^(?:\.{1,2}/)+", "", module) + ".nim"]),
)  # fmt: skip


def _read_ada_import(text: str) -> Iterator[Taken]:
    names = re.sub(r"(?i)^(?:limited\s+|private\s+)*with\s+", "", text).rstrip(";")
    yield from ((name, ()) for name in split_list(names))


ADA = Language(
    "ada", title="Ada",
    lines=read_line_rule("ada"),
    comments=DASHED, has_single_quotes=False, references=ReferenceRule(is_open=True), imports=ImportRule(_read_ada_import),
)  # fmt: skip

_PASCAL_COMMENTS = r"//[^\n]*|\{.*?\}|\(\*.*?\*\)"


def _read_pascal_import(text: str) -> Iterator[Taken]:
    names = re.sub(f"(?s){_PASCAL_COMMENTS}", " ", text).strip()[len("uses") :]
    yield from ((name.split()[0], ()) for name in split_list(names.rstrip(";")))


PASCAL = Language(
    "pascal", title="Pascal",
    lines=read_line_rule("pascal"),
    comments=Comments(pattern=_PASCAL_COMMENTS, start="// "),
    references=ReferenceRule(is_open=True, members_apart=True, types=(COLON_TYPE,), own=words("Self"), parents=words("inherited")),
    imports=ImportRule(_read_pascal_import), resolver=resolve_by_file(lambda module: [f"{module}.pas"]),
)  # fmt: skip

FORTRAN = Language(
    "fortran",
    syntax=read_syntax("fortran"),
    comments=Comments(pattern=r"![^\n]*", start="! "),
    references=ReferenceRule(calls=("(subroutine_call subroutine: (_) @call)", "(call_expression . (_) @call)")),
    imports=ImportRule(read_second_word, ("use_statement",)),
)  # fmt: skip


def _read_solidity_import(text: str) -> Iterator[Taken]:
    strings = list(re.finditer(STRING, text))
    braces = re.search(r"\{(.*)\}", text, re.DOTALL)
    if strings:
        yield strings[-1][2], first_words(braces[1]) if braces else ()


SOLIDITY = Language(
    "solidity",
    syntax=read_syntax("solidity"),
    is_matched=True,
    references=read_references("solidity"),
    imports=ImportRule(_read_solidity_import, ("import_directive",)), exports=UNLESS_PRIVATE,
)  # fmt: skip


def _read_verilog_import(text: str) -> Iterator[Taken]:
    if match := re.match(r"`include\s+[\"<]([^\">]+)", text):
        yield match[1], ()
    yield from ((package, (name,)) for package, name in re.findall(r"(\w+)\s*::\s*(\w+|\*)", text))


VERILOG = Language(
    "verilog", title="Verilog",
    lines=read_line_rule("verilog"),
    lexis=COMMON_LEXIS, has_single_quotes=False,
    references=ReferenceRule(is_open=True, own=words("this"), parents=words("super"), constructors=words("new")),
    imports=ImportRule(_read_verilog_import), resolver=IncludeResolver,
)  # fmt: skip


def _read_vhdl_import(text: str) -> Iterator[Taken]:
    yield from ((match[1], (match[2],)) for match in re.finditer(r"(\w+\.\w+)(?:\.(\w+))?", text) if match[2])


VHDL = Language(
    "vhdl", title="VHDL",
    lines=read_line_rule("vhdl"),
    comments=DASHED, has_single_quotes=False, references=ReferenceRule(is_open=True), imports=ImportRule(_read_vhdl_import),
)  # fmt: skip

ASSEMBLY = Language(
    "assembly", title="Assembly",
    lines=read_line_rule("assembly"),
    comments=Comments(pattern=r";[^\n]*|//[^\n]*|/\*.*?\*/", start="; "),
    references=ReferenceRule(is_open=True, kin="c"), imports=ImportRule(read_include), resolver=IncludeResolver,
)  # fmt: skip

LANGUAGES = (ZIG, D, NIM, ADA, PASCAL, FORTRAN, SOLIDITY, VERILOG, VHDL, ASSEMBLY)
