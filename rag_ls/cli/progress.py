"""Shows progress on the terminal, on stderr: stdout is for data."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Show = Callable[[dict[str, Any]], None]
"""Told of each step: `{"project", "phase", "done", "total"}`."""

_TITLES = {
    "reading": "reading files",
    "embedding": "embedding",
    "scanning": "comparing files with the index",
    "waiting": "another rag-ls process indexes this project; waiting for it",
}
_LINE_EVERY_S = 5.0


@contextmanager
def showing(first: str = "", *, named: bool = False) -> Iterator[Show]:
    """Show progress until the block ends. `first` is printed before the first step; `named` adds the project's name."""
    said = False
    with _bars() if sys.stderr.isatty() else _lines() as show:

        def report(progress: dict[str, Any]) -> None:
            nonlocal said
            if first and not said:
                print(f"rag-ls: {first}", file=sys.stderr)
            said = True
            show({**progress, "title": f"{progress['project']}: {_title(progress)}"} if named else progress)

        yield report


@contextmanager
def _bars() -> Iterator[Show]:
    """Draw a progress bar; its library is imported at the first step."""
    bars: Any = None
    task: Any = None

    def show(progress: dict[str, Any]) -> None:
        nonlocal bars, task
        if bars is None:
            bars = _new_bars()
            bars.start()
            task = bars.add_task("", total=None)
        bars.update(task, description=_title(progress), completed=progress["done"], total=progress["total"] or None)

    try:
        yield show
    finally:
        if bars is not None:
            bars.stop()


def _new_bars() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:>14}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def _lines() -> Iterator[Show]:
    shown, at = "", 0.0

    def show(progress: dict[str, Any]) -> None:
        nonlocal shown, at
        is_news = progress["phase"] != "idle" and _title(progress) != shown
        if is_news or time.monotonic() - at > _LINE_EVERY_S:
            print(f"rag-ls: {_title(progress)}{_amount(progress)}", file=sys.stderr, flush=True)
            shown, at = _title(progress), time.monotonic()

    yield show


def _title(progress: dict[str, Any]) -> str:
    title: str = progress.get("title") or _TITLES.get(progress["phase"], str(progress["phase"]))
    return title


def _amount(progress: dict[str, Any]) -> str:
    return f" {progress['done']:,}/{progress['total']:,}" if progress["total"] else ""
