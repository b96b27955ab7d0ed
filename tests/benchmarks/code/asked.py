"""Repositories at a commit of their histories: unpacked and indexed once, with the questions about them."""

from __future__ import annotations

import re
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking import Budget, embedding_text
from rag_ls.config.settings import SearchSettings
from rag_ls.embedding import HostedModel
from rag_ls.indexing import Cutters, Cutting, DocumentIndexer
from rag_ls.indexing.listing import list_files
from rag_ls.model import StoredChunk
from rag_ls.project import Project
from rag_ls.search.fusion import Weights
from rag_ls.search.query import analyse
from rag_ls.search.searcher import Searcher
from rag_ls.search.view import NO_FILTERS
from rag_ls.storage import CheckoutIndex, ProjectIndex
from tests.benchmarks.code.histories import History, unpack
from tests.benchmarks.code.history_questions import architecture, descriptions, names, prepare
from tests.benchmarks.code.judge import DEPTH
from tests.benchmarks.code.questions import Answer, Question, keep, kept
from tests.support import UnchangedCorpus, index_at, put_vectors, ready

CACHE = Path(tempfile.gettempdir()) / "rag-ls-benchmarks" / "asked"


@dataclass(frozen=True, slots=True)
class Asked:
    """A repository's files and index, and the questions about it with their vectors."""

    history: History
    folder: Path
    index: ProjectIndex
    searcher: Searcher
    model_id: str
    """Empty where nothing was embedded."""
    questions: list[Question]
    vectors: dict[str, NDArray[np.float32]]


def asked(history: History, model: HostedModel | None) -> Asked:
    """A repository with its questions; the first call unpacks, cuts and embeds it, which takes minutes for large ones."""
    folder = CACHE / history.name
    questions = [*_prepared(history, folder), *architecture(history), *descriptions(history, folder)]
    index = index_at(folder.with_suffix(".db"))
    store = index.checkout
    if model is not None:
        store.embeddings.activate(model.model_id)
    if not store.counts().documents:
        cut(folder, store)
    questions += names(history, folder, store)
    vectors = {}
    if model is not None:
        embed(store, model, history.name)
        revision = re.sub(r"\W+", "_", model.model_id)[-40:]
        vectors = _embedded(questions, model, folder.with_name(f"{history.name}.{revision}.npz"))
    model_id = model.model_id if model is not None else ""
    return Asked(history, folder, index, Searcher(index, UnchangedCorpus()), model_id, questions, vectors)


def _prepared(history: History, folder: Path) -> list[Question]:
    file = folder.with_suffix(".json")
    if not file.exists():
        unpack(history, folder)
        keep(prepare(history, folder), file)
    return kept(file)


def _embedded(questions: list[Question], model: HostedModel, file: Path) -> dict[str, NDArray[np.float32]]:
    """The vectors of the questions; those of former runs are kept in a file."""
    known = dict(np.load(file)) if file.exists() else {}
    former = dict(zip(known.get("queries", ()), known.get("vectors", ()), strict=True))
    vectors = {
        each.query: former[each.query] if each.query in former else model.embed_query(each.query) for each in questions
    }
    if vectors.keys() - former.keys():
        np.savez(file, queries=np.array(list(vectors)), vectors=np.array(list(vectors.values())))
    return vectors


def places_found(
    searcher: Searcher, query: str, model_id: str, vector: NDArray[np.float32] | None, weights: Weights | None = None,
    *, count: int = DEPTH,
) -> list[Answer]:  # fmt: skip
    """The product's own first places for a query, with other weights than its own where some are given."""
    found = searcher.search(
        analyse(query), k=count, settings=SearchSettings(), filters=NO_FILTERS, model_id=model_id,
        vector=ready(vector), weights=weights,
    )  # fmt: skip
    return [place_of(hit.item) for hit in found.hits if isinstance(hit.item, StoredChunk)]


def place_of(stored: StoredChunk) -> Answer:
    """The place of a chunk."""
    return Answer(stored.chunk.path, stored.chunk.start_line, stored.chunk.end_line)


def cut(folder: Path, store: CheckoutIndex) -> None:
    """Cut all files of a folder into an index."""
    with closing(Cutters()) as cutters:
        cutting = Cutting(Budget(224, 24, 24))
        documents = DocumentIndexer(Project(folder), store, cutting, cutters)
        for path in list_files(folder):
            documents.index_file(path)


def embed(store: CheckoutIndex, model: HostedModel, name: str) -> None:
    """Embed what has no vector yet; says on stderr how much is left."""
    while pending := store.embeddings.pending(model.model_id, 512):
        left = store.embeddings.pending_count(model.model_id)
        print(f"{name}: {left} chunks to embed", file=sys.stderr, flush=True)
        vectors = model.embed_documents([embedding_text(chunk) for _, chunk in pending], backlog=left)
        put_vectors(store, model.model_id, [text_hash for text_hash, _ in pending], vectors)
