"""Protocol Buffers."""

from __future__ import annotations

from rag_ls.languages.import_readers import read_strings
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.includes import IncludeResolver
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare

PROTOBUF = Language(
    name="protobuf",
    suffixes=("proto",),
    syntax=Syntax(
        grammar="proto",
        one_line=True,
        declarations={
            **declare(Kind.TYPE, "message", names=("<message_name",)),
            **declare(Kind.TYPE, "enum", names=("<enum_name",)),
            **declare(Kind.TYPE, "service", names=("<service_name",)),
            **declare(Kind.FUNCTION, "rpc", names=("<rpc_name",)),
            **declare(Kind.VALUE, "field", "map_field", "oneof_field", names=("<identifier",)),
        },
    ),
    references=ReferenceRule(),
    imports=ImportRule(read_strings, ("import",)),
    resolver=IncludeResolver,
)
