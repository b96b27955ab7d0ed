"""Says which files of a project a search has not looked at: an answer never denies what it has not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rag_ls.languages import detect_language
from rag_ls.search import BY_PATH, NO_FILTERS, Filters, Roles, accepts
from rag_ls.storage import CheckoutIndex
from rag_ls.util.paths import compose
from rag_ls.util.text import count_of

# Reasons of files without text of the project: pictures, programs, and links to files that are indexed elsewhere.
_NO_TEXT = frozenset({"binary", "symbolic link", "not a regular file", "outside the project"})
# Reasons of files that seldom hold what is looked for, and are often many: they come after those that may hide code.
_SELDOM_MEANT = frozenset({"secret", "data", "generated", "minified"})
_MAX_REASONS = 4


def count_left_out(store: CheckoutIndex, filters: Filters = NO_FILTERS, roles: Roles = BY_PATH) -> Counter[str]:
    """The files that are not indexed, pass the filters and may hold text, by reason."""
    if filters == NO_FILTERS:
        # Asked at each question that is a name, so this must look at no file.
        return without_textless(Counter(store.skipped_counts()))
    skipped = store.skipped()
    passes = accepts(filters, roles, set(map(compose, skipped)))
    reasons = (each.reason for path, each in skipped.items() if passes(path, detect_language(path) or "text"))
    return without_textless(Counter(reasons))


def count_secret_lines(store: CheckoutIndex, filters: Filters = NO_FILTERS, roles: Roles = BY_PATH) -> Counter[str]:
    """The lines that look like secrets, of the documents that pass the filters, by path."""
    found = store.secret_lines()
    if not found or filters == NO_FILTERS:
        return Counter(found)
    passes = accepts(filters, roles, set(map(compose, found)))
    return Counter({path: count for path, count in found.items() if passes(path, detect_language(path) or "text")})


def without_textless(counts: Mapping[str, int]) -> Counter[str]:
    """The counts, by reason, of the files that may hold text."""
    return Counter({reason: count for reason, count in counts.items() if reason not in _NO_TEXT})


def describe_left_out(counts: Counter[str], store: CheckoutIndex | None = None) -> str:
    """Counts of files that are not indexed, in words, with one of them if their store is given; empty if there are none."""
    if not counts:
        return ""
    named = sorted(counts.items(), key=lambda item: (item[0] in _SELDOM_MEANT, -item[1]))[:_MAX_REASONS]
    total = counts.total()
    others = total - sum(count for _, count in named)
    reasons = ", ".join(
        [*(f"{count:,} {reason}" for reason, count in named), *([f"{others:,} more"] if others else [])]
    )
    example = "; e.g. " + "".join(store.skipped_because(named[0][0], 1)) if store else ""
    files = f"{count_of(total, 'file')} {'was' if total == 1 else 'were'}"
    return f"{files} not looked at ({reasons}{example}): index_status with skipped = true lists them"
