"""Finds where names are used: `code_files` reads the index, `names` and `types` resolve names, `expressions` reads
chains of calls, `bindings` tells variables, `name_patterns` matches around a name, `contexts` tells the types that objects of scripts
have by their places, `given_types` reads them, `asked` finds the declarations that a question means, `finder` all references to
them, `pages` those that are shown, `knowing` where most of these stand, and `questions` answers."""

from rag_ls.engine.code.references.answers import ALL_KINDS, AskedSymbol, Reference, ReferenceKind, References
from rag_ls.engine.code.references.questions import (
    MAX_DEPTH,
    find_callees,
    find_callers,
    find_references,
    find_resolved_uses,
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
]
