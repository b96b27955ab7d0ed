"""C and the languages that share its includes."""

from __future__ import annotations

from rag_ls.languages.exports import UNLESS_STATIC
from rag_ls.languages.families.conditionals import choose_branches
from rag_ls.languages.imports import ImportRule, read_include
from rag_ls.languages.language import Language
from rag_ls.languages.patterns import COMMON_LEXIS
from rag_ls.languages.reference_rules import NEW, PREFIX_TYPE, ReferenceRule
from rag_ls.languages.resolvers import IncludeResolver
from rag_ls.languages.syntax import Syntax, declare, words
from rag_ls.util.records import replace


def c_syntax(grammar: str, masked: bytes = b"") -> Syntax:
    """Return the syntax of C or C++."""
    return Syntax(grammar, declare("""
        type struct_specifier union_specifier enum_specifier class_specifier, \
            when body is field_declaration_list enumerator_list
        type type_definition, names declarator*
        type alias_declaration concept_definition
        function function_definition, names declarator*
        function preproc_function_def
        value declaration field_declaration, names declarator*, when declarator is function_declarator, listed function
        value declaration field_declaration, names declarator*, when declarator/declarator is function_declarator, listed function
        value declaration field_declaration, names declarator*, \
            when declarator/<function_declarator is function_declarator, listed function
        value declaration field_declaration, names declarator*
        value preproc_def
        scope namespace_definition
    """),
        masked=masked, variants=choose_branches, wrappers=words("template_declaration"),
        transparent=words("preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef linkage_specification"),
    )  # fmt: skip


_TYPE = (
    r"(?:^|[;{}(,<])\s*(?:(?:const|constexpr|enum|explicit|extern|inline|mutable|register|static|struct|typename|union|volatile)\s+)*"
    r"((?!(?:auto|case|delete|else|goto|new|operator|return|throw|typedef|using)\b)(?:\w+::)*[A-Za-z_]\w*)(?:<[^;(){}]*>)?"
    r"(?:\s+const)?[\s*&]+{name}\s*(?:[=;,):\[{]|$)"
)
"""`const cart_t *cart`, `std::unique_ptr<Cart> cart`."""
_RESULT = r"((?:\w+::)*[A-Za-z_]\w*)(?:<[^;(){}]*>)?[\s*&]+(?:\w+::)*{name}\s*\("
# Nothing of a macro's body is parsed.
C_REFERENCES = ReferenceRule(
    is_open=True, kin="c", calls=("(call_expression function: (_) @call)",), words=("(preproc_arg) @words",),
    is_declared=True, types_precede=True, has_prototypes=True, types=(_TYPE,), returns=_RESULT,
)  # fmt: skip
C = Language(
    "c", title="C", syntax=c_syntax("c"), lexis=COMMON_LEXIS, is_matched=True, references=C_REFERENCES,
    imports=ImportRule(read_include, ("preproc_include",)), exports=UNLESS_STATIC, resolver=IncludeResolver,
)  # fmt: skip

_EXPORTED = (
    rb"(\b(?:class|struct|union)\s+(?:alignas\([^()]*\)\s*)?)([A-Z][A-Z0-9_]+(?:\([^()\n]*\))?)"
    rb"(?=\s+[A-Za-z_][\w:]*(?:<[^<>;{}]*>)?\s*(?:final\b\s*)?(?:\{|:(?!:)))"
)
"""A macro before the name of a class, which the grammar takes for the name: `class SHOP_EXPORT Cart {`."""
CPP = Language(
    "cpp", title="C++", syntax=c_syntax("cpp", _EXPORTED), lexis=COMMON_LEXIS, is_matched=True,
    references=C_REFERENCES._replace(
        members_apart=True, is_overloaded=True,
        calls=(
            "(call_expression function: (_) @call)", "(template_function name: (_) @call)", "(template_method name: (_) @call)",
            "(new_expression type: (_) @call)",
        ),
        bases=("(base_class_clause (_) @base)", "(base_class_clause (template_type name: (_) @base))"), own_is_implied=True,
        types=(*C_REFERENCES.types, NEW), wrappers=words("optional reference_wrapper shared_ptr unique_ptr weak_ptr"),
    ),
    imports=ImportRule(read_include, ("preproc_include",)), exports=UNLESS_STATIC, resolver=IncludeResolver,
)  # fmt: skip

CUDA = replace(CPP, name="cuda", title="CUDA", syntax=c_syntax("cuda"), is_matched=False)
GLSL = replace(C, name="glsl", title="GLSL", syntax=c_syntax("glsl"), is_matched=False)
HLSL = replace(C, name="hlsl", title="HLSL", syntax=c_syntax("hlsl"), is_matched=False)
OBJECTIVE_C = Language(
    "objective-c",
    syntax=Syntax("objc", declare("""
        type class_interface class_implementation protocol_declaration category_interface \
            category_implementation, names <identifier
        function method_definition, names <identifier
        value method_declaration, names <identifier, listed function
        function function_definition, names declarator*
        value property_declaration, names <struct_declaration/<struct_declarator/<identifier \
            <struct_declaration/<struct_declarator/<pointer_declarator/<identifier
        type struct_specifier, when body is field_declaration_list
        value declaration, names declarator*
    """), wrappers=words("implementation_definition")),
    references=ReferenceRule(
        is_open=True, kin="c", calls=("(call_expression function: (_) @call)",), own_is_implied=True, types=(PREFIX_TYPE,),
    ),
    imports=ImportRule(read_include, ("preproc_include", "module_import")), exports=UNLESS_STATIC, resolver=IncludeResolver,
)  # fmt: skip

LANGUAGES = (C, CPP, CUDA, GLSL, HLSL, OBJECTIVE_C)
