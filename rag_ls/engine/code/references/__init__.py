"""Finds where names are used.

`questions` answers, `answers` says in which words; `finder` finds all references to the declarations that a question means, or those that
are shown, `use_search` the uses in code and in texts, which it labels. Below it, names are resolved: `code_files` reads the index,
`declarations` tells declarations, members and bases, `names` follows imports, `scopes` tells variables, `use_meanings` tells what a use
means, by the type of its receiver where that is a member, and `name_patterns` reads the text around names. Only what stands written is
followed: annotations, constructor calls, fields and results with a type. Every other use is told by name.
"""

from rag_ls.engine.code.references.answers import ALL_KINDS, AskedSymbol, Reference, ReferenceKind, References
from rag_ls.engine.code.references.questions import (
    MAX_DEPTH,
    find_callees,
    find_callers,
    find_references,
    find_resolved_uses,
    find_uses,
)

__all__ = [
    "ALL_KINDS",
    "MAX_DEPTH",
    "AskedSymbol",
    "Reference",
    "ReferenceKind",
    "References",
    "find_callees",
    "find_callers",
    "find_references",
    "find_resolved_uses",
    "find_uses",
]
