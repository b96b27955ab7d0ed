"""Which documents are embedded before the rest: those that somebody is likely to ask about soon."""

from __future__ import annotations

from collections import defaultdict

from rag_ls.chunking import last_names, means, parts_of
from rag_ls.storage import CheckoutIndex

# Beyond so many, nothing would be first.
_MOST = 60


def imported_by(store: CheckoutIndex, path: str) -> list[int]:
    """The documents that a document imports, as far as their paths end as the import says."""
    document = store.document(path)
    if document is None:
        return []
    by_name: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, other, _, session in store.document_paths():
        if not session and number != document.id:
            # A Go import names the folder.
            by_name[parts_of(other)[-1 - (other.endswith(".go") and "/" in other)]].append((number, other))
    found = [
        number
        for stored in store.outlines.imports([document.id])
        for name in last_names(stored.imported, path)
        for number, other in by_name.get(name, ())
        if means(stored.imported, path, other)
    ]
    return list(dict.fromkeys(found))[:_MOST]
