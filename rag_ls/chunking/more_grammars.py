"""The specifications of grammars of smaller languages: see `grammars`."""

from __future__ import annotations

from rag_ls.chunking.specs import Declaration, Kind, LanguageSpec, declare

DART = LanguageSpec(
    grammar="dart",
    declarations={
        **declare(Kind.TYPE, "class_definition", "enum_declaration", "extension_declaration"),
        **declare(Kind.TYPE, "mixin_declaration", names=("<identifier",)),
        **declare(Kind.TYPE, "type_alias", names=("<type_identifier",)),
        **declare(Kind.FUNCTION, "function_signature", "getter_signature", "setter_signature"),
        **declare(Kind.FUNCTION, "constructor_signature", "factory_constructor_signature"),
        "operator_signature": (Declaration(Kind.FUNCTION, ("=operator",)),),
        **declare(
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

HASKELL = LanguageSpec(
    grammar="haskell",
    declarations={
        **declare(Kind.TYPE, "data_type", "newtype", "type_synomym", "class", "instance"),
        **declare(Kind.FUNCTION, "function", "bind", "signature"),
    },
    comments=frozenset({"comment", "haddock"}),
    transparent=frozenset({"declarations"}),
    clauses=True,
)

ZIG = LanguageSpec(
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

DOCKERFILE = LanguageSpec(
    grammar="dockerfile",
    declarations=declare(Kind.GROUP, "from_instruction", names=("as", "<image_spec")),
    plain_names=True,
)

HCL = LanguageSpec(
    grammar="hcl",
    declarations={
        **declare(Kind.GROUP, "block", names=("!labels",)),
        **declare(Kind.VALUE, "attribute", names=("<identifier",)),
    },
    transparent=frozenset({"body"}),
    plain_names=True,
    outline_depth=1,
)

_R_FUNCTION = frozenset({"function_definition"})
R = LanguageSpec(
    grammar="r",
    declarations={"binary_operator": (Declaration(Kind.FUNCTION, ("lhs",), when=("rhs", _R_FUNCTION)),)},
)

_JULIA_CALLS = ("<signature/<call_expression", "<signature/<where_expression/<call_expression", "<signature")
JULIA = LanguageSpec(
    grammar="julia",
    declarations={
        **declare(Kind.TYPE, "struct_definition", "abstract_definition", names=("<type_head",)),
        **declare(Kind.FUNCTION, "function_definition", "macro_definition", names=_JULIA_CALLS),
        "assignment": (
            Declaration(
                Kind.FUNCTION,
                ("<call_expression",),
                when=("<call_expression", frozenset({"call_expression"})),
            ),
        ),
        **declare(Kind.VALUE, "const_statement", names=("<assignment/<identifier",)),
        **declare(Kind.SCOPE, "module_definition"),
    },
    comments=frozenset({"line_comment", "block_comment", "string_literal"}),
)

OCAML = LanguageSpec(
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
)

_NIX_SETS = frozenset({"attrset_expression", "rec_attrset_expression"})
NIX = LanguageSpec(
    grammar="nix",
    declarations={
        "binding": (
            Declaration(Kind.FUNCTION, ("attrpath",), when=("expression", frozenset({"function_expression"}))),
            Declaration(Kind.GROUP, ("attrpath",), when=("expression", _NIX_SETS), listed="value"),
            Declaration(Kind.VALUE, ("attrpath",)),
        ),
    },
    transparent=frozenset({"function_expression", "let_expression", "binding_set"}),
    plain_names=True,
    outline_depth=3,
)

PROTOBUF = LanguageSpec(
    grammar="proto",
    one_line=True,
    declarations={
        **declare(Kind.TYPE, "message", names=("<message_name",)),
        **declare(Kind.TYPE, "enum", names=("<enum_name",)),
        **declare(Kind.TYPE, "service", names=("<service_name",)),
        **declare(Kind.FUNCTION, "rpc", names=("<rpc_name",)),
        **declare(Kind.VALUE, "field", "map_field", "oneof_field", names=("<identifier",)),
    },
)

_GRAPHQL_TYPES = ("object", "input_object", "enum", "interface", "scalar", "union")
GRAPHQL = LanguageSpec(
    grammar="graphql",
    declarations={
        **declare(Kind.TYPE, *(f"{kind}_type_definition" for kind in _GRAPHQL_TYPES), names=("<name",)),
        **declare(Kind.TYPE, *(f"{kind}_type_extension" for kind in _GRAPHQL_TYPES), names=("<name",)),
        **declare(Kind.FUNCTION, "operation_definition", "directive_definition", names=("<name", "<operation_type")),
        **declare(Kind.FUNCTION, "fragment_definition", names=("<fragment_name",)),
        **declare(Kind.VALUE, "field_definition", "input_value_definition", names=("<name",)),
    },
    transparent=frozenset(
        {"document", "definition", "type_system_definition", "type_definition", "executable_definition"}
        | {"type_system_extension", "type_extension"}
    ),
    comments=frozenset({"comment", "description"}),
)

ELM = LanguageSpec(
    grammar="elm",
    declarations={
        **declare(Kind.TYPE, "type_alias_declaration", "type_declaration"),
        **declare(Kind.FUNCTION, "type_annotation", "port_annotation"),
        **declare(Kind.FUNCTION, "value_declaration", names=("functionDeclarationLeft/<lower_case_identifier",)),
    },
    comments=frozenset({"line_comment", "block_comment"}),
    clauses=True,
)

ERLANG = LanguageSpec(
    grammar="erlang",
    declarations={
        **declare(Kind.FUNCTION, "fun_decl", names=("clause/name",)),
        **declare(Kind.TYPE, "record_decl"),
        **declare(Kind.TYPE, "type_alias", "opaque", names=("name/name",)),
        **declare(Kind.VALUE, "pp_define", names=("lhs/name",)),
    },
    attributes=frozenset({"spec"}),
    clauses=True,
)

POWERSHELL = LanguageSpec(
    grammar="powershell",
    one_line=True,
    declarations={
        **declare(Kind.FUNCTION, "function_statement", names=("<function_name",)),
        **declare(Kind.TYPE, "class_statement", "enum_statement", names=("<simple_name",)),
        **declare(Kind.FUNCTION, "class_method_definition", names=("<simple_name",)),
        **declare(Kind.VALUE, "class_property_definition", names=("<variable",)),
    },
    transparent=frozenset({"statement_list"}),
)

FORTRAN = LanguageSpec(
    grammar="fortran",
    one_line=True,
    declarations={
        **declare(Kind.SCOPE, "module", names=("<module_statement/<name",)),
        **declare(Kind.SCOPE, "submodule", names=("<submodule_statement/<name",)),
        **declare(Kind.FUNCTION, "program", names=("<program_statement/<name",)),
        **declare(Kind.FUNCTION, "subroutine", names=("<subroutine_statement/name",)),
        **declare(Kind.FUNCTION, "function", names=("<function_statement/name",)),
        **declare(Kind.TYPE, "derived_type_definition", names=("<derived_type_statement/<type_name",)),
    },
    transparent=frozenset({"internal_procedures"}),
)

SOLIDITY = LanguageSpec(
    grammar="solidity",
    declarations={
        **declare(Kind.TYPE, "contract_declaration", "interface_declaration", "library_declaration"),
        **declare(Kind.TYPE, "struct_declaration", "enum_declaration"),
        **declare(Kind.FUNCTION, "function_definition", "modifier_definition", "event_definition"),
        **declare(Kind.FUNCTION, "error_declaration"),
        "constructor_definition": (Declaration(Kind.FUNCTION, ("=constructor",)),),
        **declare(Kind.VALUE, "state_variable_declaration", "constant_variable_declaration"),
    },
)

CMAKE = LanguageSpec(
    grammar="cmake",
    one_line=True,
    declarations={
        **declare(Kind.FUNCTION, "function_def", names=("<function_command/<argument_list/<argument",)),
        **declare(Kind.FUNCTION, "macro_def", names=("<macro_command/<argument_list/<argument",)),
        "normal_command": (
            Declaration(
                Kind.VALUE,
                ("<argument_list/<argument",),
                when=(
                    "<identifier",
                    frozenset({"add_executable", "add_library", "add_custom_target", "option", "set"}),
                ),
            ),
        ),
    },
    comments=frozenset({"line_comment", "bracket_comment"}),
)

MAKE = LanguageSpec(
    grammar="make",
    one_line=True,
    declarations={
        **declare(Kind.FUNCTION, "rule", names=("<targets",)),
        **declare(Kind.FUNCTION, "define_directive"),
        **declare(Kind.VALUE, "variable_assignment", "shell_assignment"),
    },
    plain_names=True,
)

SCSS = LanguageSpec(
    grammar="scss",
    declarations={
        **declare(Kind.FUNCTION, "mixin_statement", "function_statement"),
        **declare(Kind.FUNCTION, "rule_set", names=("<selectors",), listed="section"),
        **declare(Kind.GROUP, "media_statement", "supports_statement", "at_rule", names=("!prelude",)),
        **declare(Kind.FUNCTION, "keyframes_statement", names=("!prelude",), listed="section"),
    },
    comments=frozenset({"comment", "js_comment"}),
    qualified=False,
    plain_names=True,
)

GLEAM = LanguageSpec(
    grammar="gleam",
    declarations={
        **declare(Kind.TYPE, "type_definition", "type_alias", names=("<type_name",)),
        **declare(Kind.FUNCTION, "function"),
        **declare(Kind.VALUE, "constant"),
    },
    comments=frozenset({"comment", "statement_comment", "module_comment"}),
)

PRISMA = LanguageSpec(
    grammar="prisma",
    one_line=True,
    declarations={
        **declare(Kind.TYPE, "model_block", "enum_block", "type_block", names=("<identifier",)),
        **declare(Kind.GROUP, "key_value_block", names=("<identifier",)),
    },
    comments=frozenset({"comment", "line_comment", "developer_comment"}),
)

THRIFT = LanguageSpec(
    grammar="thrift",
    one_line=True,
    declarations={
        **declare(
            Kind.TYPE, "struct_definition", "enum_definition", "service_definition", names=("type", "<identifier")
        ),
        **declare(Kind.TYPE, "union_definition", "exception_definition", names=("type", "<identifier")),
        **declare(Kind.FUNCTION, "function_definition", names=("<identifier",)),
    },
)

OBJECTIVE_C = LanguageSpec(
    grammar="objc",
    declarations={
        **declare(Kind.TYPE, "class_interface", "class_implementation", "protocol_declaration", names=("<identifier",)),
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
)
