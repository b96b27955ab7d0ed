"""How fast a repository is indexed, and how long it takes to see that nothing changed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rag_ls.engine.client import local_client
from rag_ls.indexing import Depth
from tests.benchmarks.measure import memory_mb


def indexing(folder: Path, *, embed: int) -> dict[str, Any]:
    """Index a project by words, then embed at least `embed` of its chunks."""
    client = local_client()
    view = client.open(folder)
    started = time.perf_counter()
    view.indexing.index_tree(Depth.WORDS)
    view.indexing.wait_until_idle(embeddings=False)
    words_s = time.perf_counter() - started
    counts = view.store.counts()
    spent = view.project.documents.spent
    view.indexing.index_tree()
    total = counts.pending_embeddings
    while (left := view.store.queue_lengths()[1]) > max(0, total - embed):
        time.sleep(0.2)
    embedded = total - left
    result = {
        "documents": counts.documents,
        "chunks": counts.chunks,
        "words_s": round(words_s, 1),
        "files_per_s": round(counts.documents / words_s, 1),
        "chunks_per_s": round(counts.chunks / words_s, 1),
        "embedded": embedded,
        "embedding_ms_per_chunk": round(1000 * spent.embedding / max(1, embedded), 3),
        "embedded_per_s": round(embedded / spent.embedding, 1) if spent.embedding else None,
        "memory": memory_mb(),
    }
    client.close()
    return result


def reopening(folder: Path) -> dict[str, Any]:
    """Index a project by words, open it again, and compare its unchanged files with the index."""
    client = local_client()
    view = client.open(folder)
    view.indexing.index_tree(Depth.WORDS)
    view.indexing.wait_until_idle(embeddings=False)
    files = view.store.counts().documents
    client.close()
    # A stamp younger than two seconds proves nothing; editors are not reopened that fast.
    time.sleep(2.5)
    client = local_client()
    client.open(folder).indexing.index_tree(Depth.WORDS)
    client.open(folder).indexing.wait_until_idle(embeddings=False)
    client.close()
    client = local_client()
    started = time.perf_counter()
    view = client.open(folder)
    view.indexing.index_tree(Depth.WORDS)
    view.indexing.wait_until_idle(embeddings=False)
    elapsed = time.perf_counter() - started
    client.close()
    return {"files": files, "seconds": round(elapsed, 2)}
