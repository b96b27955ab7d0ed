"""Finds where names are used.

`questions` answers, `answers` says in which words; `asked` finds the declarations that a question means, `finder` all references to
them, `pages` those that are shown, `knowing` the documents in which most of these stand, `unread` those whose uses are not known.
The finder's help: `wanted` says which declarations count, `parts` which of them are one, `creations` where objects are made, `quoted`
and `docs_lines` which texts mean one, `places` makes the references.
Below it, names are resolved: `code_files` reads the index, `declared` tells declarations alone, `names` follows imports and classes,
`bindings` tells variables, `types` resolves uses by their receivers' types, for which `expressions` reads chains of calls,
`written_types` types, and `name_patterns` matches around a name. Only what stands written is followed; every other use is told by name.
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
