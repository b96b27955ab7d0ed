"""GraphQL."""

from __future__ import annotations

from rag_ls.languages.comments import HASHED
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare

_TYPES = ("object", "input_object", "enum", "interface", "scalar", "union")


GRAPHQL = Language(
    name="graphql",
    suffixes=("graphql", "gql", "graphqls"),
    syntax=Syntax(
        grammar="graphql",
        declarations={
            **declare(Kind.TYPE, *(f"{kind}_type_definition" for kind in _TYPES), names=("<name",)),
            **declare(Kind.TYPE, *(f"{kind}_type_extension" for kind in _TYPES), names=("<name",)),
            **declare(
                Kind.FUNCTION, "operation_definition", "directive_definition", names=("<name", "<operation_type")
            ),
            **declare(Kind.FUNCTION, "fragment_definition", names=("<fragment_name",)),
            **declare(Kind.VALUE, "field_definition", "input_value_definition", names=("<name",)),
        },
        transparent=frozenset(
            {"document", "definition", "type_system_definition", "type_definition", "executable_definition"}
            | {"type_system_extension", "type_extension"}
        ),
        comments=frozenset({"comment", "description"}),
        docstrings=frozenset({"description"}),
    ),
    comments=HASHED,
    references=ReferenceRule(bases=("(implements_interfaces (named_type) @base)",), names=frozenset({"name"})),
)
