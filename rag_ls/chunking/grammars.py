"""The specification of each grammar: its declarations, their names, and the nodes that wrap or precede them.

Only grammars in `SPECS` are used: some of the language pack hang (cobol, on `x = 1`), and some
crash the process (perl, on strings nested in strings).
"""

from __future__ import annotations

from collections.abc import Mapping

from rag_ls.chunking import more_grammars as more
from rag_ls.chunking.specs import Declaration, Kind, LanguageSpec, declare
from rag_ls.chunking.text_grammars import CSS, JSON, MARKDOWN, TOML, YAML, markup

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function", "generator_function"})


_PYTHON = LanguageSpec(
    grammar="python",
    declarations={
        **declare(Kind.TYPE, "class_definition"),
        **declare(Kind.FUNCTION, "function_definition"),
        **declare(Kind.VALUE, "assignment", names=("left",)),
        **declare(Kind.VALUE, "type_alias_statement", names=("left", "<type")),
    },
    wrappers=frozenset({"decorated_definition", "expression_statement"}),
    docstrings=frozenset({"string", "expression_statement"}),
)

_JS_DECLARATIONS = {
    **declare(Kind.TYPE, "class_declaration", "class", "abstract_class_declaration", "interface_declaration"),
    **declare(Kind.TYPE, "enum_declaration", "type_alias_declaration"),
    **declare(Kind.FUNCTION, "function_declaration", "generator_function_declaration", "method_definition"),
    **declare(Kind.FUNCTION, "function_signature", "method_signature", "abstract_method_signature"),
    **declare(Kind.SCOPE, "internal_module", "module"),
    **declare(Kind.VALUE, "public_field_definition", "property_signature", names=("name",)),
    **declare(Kind.VALUE, "field_definition", names=("property", "name")),
    "variable_declarator": (
        Declaration(Kind.FUNCTION, ("name",), when=("value", _FUNCTIONS)),
        Declaration(Kind.TYPE, ("name",), when=("value", frozenset({"class"}))),
        Declaration(Kind.VALUE, ("name",)),
    ),
    "assignment_expression": (
        Declaration(Kind.FUNCTION, ("left",), when=("right", _FUNCTIONS)),
        Declaration(Kind.TYPE, ("left",), when=("right", frozenset({"class"}))),
    ),
    "pair": (Declaration(Kind.FUNCTION, ("key",), when=("value", _FUNCTIONS)),),
}


def _javascript(grammar: str) -> LanguageSpec:
    wrappers = {"export_statement", "lexical_declaration", "variable_declaration", "expression_statement"}
    return LanguageSpec(
        grammar=grammar,
        declarations=_JS_DECLARATIONS,
        wrappers=frozenset(wrappers | {"ambient_declaration"}),
        comments=frozenset({"comment", "html_comment"}),
        attributes=frozenset({"decorator"}),
        lambdas=_FUNCTIONS,
    )


_GO = LanguageSpec(
    grammar="go",
    declarations={
        **declare(Kind.TYPE, "type_spec", "type_alias"),
        **declare(Kind.FUNCTION, "function_declaration"),
        "method_declaration": (Declaration(Kind.FUNCTION, owner=("receiver/<parameter_declaration/type",)),),
        **declare(Kind.VALUE, "var_spec", "const_spec"),
    },
    wrappers=frozenset({"type_declaration", "var_declaration", "const_declaration"}),
)

_RUST = LanguageSpec(
    grammar="rust",
    declarations={
        **declare(Kind.TYPE, "struct_item", "enum_item", "union_item", "trait_item", "type_item"),
        **declare(Kind.FUNCTION, "function_item", "function_signature_item", "macro_definition"),
        **declare(Kind.VALUE, "const_item", "static_item"),
        **declare(Kind.SCOPE, "mod_item"),
        **declare(Kind.SCOPE, "impl_item", names=("type",), listed=""),
    },
    comments=frozenset({"line_comment", "block_comment"}),
    attributes=frozenset({"attribute_item"}),
    transparent=frozenset({"foreign_mod_item"}),
)

_C_DECLARATOR = ("declarator*",)
_C_FUNCTION = frozenset({"function_declarator"})
_C_VARIABLE = (
    Declaration(Kind.VALUE, _C_DECLARATOR, when=("declarator", _C_FUNCTION), listed="function"),
    Declaration(Kind.VALUE, _C_DECLARATOR, when=("declarator/declarator", _C_FUNCTION), listed="function"),
    Declaration(Kind.VALUE, _C_DECLARATOR),
)


