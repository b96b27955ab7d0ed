"""SQL."""

from __future__ import annotations

from rag_ls.languages.comments import DASHED
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare

SQL = Language(
    name="sql",
    suffixes=("sql", "ddl", "dml", "psql", "pgsql", "mysql"),
    syntax=Syntax(
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
    ),
    comments=DASHED,
    references=ReferenceRule(),
)
