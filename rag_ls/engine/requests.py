"""What is asked of an open project, and what comes back besides hits."""

from __future__ import annotations

from dataclasses import dataclass

from rag_ls.errors import InvalidRequest
from rag_ls.indexing import Progress
from rag_ls.model import Coverage, Hit
from rag_ls.search import NO_FILTERS, Filters

MAX_K = 100
DECLARED_KINDS = ("function", "type", "value", "module", "section")
"""What an outline lists (`model.Symbol.kind`)."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question about a project's code."""

    query: str
    k: int | None = None
    filters: Filters = NO_FILTERS
    min_score: float = 0.0
    declares: str = ""
    """A kind of declaration, one of `DECLARED_KINDS`: hits are to hold one, or be a part of one."""
    files_only: bool = False
    """One hit a file, the best."""
    rerank: bool = False


@dataclass(frozen=True, slots=True)
class Related:
    """What a hover shows: memories about the code, and code of other files close to it."""

    memories: tuple[Hit, ...]
    code: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class ProjectStatus:
    """How an open project stands."""

    root: str
    documents: int
    chunks: int
    queued_documents: int
    pending_embeddings: int
    coverage: Coverage
    buffers: int
    skipped: dict[str, int]
    """Files that are not indexed, by reason."""
    complete: bool
    scanned: bool
    model: str
    model_ready: bool
    note: str
    sync: str
    """How changes of the files are noticed: `watching`, `scanning: <why>` or `off`."""
    last_sync: str | None
    """When the last comparison or batch of changes was taken in, in UTC (RFC 3339)."""
    progress: Progress
    memories: dict[str, int]


def checked_k(k: int | None, default: int) -> int:
    """How many hits to give. Raises `InvalidRequest` for less than one; more than `MAX_K` means `MAX_K`."""
    if k is None:
        return default
    if k < 1:
        raise InvalidRequest(f"k = {k} is below 1; ask for 1 to {MAX_K} hits")
    return min(k, MAX_K)
