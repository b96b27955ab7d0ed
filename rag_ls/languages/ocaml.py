"""OCaml."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import Comments
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare


def _read_import(text: str) -> Iterator[Taken]:
    """OCaml: everything of a module."""
    match = re.match(r"(?:open|include)!?\s+(?:type\s+)?([\w.]+)", text)
    if match:
        yield match[1], ("*",)


OCAML = Language(
    name="ocaml",
    suffixes=("ml",),
    interpreters=("ocaml",),
    syntax=Syntax(
        grammar="ocaml",
        declarations={
            **declare(Kind.TYPE, "type_binding", "class_binding", names=("name", "<class_name")),
            **declare(Kind.TYPE, "module_type_definition", names=("<module_type_name",)),
            **declare(Kind.TYPE, "exception_definition", names=("<constructor_declaration/<constructor_name",)),
            **declare(Kind.TYPE, "module_binding", names=("<module_name",), listed="module"),
            **declare(Kind.FUNCTION, "let_binding", names=("pattern",)),
            **declare(Kind.FUNCTION, "value_specification", names=("<value_name",)),
            **declare(Kind.FUNCTION, "method_definition", names=("<method_name",)),
        },
        wrappers=frozenset({"type_definition", "class_definition", "module_definition", "value_definition"}),
    ),
    comments=Comments(pattern=r"\(\*.*?\*\)", start="(* ", end=" *)"),
    has_single_quotes=False,
    references=ReferenceRule(
        calls=("(application_expression function: (_) @call)",),
        names=frozenset(
            "value_name constructor_name field_name module_name module_type_name type_constructor class_name method_name".split()
        ),
    ),
    imports=ImportRule(_read_import, ("open_module", "include_module")),
)
