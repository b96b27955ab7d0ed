"""Hover and search at 1,000, 10,000 and 100,000 chunks, and the memory that it takes.

The chunks are real code in real files. Their vectors are synthetic (real ones of a sample, moved at random): 100,000
real ones take an hour to make here, and the time of a search does not depend on what the vectors mean.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rag_ls.embedding.local.catalog import MINILM
from rag_ls.engine.client import local_client
from rag_ls.engine.code.hovers import hover
from rag_ls.engine.requests import SearchRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.storage import CheckoutIndex
from rag_ls.storage.sqlite.vector_index import EXACT_LIMIT
from tests.benchmarks.measure import memory_mb, percentiles, timed
from tests.support import put_vectors, until

QUESTIONS = (
    "where is the session cookie set", "parse the accept language header", "retry a failed database connection",
    "QuerySet.filter", "hash a password with a salt", "render a template to a string", "validate an email address",
    "how are migrations ordered", "cache key for a view", "escape html in a template", "get_object_or_404", "rollback",
)  # fmt: skip
_RUNS = 60


def scale(sources: Path, work: Path, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Measure each size in a process of its own, so that memory is its own."""
    results = {}
    for size in sizes:
        folder = project_of(sources, work / f"chunks_{size}", size)
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.scale", str(folder)], check=True, capture_output=True
        )
        results[str(size)] = json.loads(done.stdout)
    return results


def project_of(sources: Path, folder: Path, size: int) -> Path:
    """A project of real files with about `size` chunks, all embedded."""
    client = local_client()
    folder.mkdir(parents=True)
    view = client.open(folder)
    files = sorted(path for path in sources.rglob("*.py") if path.stat().st_size > 200)
    copy = 0
    while view.store.counts().chunks < size:
        for number, file in enumerate(files):
            target = folder / f"copy_{copy}" / file.relative_to(sources)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text(encoding="utf-8", errors="replace")
            # Every copy has words and hashes of its own.
            target.write_text(text.replace("self", f"self{copy}") if copy else text)
            view.project.documents.index_file(target.relative_to(folder).as_posix())
            if number % 50 == 0 and view.store.counts().chunks >= size:
                break
        copy += 1
    _embed(view.store)
    view.indexing.index_tree()
    view.indexing.wait_until_idle()
    client.close()
    return folder


def _embed(store: CheckoutIndex) -> None:
    """Give every chunk a synthetic vector, clustered as real ones are."""
    random_numbers = np.random.default_rng(1)
    centres = random_numbers.normal(size=(500, MINILM.dimensions)).astype(np.float32)
    model = f"{MINILM.name}@{MINILM.sha256[:12]}"
    store.embeddings.activate(model)
    while pending := store.embeddings.pending(model, 2000):
        chosen = centres[random_numbers.integers(0, len(centres), len(pending))]
        vectors = chosen + 0.8 * random_numbers.normal(size=chosen.shape).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        put_vectors(store, model, [text_hash for text_hash, _ in pending], vectors)


def _measure(folder: Path) -> dict[str, Any]:
    client = local_client()
    view = client.open(folder)
    view.indexing.index_tree()
    view.indexing.wait_until_idle()
    view.search(SearchRequest("warm up"), wait_for_model_s=20)
    if view.store.counts().chunks > EXACT_LIMIT:
        # Indexing or the first search has begun it in the background.
        assert until(lambda: list(folder.glob(".rag-ls/vectors-*.usearch")), 600.0)
    view.search(SearchRequest("warm up again"))
    numbers = random.Random(3)
    questions = [QUESTIONS[run % len(QUESTIONS)] for run in range(_RUNS)]
    searches = [timed(partial(view.search, SearchRequest(question))) for question in questions]
    hovers = [timed(partial(hover, view, *_place(view, numbers))) for _ in range(_RUNS)]
    chunks = view.store.counts().chunks
    memory = memory_mb()
    client.close()
    return {"chunks": chunks, "search": percentiles(searches), "hover": percentiles(hovers), "memory": memory}


def _place(view: ProjectSession, numbers: random.Random) -> tuple[str, int]:
    paths = [path for _, path, _, _ in view.store.document_paths()]
    path = numbers.choice(paths)
    document = view.store.document(path)
    assert document is not None
    chunk = numbers.choice(view.store.chunks.of_document(document.id)).stored.chunk
    return path, chunk.start_line


if __name__ == "__main__":
    print(json.dumps(_measure(Path(sys.argv[1]))))
