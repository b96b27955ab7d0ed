"""C."""

from __future__ import annotations

from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.conditionals import choose_branches
from rag_ls.languages.exports import UNLESS_STATIC
from rag_ls.languages.import_readers import read_include
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Declaration, Kind, Syntax, declare

_DECLARATOR = ("declarator*",)
_FUNCTION = frozenset({"function_declarator"})
_VARIABLE = (
    Declaration(Kind.VALUE, _DECLARATOR, when=("declarator", _FUNCTION), listed="function"),
    Declaration(Kind.VALUE, _DECLARATOR, when=("declarator/declarator", _FUNCTION), listed="function"),
    # `Cart& add(int size);`
    Declaration(Kind.VALUE, _DECLARATOR, when=("declarator/<function_declarator", _FUNCTION), listed="function"),
    Declaration(Kind.VALUE, _DECLARATOR),
)


def c_syntax(grammar: str, masked: bytes = b"") -> Syntax:
    """The syntax of C or C++."""
    body = ("body", frozenset({"field_declaration_list", "enumerator_list"}))
    declarations = {
        **{
            type_: (Declaration(Kind.TYPE, when=body),)
            for type_ in ("struct_specifier", "union_specifier", "enum_specifier", "class_specifier")
        },
        **declare(Kind.TYPE, "type_definition", names=_DECLARATOR),
        **declare(Kind.TYPE, "alias_declaration", "concept_definition"),
        **declare(Kind.FUNCTION, "function_definition", names=_DECLARATOR),
        **declare(Kind.FUNCTION, "preproc_function_def"),
        **dict.fromkeys(("declaration", "field_declaration"), _VARIABLE),
        **declare(Kind.VALUE, "preproc_def"),
        **declare(Kind.SCOPE, "namespace_definition"),
    }
    preproc = {"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef"}
    return Syntax(
        grammar=grammar,
        masked=masked,
        variants=choose_branches,
        declarations=declarations,
        wrappers=frozenset({"template_declaration"}),
        transparent=frozenset(preproc | {"linkage_specification"}),
    )


_TYPE = (
    r"(?:^|[;{}(,<])\s*(?:(?:const|constexpr|enum|explicit|extern|inline|mutable|register|static|struct|typename|union|volatile)\s+)*"
    r"((?!(?:auto|case|delete|else|goto|new|operator|return|throw|typedef|using)\b)(?:\w+::)*[A-Za-z_]\w*)(?:<[^;(){}]*>)?"
    r"(?:\s+const)?[\s*&]+{name}\s*(?:[=;,):\[{]|$)"
)
"""`const cart_t *cart`, `std::unique_ptr<Cart> cart`."""
_RESULT = r"((?:\w+::)*[A-Za-z_]\w*)(?:<[^;(){}]*>)?[\s*&]+(?:\w+::)*{name}\s*\("
C_REFERENCES = ReferenceRule(
    is_open=True,
    kin="c",
    calls=("(call_expression function: (_) @call)",),
    # Nothing of a macro's body is parsed.
    words=("(preproc_arg) @words",),
    is_declared=True,
    types_precede=True,
    has_prototypes=True,
    types=(_TYPE,),
    returns=_RESULT,
)


C = Language(
    name="c",
    title="C",
    suffixes=("c", "h", "idc"),
    syntax=c_syntax("c"),
    lexis=COMMON_LEXIS,
    is_matched=True,
    references=C_REFERENCES,
    imports=ImportRule(read_include, ("preproc_include",)),
    exports=UNLESS_STATIC,
    resolver=IncludeResolver,
)
