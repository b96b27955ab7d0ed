"""How fast a repository is indexed beside the bare model, and how long it takes to see that nothing changed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rag_ls.chunking import embedding_text
from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding.local.stack import LocalProvider
from rag_ls.engine.client import local_client
from rag_ls.indexing import Depth
from tests.benchmarks.measure import memory_mb

# Texts that the bare model gets at once.
_IN_HAND = 768


def indexing(folder: Path, *, embed: int) -> dict[str, Any]:
    """Index a project by words, then embed at least `embed` of its chunks."""
    client = local_client()
    view = client.open(folder)
    started = time.perf_counter()
    view.indexing.index_tree(Depth.WORDS)
    view.indexing.wait_until_idle(embeddings=False)
    words_s = time.perf_counter() - started
    counts = view.store.counts()
    total = counts.pending_embeddings
    model = client.engine.models.configured_id
    client.engine.models.wait(model)
    texts = [embedding_text(chunk) for _, chunk in view.store.embeddings.pending(model, min(embed, total))]
    bare_per_s = _measure_bare_model(model, texts)
    view.indexing.index_tree()
    while (left := view.store.queue_lengths()[1]) == total:
        time.sleep(0.02)
    # The worker has loaded its model by then.
    first, started = left, time.perf_counter()
    while (left := view.store.queue_lengths()[1]) > max(0, total - embed):
        time.sleep(0.02)
    embedded_per_s = (first - left) / (time.perf_counter() - started)
    result = {
        "documents": counts.documents,
        "chunks": counts.chunks,
        "words_s": round(words_s, 1),
        "files_per_s": round(counts.documents / words_s, 1),
        "chunks_per_s": round(counts.chunks / words_s, 1),
        "embedded": total - left,
        "embedded_per_s": round(embedded_per_s, 1),
        "bare_model_per_s": round(bare_per_s, 1),
        "memory": memory_mb(),
    }
    client.close()
    return result


def _measure_bare_model(model_id: str, texts: list[str]) -> float:
    """Texts a second of the worker's model alone, with many texts of similar length in hand."""
    model = LocalProvider(EmbeddingSettings()).load(model_id)
    ordered = sorted(texts, key=len)
    model.embed_documents(ordered[:_IN_HAND], backlog=len(ordered))
    started = time.perf_counter()
    for at in range(0, len(ordered), _IN_HAND):
        model.embed_documents(ordered[at : at + _IN_HAND], backlog=len(ordered))
    elapsed = time.perf_counter() - started
    model.close()
    return len(ordered) / elapsed


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
