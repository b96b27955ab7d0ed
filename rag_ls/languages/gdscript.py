"""GDScript."""

from __future__ import annotations

from rag_ls.languages.comments import HASHED
from rag_ls.languages.exports import ExportRule
from rag_ls.languages.import_readers import read_strings
from rag_ls.languages.import_rules import import_calls
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import COLON_TYPE, NAMES, ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare


def _is_public(name: str, _signature: str, _member: bool) -> bool:
    return not name.startswith("_")


GDSCRIPT = Language(
    name="gdscript",
    title="GDScript",
    suffixes=("gd",),
    syntax=Syntax(
        grammar="gdscript",
        declarations={
            **declare(Kind.TYPE, "class_definition", "enum_definition"),
            **declare(Kind.VALUE, "class_name_statement", listed="type"),
            **declare(Kind.FUNCTION, "function_definition"),
            **declare(Kind.FUNCTION, "constructor_definition", names=("=_init",)),
            **declare(
                Kind.VALUE,
                "const_statement",
                "variable_statement",
                "export_variable_statement",
                "onready_variable_statement",
            ),
            **declare(Kind.VALUE, "signal_statement"),
        },
        attributes=frozenset({"annotations", "annotation"}),
    ),
    comments=HASHED,
    is_indented=True,
    references=ReferenceRule(
        is_open=True,
        calls=("(call . (_) @call)", "(attribute_call . (_) @call)"),
        bases=("(extends_statement (_) @base)",),
        names=NAMES | {"name"},
        types=(COLON_TYPE,),
    ),
    imports=import_calls(read_strings, "call . (identifier)", "preload", "load"),
    exports=ExportRule(_is_public),
)
