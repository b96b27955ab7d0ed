"""Cuts many files in separate processes: this uses all cores, and a grammar that crashes or hangs ends only its own
process."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path

from rag_ls.indexing.cutting import JOBS, Cutting, Job, Outcome, failed
from rag_ls.util.pipe_frames import read_frame, write_frame

_log = logging.getLogger(__name__)

_MAX_PROCESSES = 8
_BATCH = 12
# Batches per process: one that it works on, the rest ready for it while the caller stores results.
_AHEAD = 4
# The parser itself gives up after a few seconds; a longer run hangs where the parser cannot check the time.
_BATCH_S = 60.0
_FILE_S = 20.0


class CutterFailed(Exception):
    """The process ended, or was ended, before it answered."""


class Cutters:
    """A few processes that read and cut files. Started at once, ended by `close`; for one thread."""

    def __init__(self, root: Path, limit: int, count: int = 0) -> None:
        """`limit` is the largest file in bytes; `count` the number of processes, 0 for one a core."""
        self._root = root
        self._limit = limit
        count = count or min(os.cpu_count() or 1, _MAX_PROCESSES)
        self._idle: queue.SimpleQueue[_Cutter] = queue.SimpleQueue()
        self._cutters = [_Cutter() for _ in range(count)]
        for cutter in self._cutters:
            self._idle.put(cutter)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="cutters")
        self._ahead = _AHEAD * count

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        for cutter in self._cutters:
            cutter.close()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def cut(self, jobs: Iterable[Job], cutting: Cutting) -> Iterator[list[tuple[Job, Outcome, bool]]]:
        """Yield jobs in order with their outcomes, and whether each was cut as `cutting` says: a file on which the
        grammar crashes or hangs is cut by lines instead. Finished batches come together, to share one commit."""
        left, size = iter(jobs), 1
        running: deque[tuple[list[Job], Future[list[tuple[Outcome, bool]]]]] = deque()
        while True:
            while len(running) < self._ahead and (batch := list(islice(left, size))):
                running.append((batch, self._threads.submit(self._batch, batch, cutting)))
                # Start with small batches: a question may wait for the first files.
                size = min(size + 1, _BATCH)
            if not running:
                return
            finished = [running.popleft()]
            finished[0][1].result()
            while running and running[0][1].done():
                finished.append(running.popleft())
            yield [
                (job, *outcome)
                for batch, future in finished
                for job, outcome in zip(batch, future.result(), strict=True)
            ]

    def _batch(self, batch: list[Job], cutting: Cutting) -> list[tuple[Outcome, bool]]:
        cutter = self._idle.get()
        try:
            try:
                outcomes = cutter.ask((self._root, cutting, self._limit, batch), _BATCH_S)
                return [(outcome, True) for outcome in outcomes]
            except CutterFailed:
                if cutter.is_closed:
                    raise
                return [self._alone(cutter, job, cutting) for job in batch]
        finally:
            self._idle.put(cutter)

    def _alone(self, cutter: _Cutter, job: Job, cutting: Cutting) -> tuple[Outcome, bool]:
        try:
            return cutter.ask((self._root, cutting, self._limit, [job]), _FILE_S)[0], True
        except CutterFailed:
            if cutter.is_closed:
                raise
            _log.warning("%s: its grammar crashes or hangs; it is cut by lines", job.path)
        try:
            by_lines = replace(cutting, by_lines=True)
            return cutter.ask((self._root, by_lines, self._limit, [job]), _FILE_S)[0], False
        except CutterFailed:
            if cutter.is_closed:
                raise
            return failed(self._root, job.path, "no process survives it"), False


class _Cutter:
    """One process, started anew when it failed."""

    def __init__(self) -> None:
        self._closed = False
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = _started()

    def ask(self, request: object, timeout_s: float) -> list[Outcome]:
        """Raises `CutterFailed` when there is no answer in time."""
        with self._lock:
            if self._closed:
                raise CutterFailed
            process = self._process = self._process or _started()
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(timeout_s, process.kill)
        watchdog.start()
        try:
            write_frame(process.stdin, JOBS, pickle.dumps(request, protocol=5))
            outcomes: list[Outcome] = pickle.loads(read_frame(process.stdout)[1])
        except (OSError, EOFError, ValueError) as error:
            self._end()
            raise CutterFailed from error
        finally:
            watchdog.cancel()
        return outcomes

    @property
    def is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        with self._lock:
            self._closed = True
        self._end()

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    # Closing flushes into a pipe that has no reader any more.
                    with contextlib.suppress(OSError):
                        pipe.close()


def _started() -> subprocess.Popen[bytes]:
    # -P: do not import modules from the working folder, which is the user's.
    command = [sys.executable, "-P", "-m", "rag_ls.indexing.cutter_main"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
