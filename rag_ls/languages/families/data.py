"""Data, schemas and queries."""

from __future__ import annotations

from rag_ls.languages.imports import ImportRule, read_strings
from rag_ls.languages.language import Language
from rag_ls.languages.patterns import DASHED, HASHED, SLASHED, SLASHED_OR_HASHED, TAGGED, Comments
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.registry import IncludeResolver
from rag_ls.languages.syntax import Syntax, declare, line_nesting, words

JSON = Language(
    "json", is_matched=True, syntax=Syntax("json", declare("group pair, names key"), plain_names=True, outline_depth=2)
)

YAML = Language(
    "yaml",
    syntax=Syntax(
        "yaml", declare("group block_mapping_pair flow_pair, names key"), transparent=words("document block_node block_mapping"),
        plain_names=True, outline_depth=2, nesting=line_nesting,
    ),
    comments=HASHED, is_indented=True, is_matched=True,
)  # fmt: skip

TOML = Language(
    "toml",
    syntax=Syntax(
        "toml", declare("group table table_array_element pair, names <dotted_key <bare_key <quoted_key"), plain_names=True,
        outline_depth=2,
    ),
    comments=HASHED,
)  # fmt: skip

SQL = Language(
    "sql",
    syntax=Syntax("sql", declare("""
        function create_table create_view create_materialized_view create_trigger create_type create_schema \
            create_database create_role create_sequence create_extension, names <object_reference <identifier, listed type
        function create_index, names column <object_reference, listed value
        function create_function create_procedure, names <object_reference
    """), wrappers=words("statement"), comments=words("comment marginalia")),
    comments=DASHED, references=ReferenceRule(),
)  # fmt: skip

GRAPHQL = Language(
    "graphql",
    syntax=Syntax("graphql", declare("""
        type object_type_definition input_object_type_definition enum_type_definition interface_type_definition \
            scalar_type_definition union_type_definition object_type_extension input_object_type_extension enum_type_extension \
            interface_type_extension scalar_type_extension union_type_extension, names <name
        function operation_definition directive_definition, names <name <operation_type
        function fragment_definition, names <fragment_name
        value field_definition input_value_definition, names <name
    """),
        transparent=words(
            "document definition type_system_definition type_definition executable_definition type_system_extension type_extension",
        ),
        comments=words("comment description"), docstrings=words("description"),
    ),
    comments=HASHED, references=ReferenceRule(bases=("(implements_interfaces (named_type) @base)",), names=words("name")),
)  # fmt: skip

PROTOBUF = Language(
    "protobuf",
    syntax=Syntax("proto", declare("""
        type message, names <message_name
        type enum, names <enum_name
        type service, names <service_name
        function rpc, names <rpc_name
        value field map_field oneof_field, names <identifier
    """), one_line=True),
    references=ReferenceRule(), imports=ImportRule(read_strings, ("import",)), resolver=IncludeResolver,
)  # fmt: skip

THRIFT = Language(
    "thrift",
    syntax=Syntax("thrift", declare("""
        type struct_definition enum_definition service_definition union_definition \
            exception_definition, names type <identifier
        function function_definition, names <identifier
    """), one_line=True),
    references=ReferenceRule(), imports=ImportRule(read_strings, ("include_statement",)), resolver=IncludeResolver,
)  # fmt: skip

PRISMA = Language(
    "prisma",
    syntax=Syntax("prisma", declare("""
        type model_block enum_block type_block, names <identifier
        group key_value_block, names <identifier
    """), one_line=True, comments=words("comment line_comment developer_comment")),
    references=ReferenceRule(),
)  # fmt: skip

HCL = Language(
    "hcl",
    syntax=Syntax("hcl", declare("""
        group block, names !labels
        value attribute, names <identifier
    """), transparent=words("body"), plain_names=True, outline_depth=1),
    comments=SLASHED_OR_HASHED, references=ReferenceRule(),
)  # fmt: skip

XML = Language("xml", comments=Comments(pattern=SLASHED.pattern, start=TAGGED.start, end=TAGGED.end))

LANGUAGES = (JSON, XML, YAML, TOML, SQL, GRAPHQL, PROTOBUF, THRIFT, PRISMA, HCL)
