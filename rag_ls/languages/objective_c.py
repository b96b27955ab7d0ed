"""Objective-C."""

from __future__ import annotations

from rag_ls.languages.exports import UNLESS_STATIC
from rag_ls.languages.import_readers import read_include
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import PREFIX_TYPE, ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare

OBJECTIVE_C = Language(
    name="objective-c",
    aliases=("objc",),
    suffixes=("m", "mm"),
    syntax=Syntax(
        grammar="objc",
        declarations={
            **declare(
                Kind.TYPE, "class_interface", "class_implementation", "protocol_declaration", names=("<identifier",)
            ),
            **declare(Kind.TYPE, "category_interface", "category_implementation", names=("<identifier",)),
            **declare(Kind.FUNCTION, "method_definition", names=("<identifier",)),
            **declare(Kind.VALUE, "method_declaration", names=("<identifier",), listed="function"),
            **declare(Kind.FUNCTION, "function_definition", names=("declarator*",)),
            **declare(
                Kind.VALUE,
                "property_declaration",
                names=(
                    "<struct_declaration/<struct_declarator/<identifier",
                    "<struct_declaration/<struct_declarator/<pointer_declarator/<identifier",
                ),
            ),
            "struct_specifier": (Declaration(Kind.TYPE, when=("body", frozenset({"field_declaration_list"}))),),
            **declare(Kind.VALUE, "declaration", names=("declarator*",)),
        },
        wrappers=frozenset({"implementation_definition"}),
    ),
    references=ReferenceRule(
        is_open=True,
        kin="c",
        calls=("(call_expression function: (_) @call)",),
        own_is_implied=True,
        types=(PREFIX_TYPE,),
    ),
    imports=ImportRule(read_include, ("preproc_include", "module_import")),
    exports=UNLESS_STATIC,
    resolver=IncludeResolver,
)
