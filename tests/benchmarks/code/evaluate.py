"""`make eval`: how well the product finds code, by signal and rule.

`--tune` finds weights on the questions that are not unseen, by coordinate ascent; what it prints goes into
`rag_ls/search/evidence.py`.
"""

from __future__ import annotations

import argparse
import heapq
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking import Budget, embedding_text
from rag_ls.config import EmbeddingSettings, SearchSettings
from rag_ls.embedding import HostedModel, local_model
from rag_ls.indexing import Cutting, DocumentIndexer, files_holding
from rag_ls.indexing.files import list_files
from rag_ls.model import StoredChunk
from rag_ls.operations.relevant_files import FIRST_BYTES
from rag_ls.project import Project
from rag_ls.search import NO_FILTERS, Searcher, likelihood
from rag_ls.search.evidence import WORDS_WEIGHTS, Weights
from rag_ls.search.query import analyse
from rag_ls.storage import CheckoutIndex
from tests.benchmarks.code.judge import DEPTH, Scores, judge, mean
from tests.benchmarks.code.questions import Answer, Question, prepare
from tests.benchmarks.code.repositories import REPOSITORIES, Repository
from tests.support import UnchangedCorpus, index_at, put_vectors

_CACHE = Path(tempfile.gettempdir()) / "rag-ls-benchmarks" / "evaluated"
_NOTHING = Weights(**dict.fromkeys((field.name for field in fields(Weights)), 0.0))
_SIGNALS = ("lexical", "dense")
_RULES = tuple(field.name for field in fields(Weights) if field.name not in _SIGNALS)
_STEPS = (0.03, -0.03, 0.1, -0.1)
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
    parser.add_argument("--tune", action="store_true", help="find weights, instead of judging those of the product")
    arguments = parser.parse_args()
    model = local_model(arguments.model, EmbeddingSettings())
    indexed = [_indexed(repository, model) for repository in REPOSITORIES]
    model.close()
    if arguments.tune:
        print(json.dumps(asdict(tuned(indexed, WORDS_WEIGHTS)), indent=2))
    else:
        report(indexed)


def _indexed(repository: Repository, model: HostedModel) -> Indexed:
    folder = _CACHE / repository.name
    database = folder.with_suffix(".db")
    if not database.exists():
        shutil.rmtree(folder, ignore_errors=True)
        _CACHE.mkdir(parents=True, exist_ok=True)
        (folder.with_suffix(".json")).write_text(json.dumps([asdict(each) for each in prepare(repository, folder)]))
    records = json.loads(folder.with_suffix(".json").read_text())
    questions = [
        Question(**{**each, "answers": tuple(Answer(**place) for place in each["answers"])}) for each in records
    ]
    index = index_at(database)
    store = index.checkout
    store.embeddings.activate(model.model_id)
    if not store.counts().documents:
        _cut(folder, store)
    _embed(store, model, repository.name)
    searcher = Searcher(index, UnchangedCorpus())
    vectors = {question.query: model.embed_query(question.query) for question in questions}
    rows = [row for document in store.documents().values() for row in store.chunks.of_document(document.id)]
    texts = [(_place(row.stored), row.stored.chunk.text.lower()) for row in rows]
    return Indexed(folder, store, searcher, model.model_id, vectors, questions, texts)


def _cut(folder: Path, store: CheckoutIndex) -> None:
    documents = DocumentIndexer(Project(folder), store, Cutting(Budget(224, 24, 24)), max_file_bytes=1_000_000)
    for path in list_files(folder):
        documents.index_file(path)


def _embed(store: CheckoutIndex, model: HostedModel, name: str) -> None:
    while pending := store.embeddings.pending(model.model_id, 512):
        left = store.embeddings.pending_count(model.model_id)
        print(f"{name}: {left} chunks to embed", file=sys.stderr, flush=True)
        vectors = model.embed_documents([embedding_text(chunk) for _, chunk in pending], backlog=left)
        put_vectors(store, model.model_id, [text_hash for text_hash, _ in pending], vectors)


# --- rankings


