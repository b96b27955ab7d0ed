"""Waits for indexing, and reports its progress."""

from __future__ import annotations

import time
from collections.abc import Callable

from rag_ls.engine.session import ProjectSession
from rag_ls.errors import StoreUnavailable
from rag_ls.indexing import Depth, Phase, Progress
from rag_ls.operations.answer_json import Json

_POLL_S = 0.25


Report = Callable[[str, Progress], None]
"""Called with a project's name and its progress."""


def ignore_progress(project: str, progress: Progress) -> None:
    """Report nothing."""


def make_progress(project: str, progress: Progress) -> Json:
    """One step of a project's indexing as JSON."""
    return {"project": project, "phase": progress.phase.value, "done": progress.done, "total": progress.total}


def index_and_wait(view: ProjectSession, report: Report, *, words_only: bool) -> None:
    """Index one project, and wait for it."""
    depth = Depth.WORDS if words_only else Depth.EMBEDDINGS
    view.indexing.index_tree(depth)
    # Report at least once, even if all is indexed at once.
    report(view.project.name, Progress(Phase.SCANNING))
    follow_indexing(view, report, embeddings=not words_only)


def follow_indexing(view: ProjectSession, report: Report, *, embeddings: bool, deadline: float | None = None) -> None:
    """Report a project's progress until it is indexed, or indexing was cancelled.

    Raises `StoreUnavailable` where it cannot go on (a full disk); it does in the background when it can.
    """
    indexing = view.indexing
    while not indexing.wait_until_idle(_POLL_S, embeddings=embeddings):
        if indexing.progress.phase is Phase.CANCELLED or (deadline is not None and time.monotonic() > deadline):
            return
        if problem := indexing.problem:
            raise StoreUnavailable(problem, "index")
        report(view.project.name, indexing.activity)
