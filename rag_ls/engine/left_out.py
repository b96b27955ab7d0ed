"""Says which files of a project a search has not looked at: an answer never denies what it has not seen."""

from __future__ import annotations

from rag_ls.storage import CheckoutIndex

# They hold no text of the project: pictures and programs, and links to files that are indexed where they are.
_NO_TEXT = frozenset({"binary", "symbolic link", "not a regular file", "outside the project"})
_MAX_REASONS = 3


def describe_left_out(store: CheckoutIndex) -> str:
    """The files that are not indexed and may hold text: how many, why, and one of them; empty if there are none."""
    counts = {reason: count for reason, count in store.skipped_counts().items() if reason not in _NO_TEXT}
    if not (total := sum(counts.values())):
        return ""
    commonest = sorted(counts, key=lambda reason: -counts[reason])
    reasons = ", ".join(f"{counts[reason]:,} {reason}" for reason in commonest[:_MAX_REASONS])
    path = store.skipped_because(commonest[0])
    files = "1 file was" if total == 1 else f"{total:,} files were"
    return f"{files} not looked at ({reasons}; e.g. {path}): index_status with skipped = true lists them"
