"""Memory of one engine: many small repositories indexed one after the other, one file edited again and again."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import psutil

from rag_ls.engine.client import local_client
from rag_ls.indexing import Buffer

_WORDS = (
    "account balance cache decode encode fetch gather handle invoice join kernel ledger merge notify open parse "
    "queue render sample token update verify write yield zone buffer cursor digest event filter graph hash index"
).split()


def memory(work: Path, *, repositories: int = 10, files: int = 40, edits: int = 2400) -> dict[str, Any]:
    """Resident megabytes of an engine: after each repository and at rest, and at its peak with and without its workers."""
    client = local_client()
    own = psutil.Process()
    after: list[int] = []
    peaks: list[int] = []
    own_peak = 0
    for number in range(repositories):
        root = _repository(work / f"repository{number}", number, files)
        view = client.open(root)
        view.indexing.index_tree()
        peaks.append(0)
        while not view.indexing.wait_until_idle(0.25):
            peaks[-1] = max(peaks[-1], _megabytes(own))
            own_peak = max(own_peak, own.memory_info().rss // 1_000_000)
        after.append(_megabytes(own))
    time.sleep(3)
    at_rest = _megabytes(own)
    view = client.open(work / "repository0")
    before_edits = _megabytes(own)
    for number in range(edits):
        view.buffer_changed(Buffer("module_0.py", _module(random.Random(number % 50), 30), "python"))
        if number % 20 == 0:
            view.indexing.wait_until_idle(5.0, embeddings=False)
    view.indexing.wait_until_idle(60.0)
    time.sleep(2)
    after_edits = _megabytes(own)
    client.close()
    return {
        "after_each_mb": after,
        "peak_mb": own_peak,
        # The first one exports the model for the worker, once for a machine.
        "peak_with_workers_mb": {"first": peaks[0], "later": max(peaks[1:], default=0)},
        "at_rest_mb": at_rest,
        "growth_by_edits_mb": after_edits - before_edits,
        "edits": edits,
    }


def _megabytes(process: psutil.Process) -> int:
    total = process.memory_info().rss
    for child in process.children(recursive=True):
        try:
            total += child.memory_info().rss
        except psutil.Error:
            continue
    return total // 1_000_000


def _repository(root: Path, seed: int, files: int) -> Path:
    chance = random.Random(seed)
    for number in range(files):
        file = root / f"module_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_module(chance, 8))
    (root / ".git").mkdir()
    return root


def _module(chance: random.Random, functions: int) -> str:
    parts = []
    for _ in range(functions):
        name = "_".join(chance.sample(_WORDS, 3))
        body = "\n".join(
            f"    {chance.choice(_WORDS)} = {chance.choice(_WORDS)}({chance.randint(0, 999)})" for _ in range(12)
        )
        parts.append(f'def {name}(value):\n    """{" ".join(chance.sample(_WORDS, 8))}."""\n{body}\n    return value\n')
    return "\n\n".join(parts)
