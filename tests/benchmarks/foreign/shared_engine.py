"""A real engine for a measurement: `rag-ls serve` with an own home, and what it holds while it works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.support import engine_pid

RAG_LS = str(Path(sys.executable).with_name("rag-ls"))
NO_MODEL = "words-only"
"""No model has this name, so the engine finds by words alone."""

_SAMPLE_S = 0.1


class TooLarge(Exception):
    """The processes hold more than the measurement may take from the machine."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an engine holds at a moment; memory in MB, `tree` with its child processes."""

    uss: float
    rss: float
    tree_uss: float
    tree_rss: float
    handles: int
    threads: int
    children: int


class Watched:
    """An engine's process and its children, looked at ten times a second."""

    def __init__(self, pid: int, limit_mb: float) -> None:
        self._engine = psutil.Process(pid)
        self._limit_mb = limit_mb
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._peak_rss = self._peak_uss = 0.0
        self._thread.start()

    def read(self) -> Reading:
        """What the engine holds now. Raises `TooLarge` where it once held more than the limit."""
        if self._peak_rss > self._limit_mb:
            raise TooLarge(
                f"the engine and its children held {self._peak_rss:,.0f} MB; the limit is {self._limit_mb:,.0f}"
            )
        (uss, rss), *children = self._memory()
        return Reading(
            uss=uss,
            rss=rss,
            tree_uss=uss + sum(child[0] for child in children),
            tree_rss=rss + sum(child[1] for child in children),
            handles=self._engine.num_fds(),
            threads=self._engine.num_threads(),
            children=len(children),
        )

    def take_peak(self) -> tuple[float, float]:
        """The most that the tree held since the last call: USS and RSS, in MB."""
        peak = self._peak_uss, self._peak_rss
        self._peak_uss = self._peak_rss = 0.0
        return peak

    def close(self) -> None:
        """Stop looking."""
        self._stop.set()
        self._thread.join()

    def _memory(self) -> list[tuple[float, float]]:
        """USS and RSS of the engine, then of each child that is still there."""
        found = []
        for process in (self._engine, *self._engine.children(recursive=True)):
            try:
                info = process.memory_full_info()
            except psutil.Error:
                continue
            found.append((info.uss / 1e6, info.rss / 1e6))
        return found

    def _sample(self) -> None:
        while not self._stop.wait(_SAMPLE_S):
            try:
                found = self._memory()
            except psutil.Error:
                return
            self._peak_uss = max(self._peak_uss, sum(uss for uss, _ in found))
            self._peak_rss = max(self._peak_rss, sum(rss for _, rss in found))


@contextmanager
def shared_engine(work: Path, *, words: bool, idle_minutes: float, limit_mb: float) -> Iterator[Watched]:
    """An engine that all clients started by this process use, until the block ends. Sets environment variables."""
    os.environ["RAG_LS_HOME"] = str(work / "home")
    os.environ["RAG_LS_DAEMON"] = "manual"
    os.environ["RAG_LS_DAEMON_PROJECT_IDLE_MINUTES"] = str(idle_minutes)
    if words:
        os.environ["RAG_LS_EMBEDDING_MODEL"] = NO_MODEL
    subprocess.run([RAG_LS, "serve", "--detach"], cwd=work, check=True, stdout=subprocess.DEVNULL)
    try:
        pid = engine_pid()
        assert pid is not None
        watched = Watched(pid, limit_mb)
        try:
            yield watched
        finally:
            watched.close()
    finally:
        subprocess.run([RAG_LS, "stop"], cwd=work, check=True, stdout=subprocess.DEVNULL)


def open_projects(root: Path) -> int:
    """How many projects the engine has open; it opens `root` for the question."""
    asked = subprocess.run([RAG_LS, "status", "--json", "--project", str(root)], check=True, capture_output=True)
    return len(json.loads(asked.stdout)["projects"])
