"""The stores of vectors side by side: filling, size, memory, latency and recall, with and without filters.

The vectors are synthetic, since a million real ones take hours to make here: points between near real ones (MiniLM's of real
chunks), moved a little at random, so that they lie as real ones do. Vectors of pure noise would make each index look bad.

Each store is measured in a process of its own, whose memory is its own. Qdrant runs in its client's local mode, which compares
every vector and keeps all in memory, unless RAG_LS_TEST_QDRANT names a server; beyond 100,000 vectors it needs one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.config.settings import Settings
from rag_ls.embedding.local.catalog import MINILM
from rag_ls.embedding.local.stack import LocalProvider
from rag_ls.storage import VectorStore, open_index
from rag_ls.util.processes import give_back_memory, share_one_arena
from tests.benchmarks.measure import memory_mb, percentiles, timed
from tests.storage.postgres.servers import postgres
from tests.support import digest

MODEL = "model@1"
_REAL, _DIMENSIONS = 2000, 384
_NEIGHBOURS, _NOISE = 20, 0.02
_QUERIES, _K, _RUNS = 100, 10, 300
# The local mode of Qdrant takes a tenth of a second and more for each question.
_FEW_RUNS = 16
# As many neighbours as a search asks for.
_ASKED = 150
_CLIENTS = (1, 8, 32)
_PUT = 2000
_MOST_IN_LOCAL_MODE = 100_000
# A filter for one project of fifty, and one for a language.
_FILTERS = {"one_of_fifty": 50, "a_third": 3}


def stores(sources: Path, work: Path, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Measure each store at each size."""
    real = _real_vectors(sources)
    results: dict[str, Any] = {}
    for size in sizes:
        given, queries = work / f"{size}.npy", work / f"{size}.npz"
        _write(given, queries, real, size)
        for store in ("sqlite", "postgres", "qdrant"):
            if store == "qdrant" and size > _MOST_IN_LOCAL_MODE and not os.environ.get("RAG_LS_TEST_QDRANT"):
                continue
            folder = work / f"{store}-{size}"
            folder.mkdir()
            command = [sys.executable, "-m", "tests.benchmarks.stores", store, str(folder), str(given), str(queries)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            results.setdefault(str(size), {})[store] = json.loads(done.stdout)
            print(f"{store} {size}: {done.stdout.decode()}", file=sys.stderr, flush=True)
        given.unlink()
    return results


def _real_vectors(sources: Path) -> NDArray[np.float32]:
    """MiniLM's vectors of pieces of real files."""
    provider = LocalProvider(EmbeddingSettings())
    model = provider.load(provider.find(MINILM.name).id)
    pieces: list[str] = []
    for file in sorted(sources.rglob("*.py")):
        text = file.read_text(encoding="utf-8", errors="replace")
        pieces += [text[at : at + 600] for at in range(0, len(text), 3000)]
    chosen = np.random.default_rng(5).permutation(len(pieces))[:_REAL]
    vectors = np.concatenate(
        [
            model.embed_documents([pieces[number] for number in part], backlog=_REAL)
            for part in np.array_split(chosen, 60)
        ]
    )
    model.close()
    return np.asarray(vectors, np.float32)


def _write(given: Path, queries: Path, real: NDArray[np.float32], size: int) -> None:
    numbers = np.random.default_rng(1)
    near = np.argsort(-(real @ real.T), axis=1)[:, 1 : _NEIGHBOURS + 1]
    stored = np.lib.format.open_memmap(given, "w+", np.float16, (size, _DIMENSIONS))
    for at in range(0, size, 50_000):
        stored[at : at + 50_000] = _between(numbers, real, near, min(50_000, size - at))
    stored.flush()
    asked = _between(numbers, real, near, _QUERIES)
    nearest = {name: _nearest(stored, asked, part) for name, part in {"all": 1, **_FILTERS}.items()}
    np.savez(queries, **{"asked": asked, **nearest})  # type: ignore[arg-type]


def _between(
    numbers: np.random.Generator, real: NDArray[np.float32], near: NDArray[np.int64], count: int
) -> NDArray[np.float32]:
    """Points between real vectors and two of their neighbours."""
    chosen = numbers.integers(0, len(real), count)
    others = near[chosen[:, None], numbers.integers(0, _NEIGHBOURS, (count, 2))]
    weights = numbers.dirichlet((1.0, 1.0, 1.0), count).astype(np.float32)
    made = weights[:, :1] * real[chosen]
    made += weights[:, 1:2] * real[others[:, 0]] + weights[:, 2:] * real[others[:, 1]]
    made += _NOISE * numbers.normal(size=made.shape).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def _measure(store: str, folder: Path, given: Path, queries: Path) -> dict[str, Any]:
    stored, questions = np.load(given, mmap_mode="r"), np.load(queries)
    asked = questions["asked"]
    share_one_arena()
    is_slow = store == "qdrant" and not os.environ.get("RAG_LS_TEST_QDRANT")
    asked, runs = (asked[:_FEW_RUNS], _FEW_RUNS) if is_slow else (asked, _RUNS)
    hashes = [digest(str(number)) for number in range(len(stored))]
    with ExitStack() as held:
        vectors, size, server_mb = _opened(store, folder, held)
        before = memory_mb()
        filled = timed(lambda: _fill(vectors, hashes, stored))
        indexed = timed(vectors.maintain)
        first = timed(lambda: vectors.nearest(MODEL, asked[0], _ASKED))
        found: dict[str, Any] = {
            "fill_s": round(filled, 1), "index_s": round(indexed, 1), "first_question_ms": round(1000 * first, 1),
            "disk_mb": round(size() / 1e6, 1), "recall_at_10": _recall(vectors, hashes, asked, questions["all"]),
        }  # fmt: skip
        for clients in _CLIENTS:
            found[f"{clients}_clients"] = _latencies(vectors, asked, clients, None, runs)
        for name, part in _FILTERS.items():
            allowed = hashes[::part]
            recall = _recall(vectors, hashes, asked[:20], questions[name], allowed)
            found[name] = {"recall_at_10": recall, **_latencies(vectors, asked, 1, allowed, min(runs, 40))}
        # As the engine does after it has indexed.
        give_back_memory()
        # Memory that this process alone has: what is mapped from files is the operating system's to take back.
        found["private_mb_grown"] = round(memory_mb()["private_mb"] - before["private_mb"], 1)
        found["server_private_mb"] = server_mb()
        vectors.close()
    return found


def _opened(store: str, folder: Path, held: ExitStack) -> tuple[VectorStore, Callable[[], int], Callable[[], float]]:
    """The store, what it takes on disk in bytes, and its server's private memory in MB."""
    if store == "sqlite":
        index = open_index(folder, Settings())
        held.callback(index.close)
        return index.vectors, lambda: _bytes(folder), lambda: 0.0
    if store == "qdrant":
        from rag_ls.storage.qdrant.vectors import QdrantVectors

        url = os.environ.get("RAG_LS_TEST_QDRANT") or f"qdrant://{folder}"
        return QdrantVectors(url, "bench"), lambda: _bytes(folder), lambda: 0.0
    from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors

    (folder / "server").mkdir()
    server = held.enter_context(postgres(folder / "server"))
    name = server.vector_database()

    def size() -> int:
        (found,) = server.run("SELECT pg_database_size(current_database())", name)[0]
        return int(str(found))

    return PostgresProjectVectors(server.url(name), "bench"), size, _server_mb


def _server_mb() -> float:
    """Private memory of all processes of PostgreSQL, in MB."""
    found = [process.info for process in psutil.process_iter(["name", "memory_full_info"])]
    return round(sum(item["memory_full_info"].uss for item in found if item["name"] == "postgres") / 1e6, 1)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _fill(vectors: VectorStore, hashes: list[bytes], stored: NDArray[np.float16]) -> None:
    for at in range(0, len(hashes), _PUT):
        part = np.asarray(stored[at : at + _PUT], np.float32)
        vectors.put(MODEL, hashes[at : at + _PUT], part / np.linalg.norm(part, axis=1, keepdims=True))


def _nearest(stored: NDArray[np.float16], asked: NDArray[np.float32], step: int) -> NDArray[np.int64]:
    """The ten nearest of each `step`th vector, compared with all of them: shape (queries, 10)."""
    best = np.zeros((len(asked), 0), np.int64)
    scores = np.zeros((len(asked), 0), np.float32)
    for at in range(0, len(stored), 50_000 * step):
        ids = np.arange(at, min(at + 50_000 * step, len(stored)), step)
        scores = np.concatenate([scores, asked @ np.asarray(stored[ids], np.float32).T], axis=1)
        best = np.concatenate([best, np.broadcast_to(ids, (len(asked), len(ids)))], axis=1)
        order = np.argsort(-scores, axis=1)[:, :_K]
        scores, best = np.take_along_axis(scores, order, 1), np.take_along_axis(best, order, 1)
    return best


def _recall(
    vectors: VectorStore,
    hashes: list[bytes],
    asked: NDArray[np.float32],
    nearest: NDArray[np.int64],
    among: list[bytes] | None = None,
) -> float:
    """The share of the ten nearest that are found."""
    found = 0
    for query, ids in zip(asked, nearest, strict=False):
        near = {neighbour.text_hash for neighbour in vectors.nearest(MODEL, query, _ASKED, among)[:_K]}
        found += len(near & {hashes[number] for number in ids})
    return round(found / (_K * len(asked)), 4)


def _latencies(
    vectors: VectorStore, asked: NDArray[np.float32], clients: int, among: list[bytes] | None, runs: int
) -> dict[str, Any]:
    def one(number: int) -> float:
        return timed(lambda: vectors.nearest(MODEL, asked[number % len(asked)], _ASKED, among))

    with ThreadPoolExecutor(clients) as threads:
        list(threads.map(one, range(clients)))
        started = time.perf_counter()
        taken = list(threads.map(one, range(runs)))
    return {**percentiles(taken), "per_s": round(runs / (time.perf_counter() - started), 1)}


if __name__ == "__main__":
    kind, *places = sys.argv[1:]
    folder, given, queries = map(Path, places)
    print(json.dumps(_measure(kind, folder, given, queries)))
