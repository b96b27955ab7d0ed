"""Requests to an open project, and the answers that are not hits."""

from __future__ import annotations

from rag_ls.errors import InvalidRequest
from rag_ls.indexing import Progress
from rag_ls.model import Coverage
from rag_ls.search import NO_FILTERS, Filters, Query, analyse
from rag_ls.util.records import dataclass, field

MAX_K = 100
DECLARED_KINDS = ("function", "type", "value", "module", "section")
"""The kinds of declaration in an outline (`model.Symbol.kind`)."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question about a project's code."""

    query: str
    k: int | None = None
    filters: Filters = NO_FILTERS
    min_score: float = 0.0
    declares: str = ""
    """Keep only hits that hold this kind of declaration (one of `DECLARED_KINDS`) or are a part of one."""
    files_only: bool = False
    """Keep only the best hit of each file."""
    by_file: bool = False
    """`k` counts files, each with its best hits one after the other."""
    rerank: bool = False
    asked: Query = field(init=False)
    """The query, analysed once for all who answer the question."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "asked", analyse(self.query))


@dataclass(frozen=True, slots=True)
class ProjectStatus:
    """The state of an open project."""

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
    """The way in which changes of the files are noticed: `watching`, `scanning: <why>` or `off`."""
    last_sync: str | None
    """The time when the index last took in a comparison or a batch of changes, in UTC (RFC 3339)."""
    progress: Progress
    memories: dict[str, int]
    share_problem: str
    """The reason why vectors or memories are not shared with the team; empty if they are, or have no team."""


def read_k(k: int | None, default: int) -> int:
    """The number of hits to return, at most `MAX_K`. Raises `InvalidRequest` below 1."""
    if k is None:
        return default
    if k < 1:
        raise InvalidRequest(f"k = {k} is below 1; ask for 1 to {MAX_K} hits")
    return min(k, MAX_K)
