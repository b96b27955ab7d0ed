"""Prisma's schemas."""

from __future__ import annotations

from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare

PRISMA = Language(
    name="prisma",
    suffixes=("prisma",),
    syntax=Syntax(
        grammar="prisma",
        one_line=True,
        declarations={
            **declare(Kind.TYPE, "model_block", "enum_block", "type_block", names=("<identifier",)),
            **declare(Kind.GROUP, "key_value_block", names=("<identifier",)),
        },
        comments=frozenset({"comment", "line_comment", "developer_comment"}),
    ),
    references=ReferenceRule(),
)
