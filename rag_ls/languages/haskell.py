"""Haskell."""

from __future__ import annotations

from rag_ls.languages.comments import DASHED
from rag_ls.languages.import_readers import read_qualified
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare

HASKELL = Language(
    name="haskell",
    suffixes=("hs", "lhs", "hsc"),
    file_names=(".ghci",),
    interpreters=("runhaskell", "runghc", "stack"),
    syntax=Syntax(
        grammar="haskell",
        declarations={
            # `type_synomym` is the grammar's own spelling.
            **declare(Kind.TYPE, "data_type", "newtype", "type_synomym", "class", "instance"),
            **declare(Kind.FUNCTION, "function", "bind", "signature"),
        },
        comments=frozenset({"comment", "haddock"}),
        transparent=frozenset({"declarations"}),
        clauses=True,
    ),
    comments=DASHED,
    has_single_quotes=False,
    is_matched=True,
    references=ReferenceRule(
        calls=("(apply function: (_) @call)",), names=frozenset({"variable", "constructor", "name"})
    ),
    imports=ImportRule(read_qualified, ("import",)),
)
