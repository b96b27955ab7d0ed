"""Following an indexing run on the terminal. Progress goes to stderr: stdout is for data."""

from __future__ import annotations

import sys
import time

from rag_ls.indexing import Phase, Progress
from rag_ls.workspace import OpenProject

_TITLES = {
    Phase.READING: "reading files",
    Phase.EMBEDDING: "embedding",
    Phase.SCANNING: "comparing files with the index",
}
_LOOK_S = 0.1
_LINE_EVERY_S = 5.0


def follow(opened: OpenProject, *, embeddings: bool) -> bool:
    """Wait until the project is indexed (with its embeddings, if asked), showing how far it is.

    Returns False when it was cancelled.
    """
    show = _bars if sys.stderr.isatty() else _lines
    return show(opened, embeddings)


def _bars(opened: OpenProject, embeddings: bool) -> bool:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:>14}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=None)
        while not (done := opened.indexing.wait_until_idle(_LOOK_S, embeddings=embeddings)):
            progress = opened.indexing.progress
            bars.update(task, description=_title(progress), completed=progress.done, total=progress.total or None)
    return done


def _lines(opened: OpenProject, embeddings: bool) -> bool:
    shown, at = None, 0.0
    while not opened.indexing.wait_until_idle(_LOOK_S, embeddings=embeddings):
        progress = opened.indexing.progress
        is_news = progress.phase is not Phase.IDLE and progress.phase != shown
        if is_news or time.monotonic() - at > _LINE_EVERY_S:
            print(f"rag-ls: {_title(progress)}{_amount(progress)}", file=sys.stderr, flush=True)
            shown, at = progress.phase, time.monotonic()
    return True


def _title(progress: Progress) -> str:
    if progress.phase is Phase.WAITING:
        return "another rag-ls process indexes this project; waiting for it"
    return _TITLES.get(progress.phase, str(progress.phase))


def _amount(progress: Progress) -> str:
    return f" {progress.done:,}/{progress.total:,}" if progress.total else ""
