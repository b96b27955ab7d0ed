"""What is known about each grammar: its declarations, how they are named, what wraps and precedes them.

Only grammars in `SPECS` are ever used: some of the language pack hang (cobol does, on `x = 1`), and
some crash the process (perl does, on strings nested in strings).

A name is found along paths. Steps are parted by `/`: `name` is a field, `declarator*` a field
followed as often as it is there, `<type_identifier` the first child of that type. Paths are
tried in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a declaration does to its chunks."""

    TYPE = "type"
    """Its head (signature, doc, fields) is a chunk of its own; members follow."""
    FUNCTION = "function"
    """Split in its middle with overlap; variables in it are not declarations. Also style rules and tables."""
    VALUE = "value"
    """A variable, constant or field: as a function, but counts only outside of functions, and if it is large."""
    GROUP = "group"
    """Members without a head that means anything: sections, keys, elements."""
    SCOPE = "scope"
    """Always opened: namespaces and `impl` blocks only lend their name to what is in them."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """How to read one kind of node as a declaration."""

    kind: Kind
    names: tuple[str, ...] = ("name",)
    """Paths, tried in order; the empty tuple means that the scope has no name."""
    owner: tuple[str, ...] = ()
    """Paths to a type named before the declaration itself: Go's and Kotlin's receivers."""
    when: tuple[str, frozenset[str]] | None = None
    """A path, and the node types or texts of which it must lead to one."""


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """One grammar of the language pack, as data."""

    grammar: str
    declarations: Mapping[str, tuple[Declaration, ...]]
    wrappers: frozenset[str] = frozenset()
    """Nodes that stand for the one declaration among their children: `export`, decorators."""
    comments: frozenset[str] = frozenset({"comment"})
    attributes: frozenset[str] = frozenset()
    """Siblings, besides comments, that belong to the declaration after them."""
    trailers: frozenset[str] = frozenset()
    """Siblings that belong to the declaration before them."""
    transparent: frozenset[str] = frozenset()
    """Always opened, and nameless: conditional compilation, linkage blocks."""
    leaves: frozenset[str] = frozenset()
    """Never opened: their text is cut instead."""
    docstrings: frozenset[str] = frozenset()
    """First children of a body that are its documentation."""
    separator: str = "."
    qualified: bool = True
    """False where a name says enough without the scopes around it."""
    plain_names: bool = False
    """Names are texts (keys, headings), not code."""
    prose: bool = False


_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function", "generator_function"})


def _all(kind: Kind, *types: str, names: tuple[str, ...] = ("name",)) -> dict[str, tuple[Declaration, ...]]:
    return {type_: (Declaration(kind, names),) for type_ in types}


_PYTHON = LanguageSpec(
    grammar="python",
    declarations={
        **_all(Kind.TYPE, "class_definition"),
        **_all(Kind.FUNCTION, "function_definition"),
        **_all(Kind.VALUE, "assignment", names=("left",)),
        **_all(Kind.VALUE, "type_alias_statement", names=("left", "<type")),
    },
    wrappers=frozenset({"decorated_definition", "expression_statement"}),
    docstrings=frozenset({"string", "expression_statement"}),
)

_JS_DECLARATIONS = {
    **_all(Kind.TYPE, "class_declaration", "class", "abstract_class_declaration", "interface_declaration"),
    **_all(Kind.TYPE, "enum_declaration", "type_alias_declaration"),
    **_all(Kind.FUNCTION, "function_declaration", "generator_function_declaration", "method_definition"),
    **_all(Kind.FUNCTION, "function_signature", "method_signature", "abstract_method_signature"),
    **_all(Kind.SCOPE, "internal_module", "module"),
    **_all(Kind.VALUE, "public_field_definition", "property_signature", names=("name",)),
    **_all(Kind.VALUE, "field_definition", names=("property", "name")),
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
    )


_GO = LanguageSpec(
    grammar="go",
    declarations={
        **_all(Kind.TYPE, "type_spec", "type_alias"),
        **_all(Kind.FUNCTION, "function_declaration"),
        "method_declaration": (Declaration(Kind.FUNCTION, owner=("receiver/<parameter_declaration/type",)),),
        **_all(Kind.VALUE, "var_spec", "const_spec"),
    },
    wrappers=frozenset({"type_declaration", "var_declaration", "const_declaration"}),
)

_RUST = LanguageSpec(
    grammar="rust",
    declarations={
        **_all(Kind.TYPE, "struct_item", "enum_item", "union_item", "trait_item", "type_item"),
        **_all(Kind.FUNCTION, "function_item", "function_signature_item", "macro_definition"),
        **_all(Kind.VALUE, "const_item", "static_item"),
        **_all(Kind.SCOPE, "mod_item"),
        **_all(Kind.SCOPE, "impl_item", names=("type",)),
    },
    comments=frozenset({"line_comment", "block_comment"}),
    attributes=frozenset({"attribute_item"}),
    transparent=frozenset({"foreign_mod_item"}),
)

_C_DECLARATOR = ("declarator*",)


def _c(grammar: str) -> LanguageSpec:
    body = ("body", frozenset({"field_declaration_list", "enumerator_list"}))
    declarations = {
        **{
            type_: (Declaration(Kind.TYPE, when=body),)
            for type_ in ("struct_specifier", "union_specifier", "enum_specifier", "class_specifier")
        },
        **_all(Kind.TYPE, "type_definition", names=_C_DECLARATOR),
        **_all(Kind.TYPE, "alias_declaration", "concept_definition"),
        **_all(Kind.FUNCTION, "function_definition", names=_C_DECLARATOR),
        **_all(Kind.FUNCTION, "preproc_function_def"),
        **_all(Kind.VALUE, "declaration", "field_declaration", names=_C_DECLARATOR),
        **_all(Kind.VALUE, "preproc_def"),
        **_all(Kind.SCOPE, "namespace_definition"),
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
        **_all(Kind.TYPE, "class_declaration", "interface_declaration", "enum_declaration"),
        **_all(Kind.TYPE, "record_declaration", "annotation_type_declaration"),
        **_all(Kind.FUNCTION, "method_declaration", "constructor_declaration"),
        **_all(Kind.FUNCTION, "compact_constructor_declaration"),
        **_all(Kind.VALUE, "field_declaration", "constant_declaration", names=("declarator/name",)),
    },
    comments=frozenset({"line_comment", "block_comment"}),
)

_CSHARP = LanguageSpec(
    grammar="csharp",
    declarations={
        **_all(Kind.TYPE, "class_declaration", "interface_declaration", "enum_declaration"),
        **_all(Kind.TYPE, "struct_declaration", "record_declaration", "delegate_declaration"),
        **_all(Kind.FUNCTION, "method_declaration", "constructor_declaration", "destructor_declaration"),
        **_all(Kind.FUNCTION, "local_function_statement", "property_declaration", "event_declaration"),
        "operator_declaration": (Declaration(Kind.FUNCTION, ("operator",)),),
        **_all(
            Kind.VALUE,
            "field_declaration",
            "event_field_declaration",
            names=(
                "<variable_declaration/<variable_declarator/name",
                "<variable_declaration/<variable_declarator",
            ),
        ),
        # Nameless, so that both forms of namespace give the same symbols.
        **_all(Kind.SCOPE, "namespace_declaration", names=()),
    },
    transparent=frozenset({"preproc_if", "preproc_else", "preproc_elif"}),
)

_KOTLIN = LanguageSpec(
    grammar="kotlin",
    declarations={
        **_all(Kind.TYPE, "class_declaration", "object_declaration", "type_alias", names=("<type_identifier",)),
        "companion_object": (Declaration(Kind.TYPE, ("<type_identifier", "=Companion")),),
        "function_declaration": (Declaration(Kind.FUNCTION, ("<simple_identifier",), owner=("receiver",)),),
        "secondary_constructor": (Declaration(Kind.FUNCTION, ("=constructor",)),),
        **_all(Kind.VALUE, "property_declaration", names=("<variable_declaration/<simple_identifier",)),
    },
    comments=frozenset({"line_comment", "multiline_comment"}),
    trailers=frozenset({"getter", "setter"}),
)

_SCALA = LanguageSpec(
    grammar="scala",
    declarations={
        **_all(Kind.TYPE, "class_definition", "object_definition", "trait_definition", "enum_definition"),
        **_all(Kind.TYPE, "type_definition", "given_definition", "package_object"),
        **_all(Kind.FUNCTION, "function_definition", "function_declaration"),
        **_all(Kind.VALUE, "val_definition", "var_definition", "val_declaration", names=("pattern", "name")),
    },
    comments=frozenset({"comment", "block_comment"}),
)

_SWIFT = LanguageSpec(
    grammar="swift",
    declarations={
        **_all(Kind.TYPE, "class_declaration", "protocol_declaration", "typealias_declaration"),
        **_all(Kind.FUNCTION, "function_declaration", "protocol_function_declaration", "macro_declaration"),
        "init_declaration": (Declaration(Kind.FUNCTION, ("=init",)),),
        "deinit_declaration": (Declaration(Kind.FUNCTION, ("=deinit",)),),
        "subscript_declaration": (Declaration(Kind.FUNCTION, ("=subscript",)),),
        **_all(Kind.VALUE, "property_declaration", "protocol_property_declaration"),
    },
    comments=frozenset({"comment", "multiline_comment"}),
)

_RUBY = LanguageSpec(
    grammar="ruby",
    declarations={
        **_all(Kind.TYPE, "class"),
        **_all(Kind.FUNCTION, "method", "singleton_method"),
        **_all(Kind.SCOPE, "module"),
        **_all(Kind.SCOPE, "singleton_class", names=()),
        "assignment": (Declaration(Kind.VALUE, ("left",), when=("left", frozenset({"constant"}))),),
    },
)

_PHP = LanguageSpec(
    grammar="php",
    declarations={
        **_all(Kind.TYPE, "class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"),
        **_all(Kind.FUNCTION, "function_definition", "method_declaration"),
        **_all(Kind.VALUE, "const_declaration", names=("<const_element/<name",)),
        **_all(Kind.VALUE, "property_declaration", names=("<property_element/name",)),
        **_all(Kind.SCOPE, "namespace_definition", names=()),
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
)

_LUA = LanguageSpec(
    grammar="lua",
    declarations={
        **_all(Kind.FUNCTION, "function_declaration"),
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
        **_all(Kind.FUNCTION, "function_definition"),
        **_all(Kind.VALUE, "variable_assignment"),
    },
    wrappers=frozenset({"declaration_command"}),
)

_SQL = LanguageSpec(
    grammar="sql",
    declarations={
        **_all(
            Kind.FUNCTION,
            *("create_table", "create_view", "create_materialized_view", "create_trigger", "create_type"),
            *("create_schema", "create_database", "create_role", "create_sequence", "create_extension"),
            names=("<object_reference", "<identifier"),
        ),
        **_all(Kind.FUNCTION, "create_index", names=("column", "<object_reference")),
        **_all(Kind.FUNCTION, "create_function", "create_procedure", names=("<object_reference",)),
    },
    wrappers=frozenset({"statement"}),
    comments=frozenset({"comment", "marginalia"}),
)

_MARKDOWN = LanguageSpec(
    grammar="markdown",
    declarations={
        "section": (
            Declaration(
                Kind.GROUP,
                ("<atx_heading/heading_content", "<setext_heading/heading_content"),
            ),
        ),
    },
    comments=frozenset(),
    leaves=frozenset({"paragraph", "inline"}),
    separator=" > ",
    plain_names=True,
    prose=True,
)


def _markup(grammar: str) -> LanguageSpec:
    tags = ("element", "script_element", "style_element", "template_element")
    return LanguageSpec(
        grammar=grammar,
        declarations=_all(Kind.GROUP, *tags, names=("!tag",)),
        qualified=False,
        plain_names=True,
    )


_CSS = LanguageSpec(
    grammar="css",
    declarations={
        **_all(Kind.FUNCTION, "rule_set", names=("<selectors",)),
        **_all(Kind.GROUP, "media_statement", "supports_statement", "at_rule", names=("!prelude",)),
        **_all(Kind.FUNCTION, "keyframes_statement", names=("!prelude",)),
    },
    comments=frozenset({"comment", "js_comment"}),
    qualified=False,
    plain_names=True,
)

_JSON = LanguageSpec(
    grammar="json",
    declarations=_all(Kind.GROUP, "pair", names=("key",)),
    plain_names=True,
)

_YAML = LanguageSpec(
    grammar="yaml",
    declarations=_all(Kind.GROUP, "block_mapping_pair", "flow_pair", names=("key",)),
    transparent=frozenset({"document", "block_node", "block_mapping"}),
    plain_names=True,
)

_TOML_KEYS = ("<dotted_key", "<bare_key", "<quoted_key")
_TOML = LanguageSpec(
    grammar="toml",
    declarations=_all(Kind.GROUP, "table", "table_array_element", "pair", names=_TOML_KEYS),
    plain_names=True,
)

_DART = LanguageSpec(
    grammar="dart",
    declarations={
        **_all(Kind.TYPE, "class_definition", "enum_declaration", "extension_declaration"),
        **_all(Kind.TYPE, "mixin_declaration", names=("<identifier",)),
        **_all(Kind.TYPE, "type_alias", names=("<type_identifier",)),
        **_all(Kind.FUNCTION, "function_signature", "getter_signature", "setter_signature"),
        **_all(Kind.FUNCTION, "constructor_signature", "factory_constructor_signature"),
        "operator_signature": (Declaration(Kind.FUNCTION, ("=operator",)),),
        **_all(
            Kind.VALUE,
            "declaration",
            names=("<initialized_identifier_list/<initialized_identifier/<identifier",),
        ),
    },
    wrappers=frozenset({"method_signature"}),
    comments=frozenset({"comment", "documentation_comment"}),
    attributes=frozenset({"annotation"}),
    trailers=frozenset({"function_body"}),
)

_HASKELL = LanguageSpec(
    grammar="haskell",
    declarations={
        **_all(Kind.TYPE, "data_type", "newtype", "type_synomym", "class", "instance"),
        **_all(Kind.FUNCTION, "function", "bind", "signature"),
    },
    comments=frozenset({"comment", "haddock"}),
    transparent=frozenset({"declarations"}),
)

_ZIG = LanguageSpec(
    grammar="zig",
    declarations={
        "Decl": (
            Declaration(
                Kind.TYPE,
                ("<VarDecl/variable_type_function",),
                when=("<VarDecl/<ErrorUnionExpr/<SuffixExpr/<ContainerDecl", frozenset({"ContainerDecl"})),
            ),
            Declaration(Kind.FUNCTION, ("<FnProto/function",), when=("<FnProto", frozenset({"FnProto"}))),
            Declaration(Kind.VALUE, ("<VarDecl/variable_type_function",)),
        ),
        "TestDecl": (Declaration(Kind.FUNCTION, ("<STRINGLITERALSINGLE", "<IDENTIFIER")),),
    },
    comments=frozenset({"line_comment", "doc_comment", "container_doc_comment"}),
)

_DOCKERFILE = LanguageSpec(
    grammar="dockerfile",
    declarations=_all(Kind.GROUP, "from_instruction", names=("as", "<image_spec")),
    plain_names=True,
)

_HCL = LanguageSpec(
    grammar="hcl",
    declarations={
        **_all(Kind.GROUP, "block", names=("!labels",)),
        **_all(Kind.VALUE, "attribute", names=("<identifier",)),
    },
    transparent=frozenset({"body"}),
    plain_names=True,
)

_R_FUNCTION = frozenset({"function_definition"})
_R = LanguageSpec(
    grammar="r",
    declarations={"binary_operator": (Declaration(Kind.FUNCTION, ("lhs",), when=("rhs", _R_FUNCTION)),)},
)

_JULIA_CALLS = ("<signature/<call_expression", "<signature/<where_expression/<call_expression", "<signature")
_JULIA = LanguageSpec(
    grammar="julia",
    declarations={
        **_all(Kind.TYPE, "struct_definition", "abstract_definition", names=("<type_head",)),
        **_all(Kind.FUNCTION, "function_definition", "macro_definition", names=_JULIA_CALLS),
        "assignment": (
            Declaration(
                Kind.FUNCTION,
                ("<call_expression",),
                when=("<call_expression", frozenset({"call_expression"})),
            ),
        ),
        **_all(Kind.VALUE, "const_statement", names=("<assignment/<identifier",)),
        **_all(Kind.SCOPE, "module_definition"),
    },
    comments=frozenset({"line_comment", "block_comment", "string_literal"}),
)

_OCAML = LanguageSpec(
    grammar="ocaml",
    declarations={
        **_all(Kind.TYPE, "type_binding", "class_binding", names=("name", "<class_name")),
        **_all(Kind.TYPE, "module_type_definition", names=("<module_type_name",)),
        **_all(Kind.TYPE, "exception_definition", names=("<constructor_declaration/<constructor_name",)),
        **_all(Kind.TYPE, "module_binding", names=("<module_name",)),
        **_all(Kind.FUNCTION, "let_binding", names=("pattern",)),
        **_all(Kind.FUNCTION, "value_specification", names=("<value_name",)),
        **_all(Kind.FUNCTION, "method_definition", names=("<method_name",)),
    },
    wrappers=frozenset({"type_definition", "class_definition", "module_definition", "value_definition"}),
)

SPECS: Mapping[str, LanguageSpec] = {
    "bash": _BASH,
    "c": _c("c"),
    "cpp": _c("cpp"),
    "csharp": _CSHARP,
    "css": _CSS,
    "dart": _DART,
    "dockerfile": _DOCKERFILE,
    "elixir": _ELIXIR,
    "go": _GO,
    "haskell": _HASKELL,
    "hcl": _HCL,
    "html": _markup("html"),
    "java": _JAVA,
    "javascript": _javascript("javascript"),
    "json": _JSON,
    "julia": _JULIA,
    "kotlin": _KOTLIN,
    "lua": _LUA,
    "markdown": _MARKDOWN,
    "ocaml": _OCAML,
    "php": _PHP,
    "python": _PYTHON,
    "r": _R,
    "ruby": _RUBY,
    "rust": _RUST,
    "scala": _SCALA,
    "sql": _SQL,
    "svelte": _markup("svelte"),
    "swift": _SWIFT,
    "toml": _TOML,
    "tsx": _javascript("tsx"),
    "typescript": _javascript("typescript"),
    "vue": _markup("vue"),
    "yaml": _YAML,
    "zig": _ZIG,
}
"""By language name, as `detect_language` returns it."""