def by_weights(weights: Weights | None, *, dense: bool = True) -> Ranking:
    """The product's own search, with other weights than its own where some are given."""

    def ranking(indexed: Indexed, question: Question) -> list[Answer]:
        found = indexed.searcher.search(
            question.query, k=DEPTH, settings=SearchSettings(), filters=NO_FILTERS, model_id=indexed.model_id,
            vector=indexed.vectors[question.query] if dense else None, weights=weights,
        )  # fmt: skip
        return [_place(hit.item) for hit in found.hits if isinstance(hit.item, StoredChunk)]

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
        weight=lambda path: likelihood(query, path, documents[path].language),
    )  # fmt: skip
    index = index_at(None)
    store = index.checkout
    indexer = DocumentIndexer(Project(indexed.root), store, Cutting(Budget(224, 24, 24)), max_file_bytes=1_000_000)
    indexer.index_files({path: indexer.prepare(path) for path in files})
    first = replace(indexed, store=store, searcher=Searcher(index, UnchangedCorpus()))
    places = by_weights(None, dense=False)(first, question)
    store.close()
    return places


def _place(stored: StoredChunk) -> Answer:
    return Answer(stored.chunk.path, stored.chunk.start_line, stored.chunk.end_line)


def rankings() -> Iterator[tuple[str, Ranking]]:
    """All that are compared, by name."""
    fused = replace(_NOTHING, lexical=WORDS_WEIGHTS.lexical, dense=WORDS_WEIGHTS.dense)
    yield "term match", by_terms
    yield "BM25 alone", by_weights(replace(_NOTHING, lexical=1.0), dense=False)
    yield "dense alone", by_weights(replace(_NOTHING, dense=1.0))
    yield "fused", by_weights(fused)
    for rule in _RULES:
        yield f"fused + {rule}", by_weights(replace(fused, **{rule: getattr(WORDS_WEIGHTS, rule)}))
    yield "all", by_weights(None)
    yield "all, one set of weights", by_weights(WORDS_WEIGHTS)
    for rule in _RULES:
        yield f"all - {rule}", by_weights(replace(WORDS_WEIGHTS, **{rule: 0.0}))
    yield "all, without embeddings", by_weights(None, dense=False)
    yield "all, without embeddings, of the files that are read first", by_files_read_first


# --- reports


def report(indexed: Sequence[Indexed]) -> None:
    """Print tables in Markdown: all rankings over both sets, then the product's by language and kind of query."""
    count = sum(len(each.questions) for each in indexed)
    unseen = sum(question.is_unseen for each in indexed for question in each.questions)
    print(f"{count} questions over {len(indexed)} repositories, {unseen} of them unseen\n")
    print(
        "| ranking | tuned on: NDCG@10 | unseen: NDCG@10 | unseen: MRR@10 | unseen: recall@10 |\n| --- | --- | --- | --- | --- |"
    )
    for name, ranking in rankings():
        judged = list(_judged(indexed, ranking))
        seen = mean([scores for question, scores in judged if not question.is_unseen])
        kept = mean([scores for question, scores in judged if question.is_unseen])
        print(f"| {name} | {seen.ndcg:.3f} | {kept.ndcg:.3f} | {kept.mrr:.3f} | {kept.recall:.3f} |", flush=True)
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


# --- tuning


def tuned(indexed: Sequence[Indexed], start: Weights) -> Weights:
    """The weights that rank the questions which are not unseen best, by coordinate ascent from `start`."""
    best, weights = _seen_ndcg(indexed, start), start
    improved = True
    while improved:
        improved = False
        for field in fields(Weights):
            for step in _STEPS:
                tried = replace(weights, **{field.name: round(getattr(weights, field.name) + step, 3)})
                score = _seen_ndcg(indexed, tried)
                if score > best + 5e-4:
                    best, weights, improved = score, tried, True
                    print(f"{score:.4f} {field.name} {getattr(tried, field.name)}", file=sys.stderr, flush=True)
    return weights


def _seen_ndcg(indexed: Sequence[Indexed], weights: Weights) -> float:
    ranking = by_weights(weights)
    seen = [replace(each, questions=[item for item in each.questions if not item.is_unseen]) for each in indexed]
    return mean([scores for _, scores in _judged(seen, ranking)]).ndcg


if __name__ == "__main__":
    main()
