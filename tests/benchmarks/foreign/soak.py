"""An hour of everything in one engine: typing, questions, written files, projects opened and closed; a line a minute.

`python -m tests.benchmarks soak FOLDER... [--words] [--minutes 60]`
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from statistics import linear_regression, median

from tests.benchmarks.foreign.clients import Typist, until_indexed
from tests.benchmarks.foreign.memory_run import add_arguments
from tests.benchmarks.foreign.repositories import SourceFile, ask_about, copy_repository, source_files
from tests.benchmarks.foreign.shared_engine import Reading, TooLarge, Watched, shared_engine
from tests.e2e.clients import Editor, agent, editor

_MINUTE_S = 60.0
_VISIT_S = 30.0
"""How long a project is worked in before the next one is opened."""

_PAUSE_S = 0.1
_SHOWN = ("tree_uss", "tree_rss", "uss", "handles", "threads", "children")
_FLAT_SHARE = 0.05
"""A line is flat if it rises by no more than this share of its median from the first third's end to the last minute."""


def main(words: Sequence[str]) -> None:
    """Work for some time, print a line a minute, and say at the end which lines are flat."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks soak", description=__doc__)
    add_arguments(parser)
    parser.add_argument("--minutes", type=int, default=60)
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory(dir=arguments.work) as temporary:
        try:
            asyncio.run(_soak(Path(temporary), arguments))
        except TooLarge as error:
            print(f"stopped: {error}", flush=True)
            sys.exit(1)


async def _soak(work: Path, arguments: argparse.Namespace) -> None:
    roots = [copy_repository(folder, work) for folder in arguments.folders]
    chance = random.Random(7)
    readings: list[Reading] = []
    engine = shared_engine(work, words=arguments.words, idle_minutes=arguments.idle_minutes, limit_mb=arguments.limit)
    with engine as watched:
        for number, root in enumerate(roots, start=1):
            async with agent(root) as user:
                await until_indexed(lambda user=user: user.call("index_status"), words=arguments.words)  # type: ignore[misc]
            print(f"indexed {number} of {len(roots)}: {root.name}", flush=True)
        print(f"minute {' '.join(f'{name:>9}' for name in _SHOWN)}  peak RSS", flush=True)
        printing = asyncio.create_task(_print_minutes(watched, arguments.minutes, readings))
        steps = _Steps(chance)
        printing.add_done_callback(lambda _: steps.stop())
        while not printing.done():
            await steps.visit(chance.choice(roots))
        await printing
    _judge(readings)


class _Steps:
    """What people and agents do in a project, chosen by chance."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._is_stopped = False

    def stop(self) -> None:
        """End the visit soon."""
        self._is_stopped = True

    async def visit(self, root: Path) -> None:
        """Open a project in an editor and an agent, work in it for a while, and close it."""
        files = source_files(root)
        questions = ask_about(root, files)
        until_s = time.monotonic() + _VISIT_S
        async with editor(root) as person, agent(root) as user:
            typist: Typist | None = None
            while time.monotonic() < until_s and not self._is_stopped:
                step = self._chance.random()
                if typist is None or step < 0.05:
                    typist = self._open_another(person, typist, files)
                elif step < 0.7:
                    typist.press()
                elif step < 0.9:
                    await user.call("search_code", query=self._chance.choice(questions))
                else:
                    _write(self._chance.choice(files))
                await asyncio.sleep(_PAUSE_S)

    def _open_another(self, person: Editor, typist: Typist | None, files: Sequence[SourceFile]) -> Typist:
        if typist is not None:
            typist.close()
        return Typist(person, self._chance.choice(files))


def _write(source: SourceFile) -> None:
    """Write a file as an agent does: its first line moves to the end."""
    file = source.root / source.path
    first, newline, rest = file.read_bytes().partition(b"\n")
    with suppress(PermissionError):
        file.write_bytes(rest + first + newline)


async def _print_minutes(watched: Watched, minutes: int, readings: list[Reading]) -> None:
    for minute in range(1, minutes + 1):
        await asyncio.sleep(_MINUTE_S)
        readings.append(watched.read())
        _, peak = watched.take_peak()
        shown = " ".join(f"{getattr(readings[-1], name):9.0f}" for name in _SHOWN)
        print(f"{minute:6} {shown} {peak:9.0f}", flush=True)


def _judge(readings: Sequence[Reading]) -> None:
    """Say of each line whether it is flat after its first third, in which the engine warms up."""
    late = readings[len(readings) // 3 :]
    if len(late) < 2:
        return
    for name in (field.name for field in fields(Reading) if field.name in _SHOWN):
        values = [float(getattr(reading, name)) for reading in late]
        slope, _ = linear_regression(range(len(values)), values)
        is_flat = slope * len(values) <= max(_FLAT_SHARE * median(values), 1)
        print(f"{name}: {'flat' if is_flat else 'RISES'}, {60 * slope:+.1f} an hour; median {median(values):.0f}")
