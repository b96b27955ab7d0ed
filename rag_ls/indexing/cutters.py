"""Cuts documents in processes of their own: a grammar that crashes, hangs or swells ends only its process."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeVar

from rag_ls.indexing.cutting import (
    CutFile,
    Cutting,
    Ended,
    Job,
    Outcome,
    Tree,
    cut_batch,
    cut_source,
    failed,
)
from rag_ls.indexing.files import Source
from rag_ls.util.guarded_processes import GuardedProcesses, Limits, ProcessEnded, R

_log = logging.getLogger(__name__)

J = TypeVar("J")

_MAX_PROCESSES = 8
# One process works; a second one is for several editors that type at once.
_MAX_TYPED_PROCESSES = 2
# An idle process ends after this time: pauses in typing are longer than those between two folders of a first index.
_TYPED_REST_S, _BULK_REST_S = 120.0, 3.0
_MAX_BATCH_FILES = 12
# Batches per process: one that it works on, and others that wait while the caller stores results.
_MAX_BATCHES_AHEAD = 4
# Files of a survey per batch: it takes a fraction of a second.
_SURVEY_BATCH_FILES = 40
# The parser itself gives up after a few seconds; a longer run hangs where the parser cannot check the time.
_FILE = Limits(cpu_s=20.0)
_BATCH = Limits(cpu_s=60.0)
# Cutting needs neither databases nor the walk through the tree: without them a process is up in half the time.
_POSTPONED = ("rag_ls.indexing", "rag_ls.storage", "rag_ls.search")


class Cutters:
    """The processes that cut the documents of all projects. Started on demand, ended by `close` or when they rest.

    A text that ends its process is cut by lines, and its result says why. Safe from several threads. Each call raises
    `NoProcess` after `close`, and where the system starts no process.
    """

    def __init__(self, count: int = 0, *, is_brief: bool = False) -> None:
        """`count` is the number of processes for many files, 0 for one a core; in a command that `is_brief` they do all."""
        self._count = count or min(os.cpu_count() or 1, _MAX_PROCESSES)
        self._bulk = GuardedProcesses(self._count, nice=5, rest_s=_BULK_REST_S, postponed=_POSTPONED)
        typed = partial(GuardedProcesses, _MAX_TYPED_PROCESSES, rest_s=_TYPED_REST_S, postponed=_POSTPONED)
        self._typed = self._bulk if is_brief else typed()

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        self._typed.close()
        self._bulk.close()

    def cut_text(
        self, path: str, source: Source, language: str, cutting: Cutting, ended: Ended, session: str
    ) -> CutFile:
        """Cut the text of an editing session. Raises `ProcessEnded` where no process survives even its lines."""
        try:
            return _call(self._typed, _FILE, cut_source, path, source, language, cutting, ended, session)
        except ProcessEnded as error:
            _log.warning("the unsaved text of %s is cut by lines: when it was parsed, %s", path, error)
            ended = {source.sha256: str(error)}
            return _call(self._typed, _FILE, cut_source, path, source, language, cutting, ended, session)

    def cut_file(self, tree: Tree, job: Job) -> Outcome:
        """Read and cut one file."""
        return _cut_alone(self._typed, tree, job)

    def call(self, function: Callable[..., R], *arguments: object) -> R:
        """The result of another function that parses one text. Raises `ProcessEnded` where it ends its process."""
        return _call(self._typed, _FILE, function, *arguments)

    def call_or(self, otherwise: R, lost: str, function: Callable[..., R], *arguments: object) -> R:
        """As `call`; where it ends its process, `otherwise`, and the log says what is `lost`."""
        try:
            return self.call(function, *arguments)
        except ProcessEnded as error:
            _log.warning("%s: when it was parsed, %s", lost, error)
            return otherwise

    def call_many(self, function: Callable[[Sequence[J]], list[R]], items: Sequence[J]) -> Iterator[R | None]:
        """Yield in order the results of another function that parses files; None for an item that ends its process."""
        batches = [items[start : start + _SURVEY_BATCH_FILES] for start in range(0, len(items), _SURVEY_BATCH_FILES)]
        with ThreadPoolExecutor(self._count, thread_name_prefix="cutters") as threads:
            for results in threads.map(partial(_call_batch, self._bulk, function), batches):
                yield from results

    def cut_many(self, tree: Tree, jobs: Iterable[Job], *, parallel: bool) -> Generator[list[tuple[Job, Outcome]]]:
        """Yield jobs in order with their outcomes. Finished batches come together, to share one commit.

        `parallel` uses all processes, which pays for many files.
        """
        processes, count = (self._bulk, self._count) if parallel else (self._typed, 1)
        threads = ThreadPoolExecutor(count, thread_name_prefix="cutters")
        left, size = iter(jobs), 1
        running: deque[tuple[list[Job], Future[list[Outcome]]]] = deque()
        try:
            while True:
                while len(running) < _MAX_BATCHES_AHEAD * count and (batch := list(islice(left, size))):
                    running.append((batch, threads.submit(_cut_batch, processes, tree, batch)))
                    # Start with small batches: a question may wait for the first files.
                    size = min(size + 1, _MAX_BATCH_FILES)
                if not running:
                    return
                finished = [running.popleft()]
                finished[0][1].result()
                while running and running[0][1].done():
                    finished.append(running.popleft())
                yield [item for batch, future in finished for item in zip(batch, future.result(), strict=True)]
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def _call_batch(
    processes: GuardedProcesses, function: Callable[[Sequence[J]], list[R]], batch: Sequence[J]
) -> list[R | None]:
    try:
        return [*_call(processes, _BATCH if len(batch) > 1 else _FILE, function, batch)]
    except ProcessEnded as error:
        if len(batch) > 1:
            return [each for item in batch for each in _call_batch(processes, function, [item])]
        _log.warning("%s is left out: when it was parsed, %s", batch[0], error)
        return [None]


def _cut_batch(processes: GuardedProcesses, tree: Tree, batch: list[Job]) -> list[Outcome]:
    try:
        return processes.call(cut_batch, tree, batch, limits=_BATCH)
    except ProcessEnded:
        return [_cut_alone(processes, tree, job) for job in batch]


def _cut_alone(processes: GuardedProcesses, tree: Tree, job: Job) -> Outcome:
    try:
        return _call(processes, _FILE, cut_batch, tree, [job])[0]
    except ProcessEnded as error:
        _log.warning("%s is cut by lines: when it was parsed, %s", job.path, error)
        reason = str(error)
    try:
        return _call(processes, _FILE, cut_batch, tree, [replace(job, ended=reason)])[0]
    except ProcessEnded as error:
        return failed(tree.root, job.path, str(error))


def _call(processes: GuardedProcesses, limits: Limits, function: Callable[..., R], *arguments: object) -> R:
    """A call that is made again if somebody else may have ended the process."""
    try:
        return processes.call(function, *arguments, limits=limits)
    except ProcessEnded as error:
        if error.by_call:
            raise
    return processes.call(function, *arguments, limits=limits)
