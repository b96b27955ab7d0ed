"""Shells."""

from __future__ import annotations

from rag_ls.languages.imports import ImportRule, import_calls, read_match, read_second_word
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import line_rule
from rag_ls.languages.patterns import HASHED
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import read_syntax, words

BASH = Language(
    "bash",
    syntax=read_syntax("bash"),
    comments=HASHED, is_matched=True,
    references=ReferenceRule(is_open=True, calls=("(command name: (command_name) @call)",), names=words("command_name variable_name")),
    imports=import_calls(read_match(r"^\S+\s+[\"']*(\S*?)[\"']*(?!\S)"), "command name: (command_name)", "source", "."),
)  # fmt: skip

FISH = Language(
    "fish", title="Fish",
    lines=line_rule("fish"),
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
    lines=line_rule("tcl"),
    comments=HASHED, references=ReferenceRule(is_open=True, own=words("my self")),
    imports=ImportRule(read_match(r"^(?:package\s+require|source)\s+(?:-\w+\s+)?[\"{]?([^\s\"{}\]]+)")),
)  # fmt: skip

LANGUAGES = (BASH, FISH, POWERSHELL, TCL)
