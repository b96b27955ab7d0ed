"""PowerShell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_rules import Taken, import_calls
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare


def _read_import(text: str) -> Iterator[Taken]:
    match = re.match(r"(?:Import-Module|using\s+\w+|\.)\s+(?:-Name\s+)?[\"']?([^\s\"';]+)", text, re.IGNORECASE)
    if match:
        yield match[1], ()


POWERSHELL = Language(
    name="powershell",
    suffixes=("ps1", "psm1", "psd1"),
    interpreters=("pwsh", "powershell"),
    syntax=Syntax(
        grammar="powershell",
        one_line=True,
        declarations={
            **declare(Kind.FUNCTION, "function_statement", names=("<function_name",)),
            **declare(Kind.TYPE, "class_statement", "enum_statement", names=("<simple_name",)),
            **declare(Kind.FUNCTION, "class_method_definition", names=("<simple_name",)),
            **declare(Kind.VALUE, "class_property_definition", names=("<variable",)),
        },
        transparent=frozenset({"statement_list"}),
    ),
    comments=HASHED,
    references=ReferenceRule(
        names=frozenset({"command_name", "simple_name", "variable", "type_identifier"}), own=frozenset({"$this"})
    ),
    imports=import_calls(_read_import, "command", "Import-Module", "import-module", "using", "."),
)
