"""Finds where names are used.

`questions` answers, `answers` says in which words; `symbol_lookup` finds the declarations that a question means, `finder` all
references to them, `pages` those that are shown, `unread` the files whose uses are not known. `use_search` finds the uses in code and
labels them, `creations` those that create objects, `mentions` texts that mean a declaration; `targets` holds the declarations that are
looked for, `reference_making` makes the references.
Below it, names are resolved: `code_files` reads the index, `declarations` tells declarations alone, `names` follows imports, `classes`
members and bases, `scopes` tells variables, `use_meanings` tells what a use means, `receiver_types` the type of its receiver, for which
`chains` reads chains of names, and `name_patterns` matches around a name. Only what stands written is followed: annotations,
constructor calls, fields and results with a type. Every other use is told by name.
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