def _c(grammar: str) -> LanguageSpec:
    body = ("body", frozenset({"field_declaration_list", "enumerator_list"}))
    declarations = {
        **{
            type_: (Declaration(Kind.TYPE, when=body),)
            for type_ in ("struct_specifier", "union_specifier", "enum_specifier", "class_specifier")
        },
        **declare(Kind.TYPE, "type_definition", names=_C_DECLARATOR),
        **declare(Kind.TYPE, "alias_declaration", "concept_definition"),
        **declare(Kind.FUNCTION, "function_definition", names=_C_DECLARATOR),
        **declare(Kind.FUNCTION, "preproc_function_def"),
        **dict.fromkeys(("declaration", "field_declaration"), _C_VARIABLE),
        **declare(Kind.VALUE, "preproc_def"),
        **declare(Kind.SCOPE, "namespace_definition"),
    }
    preproc = {"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef"}
    return LanguageSpec(
        grammar=grammar,
        declarations=declarations,
        wrappers=frozenset({"template_declaration"}),
        transparent=frozenset(preproc | {"linkage_specification"}),
    )


_JAVA = LanguageSpec(
    grammar="java",
    declarations={
        **declare(Kind.TYPE, "class_declaration", "interface_declaration", "enum_declaration"),
        **declare(Kind.TYPE, "record_declaration", "annotation_type_declaration"),
        **declare(Kind.FUNCTION, "method_declaration", "constructor_declaration"),
        **declare(Kind.FUNCTION, "compact_constructor_declaration"),
        **declare(Kind.VALUE, "field_declaration", "constant_declaration", names=("declarator/name",)),
    },
    comments=frozenset({"line_comment", "block_comment"}),
)

_CSHARP = LanguageSpec(
    grammar="csharp",
    declarations={
        **declare(Kind.TYPE, "class_declaration", "interface_declaration", "enum_declaration"),
        **declare(Kind.TYPE, "struct_declaration", "record_declaration", "delegate_declaration"),
        **declare(Kind.FUNCTION, "method_declaration", "constructor_declaration", "destructor_declaration"),
        **declare(Kind.FUNCTION, "local_function_statement", "property_declaration", "event_declaration"),
        "operator_declaration": (Declaration(Kind.FUNCTION, ("operator",)),),
        **declare(
            Kind.VALUE,
            "field_declaration",
            "event_field_declaration",
            names=(
                "<variable_declaration/<variable_declarator/name",
                "<variable_declaration/<variable_declarator",
            ),
        ),
        # Nameless, so that both forms of namespace give the same symbols.
        **declare(Kind.SCOPE, "namespace_declaration", names=()),
    },
    transparent=frozenset({"preproc_if", "preproc_else", "preproc_elif"}),
)

_KOTLIN = LanguageSpec(
    grammar="kotlin",
    declarations={
        **declare(Kind.TYPE, "class_declaration", "object_declaration", "type_alias", names=("<type_identifier",)),
        "companion_object": (Declaration(Kind.TYPE, ("<type_identifier", "=Companion")),),
        "function_declaration": (Declaration(Kind.FUNCTION, ("<simple_identifier",), owner=("receiver",)),),
        "secondary_constructor": (Declaration(Kind.FUNCTION, ("=constructor",)),),
        **declare(Kind.VALUE, "property_declaration", names=("<variable_declaration/<simple_identifier",)),
    },
    comments=frozenset({"line_comment", "multiline_comment"}),
    trailers=frozenset({"getter", "setter"}),
)

_SCALA = LanguageSpec(
    grammar="scala",
    declarations={
        **declare(Kind.TYPE, "class_definition", "object_definition", "trait_definition", "enum_definition"),
        **declare(Kind.TYPE, "type_definition", "given_definition", "package_object"),
        **declare(Kind.FUNCTION, "function_definition", "function_declaration"),
        **declare(Kind.VALUE, "val_definition", "var_definition", "val_declaration", names=("pattern", "name")),
    },
    comments=frozenset({"comment", "block_comment"}),
)

_SWIFT = LanguageSpec(
    grammar="swift",
    declarations={
        **declare(Kind.TYPE, "class_declaration", "protocol_declaration", "typealias_declaration"),
        **declare(Kind.FUNCTION, "function_declaration", "protocol_function_declaration", "macro_declaration"),
        "init_declaration": (Declaration(Kind.FUNCTION, ("=init",)),),
        "deinit_declaration": (Declaration(Kind.FUNCTION, ("=deinit",)),),
        "subscript_declaration": (Declaration(Kind.FUNCTION, ("=subscript",)),),
        **declare(Kind.VALUE, "property_declaration", "protocol_property_declaration"),
    },
    comments=frozenset({"comment", "multiline_comment"}),
)

