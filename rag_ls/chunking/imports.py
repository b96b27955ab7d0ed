"""Finds and reads the imports of each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_ls.chunking import import_readers as read
from rag_ls.chunking.document import Document
from rag_ls.chunking.import_readers import Reader
from rag_ls.chunking.import_uses import Statement, statement_of
from rag_ls.model import Import

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_STATEMENT = 8_192
MAX_MODULE = 300


@dataclass(frozen=True, slots=True)
class ImportRule:
    """How to find and read the imports of one language."""

    reader: Reader
    types: tuple[str, ...] = ()
    """Nodes that are always imports."""
    calls: tuple[str, ...] = ()
    """Queries for nodes that may be imports; each captures one as `@call`."""
    words: tuple[bytes, ...] = ()
    """The words with which a call must begin to be an import."""


def _calls(reader: Reader, types: tuple[str, ...], query: str, *words: str) -> ImportRule:
    """Calls that begin with one of the words."""
    return ImportRule(reader, types, (f"({query}) @call",), tuple(word.encode() for word in words))


_JAVASCRIPT = ImportRule(
    read.javascript,
    ("import_statement",),
    (
        "(export_statement source: (_)) @call",
        "(call_expression function: (identifier) arguments: (arguments . (string))) @call",
        "(call_expression function: (import) arguments: (arguments . (string))) @call",
    ),
    (b"require", b"import", b"export"),
)

_MARKUP = ImportRule(
    read.markup,
    ("script_element",),
    ("(element) @call",),
    (b"<link", b"<LINK"),
)

IMPORTS: Mapping[str, ImportRule] = {
    "bash": _calls(read.bash, (), "command name: (command_name)", "source", "."),
    "c": ImportRule(read.include, ("preproc_include",)),
    "cpp": ImportRule(read.include, ("preproc_include",)),
    "csharp": ImportRule(read.csharp, ("using_directive",)),
    "css": ImportRule(read.css, ("import_statement",)),
    "dart": ImportRule(read.dart, ("import_or_export", "part_directive")),
    "elixir": _calls(read.elixir, (), "call target: (identifier)", "alias", "import", "use", "require"),
    "go": ImportRule(read.go, ("import_spec",)),
    "haskell": ImportRule(read.haskell, ("import",)),
    "html": _MARKUP,
    "java": ImportRule(read.dotted, ("import_declaration",)),
    "javascript": _JAVASCRIPT,
    "julia": _calls(read.julia, ("using_statement", "import_statement"), "call_expression . (identifier)", "include"),
    "kotlin": ImportRule(read.dotted, ("import_header",)),
    "lua": _calls(read.quoted, (), "function_call name: (identifier)", "require", "dofile"),
    "ocaml": ImportRule(read.view, ("open_module", "include_module")),
    "php": ImportRule(
        read.php,
        (
            *("namespace_use_declaration", "include_expression", "include_once_expression"),
            *("require_expression", "require_once_expression"),
        ),
    ),
    "python": ImportRule(read.python, ("import_statement", "import_from_statement", "future_import_statement")),
    "r": _calls(read.r, (), "call function: (identifier)", "library", "require", "source", "requireNamespace"),
    "ruby": _calls(read.ruby, (), "call method: (identifier)", "require", "require_relative", "load"),
    "rust": ImportRule(
        read.rust, ("use_declaration", "extern_crate_declaration"), ("(mod_item !body) @call",), (b"mod", b"pub")
    ),
    "scala": ImportRule(read.scala, ("import_declaration",)),
    "svelte": _MARKUP,
    "swift": ImportRule(read.swift, ("import_declaration",)),
    "tsx": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "vue": _MARKUP,
    "cmake": _calls(read.second_word, (), "normal_command", "include", "add_subdirectory", "find_package"),
    "elm": ImportRule(read.haskell, ("import_clause",)),
    "erlang": ImportRule(read.erlang, ("pp_include", "pp_include_lib", "import_attribute")),
    "fortran": ImportRule(read.second_word, ("use_statement",)),
    "gleam": ImportRule(read.gleam, ("import",)),
    "make": ImportRule(read.makefile, ("include_directive",)),
    "nix": ImportRule(read.nix, (), ("(apply_expression) @call",), (b"import",)),
    "objective-c": ImportRule(read.include, ("preproc_include", "module_import")),
    "powershell": _calls(read.powershell, (), "command", "Import-Module", "import-module", "using", "."),
    "protobuf": ImportRule(read.quoted, ("import",)),
    "scss": ImportRule(read.css, ("import_statement", "use_statement", "forward_statement")),
    "solidity": ImportRule(read.solidity, ("import_directive",)),
    "thrift": ImportRule(read.quoted, ("include_statement",)),
    "zig": _calls(read.quoted, (), "SuffixExpr . (BUILTINIDENTIFIER)", "@import", "@cImport"),
}
"""By language name; imports of other languages are not read."""


def imports_of(node: Node, rule: ImportRule, document: Document) -> list[Statement]:
    """The imports of one node that the rule found, in the order of the text; empty if it cannot be read."""
    start = node.start_byte
    text = document.data[start : min(node.end_byte, start + _MAX_STATEMENT)].decode("utf-8", "ignore")
    line = document.line(start)
    return [
        # Where the code is broken, a name may be missing.
        statement_of(Import(module, tuple(filter(None, names)), line), text, document.data, start)
        for module, names in rule.reader(text)
        if module and len(module) <= MAX_MODULE and "\n" not in module
    ]
