"""Repositories one after the other in one engine: index, ask, type; what the engine holds after each step.

`python -m tests.benchmarks foreign FOLDER... [--words] [--keystrokes 200]`
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.benchmarks.foreign.clients import Typed, Typist, ask_all, skipped_paths, until_indexed
from tests.benchmarks.foreign.repositories import (
    SourceFile,
    ask_about,
    copy_repository,
    largest_by_language,
    source_files,
)
from tests.benchmarks.foreign.shared_engine import (
    Reading,
    TooLarge,
    Watched,
    open_projects,
    shared_engine,
)
from tests.benchmarks.measure import percentiles
from tests.e2e.clients import agent, editor

_REST_S = 2.0
_LAST_REST_S = 10.0
_CLOSING_S = 30.0
_WARM_UP = 20
_HEADINGS = "USS    RSS   USS+ch RSS+ch  peak USS/RSS  handles threads"
_GOALS = {
    "at rest": "under 450 MB",
    "peak": "under 900 MB",
    "typing": "under 5 MB per 1,000 keystrokes",
    "open": "at most 6 handles, 1 thread, 2 MB",
}


def main(words: Sequence[str]) -> None:
    """Measure, and print as it goes on."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks foreign", description=__doc__)
    add_arguments(parser)
    parser.add_argument("--keystrokes", type=int, default=200, help="in the largest file of each language")
    parser.add_argument("--languages", default="", help="type in these alone, e.g. scala,haskell")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory(dir=arguments.work) as temporary:
        try:
            asyncio.run(Run(Path(temporary), arguments).measure())
        except TooLarge as error:
            print(f"stopped: {error}", flush=True)
            sys.exit(1)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What every measurement on real repositories is told."""
    parser.add_argument(
        "folders",
        nargs="*",
        default=[Path(__file__).parents[3]],
        type=Path,
        metavar="FOLDER",
        help="git checkouts, of which clones are indexed (default: this one)",
    )
    parser.add_argument("--words", action="store_true", help="index words only, which is quick")
    parser.add_argument("--idle-minutes", type=float, default=10.0, help="until an unused project is closed")
    parser.add_argument("--limit", type=float, default=12_000.0, help="stop where the engine's tree takes more MB")
    parser.add_argument("--work", type=Path, help="where copies and the engine's home are put (default: temporary)")


class Run:
    """One engine's way through all repositories."""

    def __init__(self, work: Path, arguments: argparse.Namespace) -> None:
        self._work = work
        self._arguments = arguments
        self._words: bool = arguments.words
        self._files: list[SourceFile] = []
        self._peak = 0.0

    async def measure(self) -> None:
        """Index and ask, then type, then rest."""
        asked = self._arguments
        engine = shared_engine(self._work, words=self._words, idle_minutes=asked.idle_minutes, limit_mb=asked.limit)
        with engine as watched:
            print(f"{'':44}{_HEADINGS}  (MB; +ch: with child processes)")
            await self._show_rest("engine alone, nothing open", watched)
            readings = [await self._index(folder, number, watched) for number, folder in enumerate(asked.folders, 1)]
            rest = await self._show_rest("all indexed, 20 questions each", watched)
            last = self._work / asked.folders[-1].name
            _print_share(open_projects(last) - 1, readings[0], rest)
            await self._type_all(watched)
            await self._show_rest("all typed", watched)
            await asyncio.sleep(60 * asked.idle_minutes + _CLOSING_S)
            end = await self._show_rest("all closed", watched)
            print(f"still open: {open_projects(last) - 1}")
        print(f"at rest {end.tree_uss:.0f} MB USS, {end.tree_rss:.0f} MB RSS (goal: {_GOALS['at rest']})")
        print(f"peak {self._peak:.0f} MB RSS with children (goal: {_GOALS['peak']})", flush=True)

    async def _index(self, folder: Path, number: int, watched: Watched) -> Reading:
        root = copy_repository(folder, self._work)
        files = source_files(root)
        started = time.perf_counter()
        async with agent(root) as user:
            await until_indexed(lambda: user.call("index_status"), words=self._words)
            indexed_s = time.perf_counter() - started
            watched.read()
            await ask_all(user, ask_about(root, files))
            skipped = await skipped_paths(user)
        self._files += [file for file in files if file.path not in skipped]
        await asyncio.sleep(_REST_S)
        return self._show(f"{number} {folder.name[:28]} {indexed_s:.0f} s", watched)

    async def _type_all(self, watched: Watched) -> None:
        wanted = set(filter(None, self._arguments.languages.split(",")))
        print(f"keystroke to found, and growth (goal: {_GOALS['typing']})")
        for language, files in largest_by_language(self._files).items():
            if not wanted or language in wanted:
                await self._type(files[0], watched)

    async def _type(self, source: SourceFile, watched: Watched) -> None:
        keystrokes = self._arguments.keystrokes
        async with editor(source.root) as user:

            async def settle() -> Reading:
                await until_indexed(lambda: user.command("status"), words=self._words)
                await asyncio.sleep(_REST_S)
                return watched.read()

            typist = Typist(user, source)
            await typist.type(min(_WARM_UP, keystrokes))
            before = await settle()
            typed = await typist.type(keystrokes)
            after = await settle()
            typist.close()
        print(_typing_line(source, typed, before, after), flush=True)
        self._show(f"  after {source.language}", watched)

    async def _show_rest(self, label: str, watched: Watched) -> Reading:
        await asyncio.sleep(_LAST_REST_S)
        return self._show(label, watched)

    def _show(self, label: str, watched: Watched) -> Reading:
        reading = watched.read()
        peak_uss, peak_rss = watched.take_peak()
        self._peak = max(self._peak, peak_rss)
        sizes = (reading.uss, reading.rss, reading.tree_uss, reading.tree_rss)
        held = f"{peak_uss:6.0f}/{peak_rss:<6.0f} {reading.handles:6} {reading.threads:7}"
        print(f"{label:40}{_row(sizes)}  {held}", flush=True)
        return reading


def _print_share(further: int, first: Reading, rest: Reading) -> None:
    """What each project beyond the first holds while nobody uses it."""
    if further > 0:
        print(
            f"each of {further} further open projects: {(rest.handles - first.handles) / further:.1f} handles, "
            f"{(rest.threads - first.threads) / further:.1f} threads, {(rest.uss - first.uss) / further:.1f} MB "
            f"(goal: {_GOALS['open']})",
            flush=True,
        )


def _row(sizes: Iterable[float]) -> str:
    return "".join(f"{size:7.0f}" for size in sizes)


def _typing_line(source: SourceFile, typed: Typed, before: Reading, after: Reading) -> str:
    count = len(typed.found_s) + typed.missed
    growth, tree_growth = (
        (each[1] - each[0]) * 1000 / count for each in ((before.uss, after.uss), (before.tree_uss, after.tree_uss))
    )
    times = percentiles(typed.found_s) if typed.found_s else {"p50_ms": float("nan"), "p95_ms": float("nan")}
    return (
        f"{source.language:12} {source.size / 1000:5.0f} KB  p50 {times['p50_ms']:7.1f} ms  p95 {times['p95_ms']:7.1f} ms"
        f"  missed {typed.missed:3}  MB per 1,000: engine {growth:8.1f}, with children {tree_growth:8.1f}"
        f"  {source.root.name}/{source.path}"
    )
