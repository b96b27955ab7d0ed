"""Shows progress on the terminal, on stderr: stdout is for data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rag_ls.cli.terminal import find_raw_stream, guard_streams
from rag_ls.util.journey import Journey, title_of
from rag_ls.util.text import fold

Show = Callable[[dict[str, Any]], None]
"""Called with each step: `{"project", "phase", "done", "total"}`."""


@contextmanager
def show_progress(first: str = "", *, named: bool = False, embeds: bool = True) -> Iterator[Show]:
    """Show progress until the block ends. `first` is printed before the first step; `named` adds the project's name.

    `embeds`: the steps go on to embedding, after reading.
    """
    notes = [first] if first else []
    with _bar(embeds) if sys.stderr.isatty() else _lines() as show:

        def report(step: dict[str, Any]) -> None:
            if notes:
                print(f"rag-ls: {notes.pop()}", file=sys.stderr)
            if step["phase"] != "idle":
                show({**step, "title": f"{step['project']}: {_title(step)}"} if named else step)

        yield report


def show_reading() -> AbstractContextManager[Show]:
    """Show the progress of a question whose files are read first; embedding is not waited for."""
    return show_progress(first="reading the files of this project", embeds=False)


@contextmanager
def _bar(embeds: bool) -> Iterator[Show]:
    """Draw one bar for reading and embedding; its library is imported at the first step."""
    bar: Any = None
    task: Any = None
    journeys: dict[str, Journey] = {}

    def show(step: dict[str, Any]) -> None:
        nonlocal bar, task
        if bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

            columns = ("{task.description}", BarColumn(bar_width=24), "{task.fields[left]}")
            shown = [TextColumn(each, markup=False) if isinstance(each, str) else each for each in columns]
            console = Console(file=find_raw_stream(sys.stderr))
            bar = Progress(SpinnerColumn(), *shown, console=console, transient=True)
            bar.start()
            # The bar replaced the streams, so that other output is printed above it.
            guard_streams()
            task = bar.add_task("", total=1.0, left="")
        journey = journeys.setdefault(step["project"], Journey(embeds=embeds))
        progress = journey.at(step)
        phase = journey.phase_of(step)
        what = title_of(phase) if phase == "loading" else f"{_title(step)}{_amount(step)}"
        bar.update(task, description=what, completed=progress.done, left=str(progress))

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


@contextmanager
def _lines() -> Iterator[Show]:
    shown: tuple[str, str, int] | None = None

    def show(progress: dict[str, Any]) -> None:
        nonlocal shown
        # A pipe is often a log: print one line for each step, and one for each tenth of it.
        tenth = 10 * progress["done"] // progress["total"] if progress["total"] else 0
        now = (progress["project"], _title(progress), tenth)
        if now != shown:
            print(f"rag-ls: {_title(progress)}{_amount(progress)}", file=sys.stderr, flush=True)
            shown = now

    yield show


def _title(progress: dict[str, Any]) -> str:
    title: str = fold(progress.get("title", "")) or title_of(progress["phase"])
    return title


def _amount(progress: dict[str, Any]) -> str:
    return f" {progress['done']:,}/{progress['total']:,}" if progress["total"] else ""