_RUBY = LanguageSpec(
    grammar="ruby",
    declarations={
        **declare(Kind.TYPE, "class"),
        **declare(Kind.FUNCTION, "method", "singleton_method"),
        **declare(Kind.SCOPE, "module"),
        **declare(Kind.SCOPE, "singleton_class", names=()),
        "assignment": (Declaration(Kind.VALUE, ("left",), when=("left", frozenset({"constant"}))),),
    },
)

_PHP = LanguageSpec(
    grammar="php",
    declarations={
        **declare(Kind.TYPE, "class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"),
        **declare(Kind.FUNCTION, "function_definition", "method_declaration"),
        **declare(Kind.VALUE, "const_declaration", names=("<const_element/<name",)),
        **declare(Kind.VALUE, "property_declaration", names=("<property_element/name",)),
        **declare(Kind.SCOPE, "namespace_definition", names=()),
    },
)

_ELIXIR = LanguageSpec(
    grammar="elixir",
    declarations={
        "call": (
            Declaration(
                Kind.TYPE,
                ("<arguments/<alias",),
                when=("target", frozenset({"defmodule", "defprotocol", "defimpl"})),
                listed="module",
            ),
            Declaration(
                Kind.FUNCTION,
                (
                    "<arguments/<call/target",
                    "<arguments/<binary_operator/left/target",
                    "<arguments/<binary_operator/left",
                    "<arguments/<identifier",
                ),
                when=(
                    "target",
                    frozenset({"def", "defp", "defmacro", "defmacrop", "defguard", "defdelegate"}),
                ),
            ),
        ),
    },
    comments=frozenset({"comment", "unary_operator"}),
    docstrings=frozenset({"unary_operator"}),
    clauses=True,
)

_LUA = LanguageSpec(
    grammar="lua",
    declarations={
        **declare(Kind.FUNCTION, "function_declaration"),
        "assignment_statement": (
            Declaration(
                Kind.FUNCTION,
                ("<variable_list/name",),
                when=("<expression_list/value", frozenset({"function_definition"})),
            ),
            Declaration(Kind.VALUE, ("<variable_list/name",)),
        ),
    },
    wrappers=frozenset({"variable_declaration"}),
)

_BASH = LanguageSpec(
    grammar="bash",
    declarations={
        **declare(Kind.FUNCTION, "function_definition"),
        **declare(Kind.VALUE, "variable_assignment"),
    },
    wrappers=frozenset({"declaration_command"}),
)

_SQL = LanguageSpec(
    grammar="sql",
    declarations={
        **declare(
            Kind.FUNCTION,
            *("create_table", "create_view", "create_materialized_view", "create_trigger", "create_type"),
            *("create_schema", "create_database", "create_role", "create_sequence", "create_extension"),
            names=("<object_reference", "<identifier"),
            listed="type",
        ),
        **declare(Kind.FUNCTION, "create_index", names=("column", "<object_reference"), listed="value"),
        **declare(Kind.FUNCTION, "create_function", "create_procedure", names=("<object_reference",)),
    },
    wrappers=frozenset({"statement"}),
    comments=frozenset({"comment", "marginalia"}),
)

SPECS: Mapping[str, LanguageSpec] = {
    "bash": _BASH,
    "c": _c("c"),
    "cmake": more.CMAKE,
    "cpp": _c("cpp"),
    "csharp": _CSHARP,
    "css": CSS,
    "dart": more.DART,
    "dockerfile": more.DOCKERFILE,
    "elixir": _ELIXIR,
    "elm": more.ELM,
    "erlang": more.ERLANG,
    "fortran": more.FORTRAN,
    "gleam": more.GLEAM,
    "go": _GO,
    "graphql": more.GRAPHQL,
    "haskell": more.HASKELL,
    "hcl": more.HCL,
    "html": markup("html"),
    "java": _JAVA,
    "javascript": _javascript("javascript"),
    "json": JSON,
    "julia": more.JULIA,
    "kotlin": _KOTLIN,
    "lua": _LUA,
    "make": more.MAKE,
    "markdown": MARKDOWN,
    "nix": more.NIX,
    "objective-c": more.OBJECTIVE_C,
    "ocaml": more.OCAML,
    "php": _PHP,
    "powershell": more.POWERSHELL,
    "prisma": more.PRISMA,
    "protobuf": more.PROTOBUF,
    "python": _PYTHON,
    "r": more.R,
    "ruby": _RUBY,
    "rust": _RUST,
    "scala": _SCALA,
    "scss": more.SCSS,
    "solidity": more.SOLIDITY,
    "sql": _SQL,
    "svelte": markup("svelte"),
    "swift": _SWIFT,
    "thrift": more.THRIFT,
    "toml": TOML,
    "tsx": _javascript("tsx"),
    "typescript": _javascript("typescript"),
    "vue": markup("vue"),
    "yaml": YAML,
    "zig": more.ZIG,
}
"""By language name, as `detect_language` returns it."""
