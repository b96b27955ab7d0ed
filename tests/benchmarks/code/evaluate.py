"""How well the product finds functions, by signal and kind of evidence (`make eval`).

Weights are learned from other questions (`learn.py`).
"""

from __future__ import annotations

import argparse
import heapq
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking import Budget
from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import HostedModel, local_model
from rag_ls.indexing import Cutters, Cutting, DocumentIndexer, files_holding
from rag_ls.operations.code.preparation import FIRST_BYTES
from rag_ls.project import Project
from rag_ls.search.evidence import FEATURES, for_kind
from rag_ls.search.fusion import Weights, load_weights
from rag_ls.search.query import analyse
from rag_ls.search.roles import BY_PATH
from rag_ls.search.searcher import Searcher
from rag_ls.storage import CheckoutIndex
from tests.benchmarks.code.asked import cut, embed, place_of, places_found
from tests.benchmarks.code.judge import DEPTH, Scores, judge, mean
from tests.benchmarks.code.questions import Answer, Question, keep, kept, prepare
from tests.benchmarks.code.repositories import REPOSITORIES, Repository
from tests.support import UnchangedCorpus, index_at

_CACHE = Path(tempfile.gettempdir()) / "rag-ls-benchmarks" / "evaluated"
_LEARNED = load_weights("code")
_NOTHING = dict.fromkeys(FEATURES, 0.0)
_SIGNALS = ("lexical", "file_lexical", "file_lexical_sum", "dense", "file_dense")
# About the greatest of the learned weights, so that crowding counts as it does there.
_ALONE = 8.0
Ranking = Callable[["Indexed", Question], Sequence[Answer]]


@dataclass(frozen=True, slots=True)
class Indexed:
    """A repository's index, and the questions about it with their vectors."""

    root: Path
    store: CheckoutIndex
    searcher: Searcher
    model_id: str
    vectors: dict[str, NDArray[np.float32]]
    questions: list[Question]
    texts: list[tuple[Answer, str]]
    """All chunks in order of path and place, in lower case."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="auto", help="the embedding model, as in the setting embedding.model")
    arguments = parser.parse_args()
    model = local_model(arguments.model, EmbeddingSettings())
    indexed = [_indexed(repository, model) for repository in REPOSITORIES]
    model.close()
    report(indexed)


def _indexed(repository: Repository, model: HostedModel) -> Indexed:
    folder = _CACHE / repository.name
    database = folder.with_suffix(".db")
    if not database.exists():
        shutil.rmtree(folder, ignore_errors=True)
        _CACHE.mkdir(parents=True, exist_ok=True)
        keep(prepare(repository, folder), folder.with_suffix(".json"))
    questions = kept(folder.with_suffix(".json"))
    index = index_at(database)
    store = index.checkout
    store.embeddings.activate(model.model_id)
    if not store.counts().documents:
        cut(folder, store)
    embed(store, model, repository.name)
    searcher = Searcher(index, UnchangedCorpus())
    vectors = {question.query: model.embed_query(question.query) for question in questions}
    rows = [row for document in store.documents().values() for row in store.chunks.of_document(document.id)]
    texts = [(place_of(row.stored), row.stored.chunk.text.lower()) for row in rows]
    return Indexed(folder, store, searcher, model.model_id, vectors, questions, texts)


# --- rankings


def by_weights(weights: Weights | None, *, dense: bool = True) -> Ranking:
    """The product's own search, with other weights than its own where some are given."""

    def ranking(indexed: Indexed, question: Question) -> list[Answer]:
        vector = indexed.vectors[question.query] if dense else None
        return places_found(indexed.searcher, question.query, indexed.model_id, vector, weights)

    return ranking


def without(name: str) -> Ranking:
    """The product's own search without one kind of evidence."""

    def ranking(indexed: Indexed, question: Question) -> Sequence[Answer]:
        weights = for_kind({**_LEARNED, name: 0.0}, analyse(question.query).kind)
        return by_weights(weights)(indexed, question)

    return ranking


