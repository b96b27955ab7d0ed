"""Which documents are embedded before the rest: those that somebody is likely to ask about soon."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from rag_ls.model import Import
from rag_ls.storage import IndexStore

_ENTRY = re.compile(r"/(__init__|index|mod|lib|main)$")
_BETWEEN = re.compile(r"::|[.\\/]+")
# Beyond so many, nothing would be first.
_MOST = 60


def imported_by(store: IndexStore, path: str) -> list[int]:
    """The documents that a document imports, as far as their paths end as the import says."""
    document = store.document(path)
    if document is None:
        return []
    endings = _endings(found.imported for found in store.outlines.imports([document.id]))
    by_name: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, other, _, session in store.document_paths():
        if not session and number != document.id:
            key = _ENTRY.sub("", "/" + other.partition(".")[0] if "." in other else "/" + other)
            by_name[key.rpartition("/")[2]].append((number, key))
    found = [
        number
        for ending in endings
        for number, key in by_name.get(ending.rpartition("/")[2], ())
        if key.endswith("/" + ending)
    ]
    return list(dict.fromkeys(found))[:_MOST]


def _endings(imports: Iterable[Import]) -> list[str]:
    """What the paths of imported modules end in; of `from a import b` both `a/b` and `a`."""
    endings: dict[str, None] = {}
    for found in imports:
        module = re.sub(r"\.(py|js|mjs|ts|tsx|jsx|go|rs|rb|php|h|hpp|hh)$", "", found.module)
        parts = [part for part in _BETWEEN.split(module) if part and part not in ("self", "crate", "super", "std")]
        for name in found.names:
            if parts and name.isidentifier():
                endings["/".join((*parts, name))] = None
        if parts:
            endings["/".join(parts)] = None
    return list(endings)
