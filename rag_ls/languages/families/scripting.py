"""Languages of scripts and shells."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.conventions import read_tests
from rag_ls.languages.imports import (
    ImportRule,
    Taken,
    first_word,
    first_words,
    import_calls,
    read_match,
    read_second_word,
    read_strings,
    split_list,
)
from rag_ls.languages.language import UNLESS_UNDERSCORED, ExportRule, Language
from rag_ls.languages.line_rules import read_line_rule
from rag_ls.languages.patterns import DASHED, HASHED, Comments
from rag_ls.languages.reference_rules import ReferenceRule, read_references
from rag_ls.languages.registry import resolve_by_file
from rag_ls.languages.syntax import read_syntax, words

LUA = Language(
    "lua",
    syntax=read_syntax("lua"),
    comments=DASHED, is_matched=True,
    references=read_references("lua"),
    imports=import_calls(read_strings, "function_call name: (identifier)", "require", "dofile"),
    exports=ExportRule(lambda _name, signature, _member: not signature.startswith("local ")),
)  # fmt: skip


def _read_perl_import(text: str) -> Iterator[Taken]:
    match = re.match(r"(?:use|require)\s+[\"']?([A-Za-z_][\w:./]*)(.*)", text, re.DOTALL)
    if match is None or re.match(r"v\d", match[1]):
        return
    module, rest = match.groups()
    names = tuple(re.findall(r"[\w:]+", re.sub(r"(?<![\w:])qw\b|-\w+", " ", rest)))
    if module in ("parent", "base", "Mojo::Base"):
        yield from ((word, ()) for word in names)
    if module not in ("parent", "base"):
        yield module, names if re.match(r"\s*(?:qw\b|[\"'(])", rest) else ()


PERL = Language(
    "perl", title="Perl",
    lines=read_line_rule("perl"),
    comments=HASHED, references=ReferenceRule(is_open=True, own=words("self class"), parents=words("SUPER")),
    imports=ImportRule(_read_perl_import), is_named_by_tools=True,
    exports=ExportRule(lambda name, signature, _member: not (name.startswith("_") or signature.startswith("my "))),
    resolver=resolve_by_file(
        lambda module: [
            (module if module.endswith((".pl", ".pm")) else module.replace("::", "/") + ".pm").removeprefix("./"),
        ],
    ),
    tests=read_tests("perl"),
)  # fmt: skip


R = Language(
    "r", syntax=read_syntax("r"), comments=HASHED,
    references=ReferenceRule(is_open=True, calls=("(call function: (_) @call)",), skipped=("(argument name: (_) @skip)",)),
    imports=import_calls(
        read_match(r"\(\s*[\"']?([^\"',)]*[^\"',)\s])"), "call function: (identifier)", "library", "require", "source",
        "requireNamespace",
    ),
)  # fmt: skip


def _read_julia_import(text: str) -> Iterator[Taken]:
    if text.startswith("include"):
        yield from read_strings(text)
        return
    module, colon, names = re.sub(r"^(?:using|import)\s+", "", text).partition(":")
    if colon:
        yield module.strip(), first_words(names)
    else:
        yield from ((first_word(part), ()) for part in split_list(module))


JULIA = Language(
    "julia",
    syntax=read_syntax("julia"),
    comments=HASHED, references=ReferenceRule(is_open=True, calls=("(call_expression . (_) @call)",)),
    imports=import_calls(
        _read_julia_import, "call_expression . (identifier)", "include", types=("using_statement", "import_statement"),
    ),
)  # fmt: skip


GDSCRIPT = Language(
    "gdscript", title="GDScript",
    syntax=read_syntax("gdscript"),
    comments=HASHED, is_indented=True,
    references=read_references("gdscript"),
    imports=import_calls(read_strings, "call . (identifier)", "preload", "load"), exports=UNLESS_UNDERSCORED,
)  # fmt: skip


VIM = Language(
    "vim", title="Vim script",
    lines=read_line_rule("vim"),
    comments=Comments(pattern=r'(?m)^[ \t]*"[^\n]*', start='" '), references=ReferenceRule(is_open=True),
    imports=ImportRule(read_match(r"^(?:source|so|runtime!?|import(?:\s+autoload)?)\s+['\"]?([^\s'\"|]+)")),
)  # fmt: skip

MATLAB = Language(
    "matlab", title="MATLAB",
    lines=read_line_rule("matlab"),
    comments=Comments(pattern=r"%[^\n]*", start="% "), has_single_quotes=False, references=ReferenceRule(is_open=True),
)  # fmt: skip


BASH = Language(
    "bash",
    syntax=read_syntax("bash"),
    comments=HASHED, is_matched=True,
    references=ReferenceRule(is_open=True, calls=("(command name: (command_name) @call)",), names=words("command_name variable_name")),
    imports=import_calls(read_match(r"^\S+\s+[\"']*(\S*?)[\"']*(?!\S)"), "command name: (command_name)", "source", "."),
)  # fmt: skip

FISH = Language(
    "fish", title="Fish",
    lines=read_line_rule("fish"),
    comments=HASHED, references=ReferenceRule(is_open=True), imports=ImportRule(read_second_word),
)  # fmt: skip


POWERSHELL = Language(
    "powershell",
    syntax=read_syntax("powershell"),
    comments=HASHED, references=ReferenceRule(names=words("command_name simple_name variable type_identifier"), own=words("$this")),
    imports=import_calls(
        read_match(r"(?i)^(?:Import-Module|using\s+\w+|\.)\s+(?:-Name\s+)?[\"']?([^\s\"';]+)"), "command", "Import-Module",
        "import-module", "using", ".",
    ),
)  # fmt: skip


TCL = Language(
    "tcl", title="Tcl",
    lines=read_line_rule("tcl"),
    comments=HASHED, references=ReferenceRule(is_open=True, own=words("my self")),
    imports=ImportRule(read_match(r"^(?:package\s+require|source)\s+(?:-\w+\s+)?[\"{]?([^\s\"{}\]]+)")),
)  # fmt: skip

LANGUAGES = (LUA, PERL, R, JULIA, GDSCRIPT, VIM, MATLAB, BASH, FISH, POWERSHELL, TCL)