def by_terms(indexed: Indexed, question: Question) -> list[Answer]:
    """What a search for the question's words would show: chunks that hold the most of them, as they are."""
    words = analyse(question.query).terms
    found = heapq.nlargest(DEPTH, indexed.texts, key=lambda item: sum(word in item[1] for word in words))
    return [place for place, _ in found]


def by_files_read_first(indexed: Indexed, question: Question) -> Sequence[Answer]:
    """The first answer in a repository that nobody has read: without embeddings, from an index of the files read first."""
    query, documents = analyse(question.query), indexed.store.documents()
    files = files_holding(
        indexed.root, sorted(documents), query.terms, most_bytes=FIRST_BYTES, largest=1_000_000, longest_s=60.0,
        weight=lambda path: BY_PATH.likelihood(query, path, documents[path].language),
    )  # fmt: skip
    index = index_at(None)
    store = index.checkout
    with closing(Cutters()) as cutters:
        cutting = Cutting(Budget(224, 24, 24))
        indexer = DocumentIndexer(Project(indexed.root), store, cutting, cutters)
        indexer.index_files({path: indexer.prepare(path) for path in files})
    first = replace(indexed, store=store, searcher=Searcher(index, UnchangedCorpus()))
    places = by_weights(None, dense=False)(first, question)
    store.close()
    return places


def rankings() -> Iterator[tuple[str, Ranking]]:
    """All that are compared, by name."""
    yield "term match", by_terms
    yield "BM25 alone", by_weights({**_NOTHING, "lexical": _ALONE, "file_lexical": _ALONE}, dense=False)
    yield "dense alone", by_weights({**_NOTHING, "dense": _ALONE, "file_dense": _ALONE})
    yield "fused", by_weights({**_NOTHING, **{name: _LEARNED[name] for name in _SIGNALS}})
    yield "all", by_weights(None)
    for name in FEATURES:
        if name not in _SIGNALS:
            yield f"all - {name}", without(name)
    yield "all, without embeddings", by_weights(None, dense=False)
    yield "all, without embeddings, of the files that are read first", by_files_read_first


# --- reports


def report(indexed: Sequence[Indexed]) -> None:
    """Print tables in Markdown: all rankings over both sets, then the product's by language and kind of query."""
    count = sum(len(each.questions) for each in indexed)
    unseen = sum(question.is_unseen for each in indexed for question in each.questions)
    print(
        f"{count} questions over {len(indexed)} repositories, {unseen} of them in the third that never was tuned on\n"
    )
    print("| ranking | NDCG@10 | of the third: NDCG@10 | MRR@10 | recall@10 |\n| --- | --- | --- | --- | --- |")
    for name, ranking in rankings():
        judged = list(_judged(indexed, ranking))
        all_of_them = mean([scores for _, scores in judged])
        kept = mean([scores for question, scores in judged if question.is_unseen])
        print(f"| {name} | {all_of_them.ndcg:.3f} | {kept.ndcg:.3f} | {kept.mrr:.3f} | {kept.recall:.3f} |", flush=True)
    for title, key in (("language", "language"), ("kind", "kind")):
        _breakdown(indexed, title, key)


def _breakdown(indexed: Sequence[Indexed], title: str, key: str) -> None:
    compared = dict(rankings())
    names = ("BM25 alone", "dense alone", "fused", "all")
    results = {name: list(_judged(indexed, compared[name])) for name in names}
    print(f"\n| {title} | questions | {' | '.join(names)} |\n| --- | --- | {' | '.join('---' for _ in names)} |")
    groups = dict.fromkeys(getattr(question, key) for question, _ in results["all"])
    for group in groups:
        cells = [
            f"{mean([scores for question, scores in results[name] if getattr(question, key) == group]).ndcg:.3f}"
            for name in names
        ]
        size = sum(getattr(question, key) == group for question, _ in results["all"])
        print(f"| {group} | {size} | {' | '.join(cells)} |")


def _judged(indexed: Sequence[Indexed], ranking: Ranking) -> Iterator[tuple[Question, Scores]]:
    for each in indexed:
        for question in each.questions:
            yield question, judge(ranking(each, question), question.answers)


if __name__ == "__main__":
    main()
