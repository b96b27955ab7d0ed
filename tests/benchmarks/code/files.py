"""How well files are found: subjects of commits and bare names over public histories, by words alone.

python -m tests.benchmarks.code.files MIRRORS    MIRRORS: a folder of git mirrors, OWNER+NAME/repo
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_ls.chunking import Budget
from rag_ls.config import SearchSettings
from rag_ls.indexing import Cutting, DocumentIndexer
from rag_ls.indexing.files import list_files
from rag_ls.model import StoredChunk
from rag_ls.project import Project
from rag_ls.search import NO_FILTERS, Searcher
from tests.benchmarks.code.histories import History, histories, names, subjects, unpack
from tests.benchmarks.code.questions import Question
from tests.support import UnchangedCorpus, index_at

_CACHE = Path(tempfile.gettempdir()) / "rag-ls-benchmarks" / "histories"
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A repository's index, and the questions about it."""

    history: History
    searcher: Searcher
    questions: list[Question]


def asked(history: History) -> Asked:
    """Unpack and index a repository once, by words; its questions."""
    folder = _CACHE / history.name
    if not folder.exists():
        unpack(history, folder)
    index = index_at(folder.with_suffix(".db"))
    store = index.checkout
    if not store.counts().documents:
        indexer = DocumentIndexer(Project(folder), store, Cutting(Budget(224, 24, 24)), max_file_bytes=1_000_000)
        for path in list_files(folder):
            indexer.index_file(path)
    return Asked(history, Searcher(index, UnchangedCorpus()), [*subjects(history, folder), *names(history, store)])


def paths_found(searcher: Searcher, query: str) -> list[str]:
    """The files of the first hits, as they come."""
    found = searcher.search(
        query, k=_DEPTH, settings=SearchSettings(), filters=NO_FILTERS, model_id="", vector=None
    )  # fmt: skip
    return [hit.item.chunk.path for hit in found.hits if isinstance(hit.item, StoredChunk)]


def ndcg(paths: Sequence[str], wanted: Sequence[str]) -> float:
    """NDCG@10 by file; another hit of a file that was found gains nothing."""
    left, gained = set(wanted), 0.0
    for rank, path in enumerate(paths[:_DEPTH]):
        if path in left:
            left.remove(path)
            gained += 1 / math.log2(rank + 2)
    return gained / sum(1 / math.log2(rank + 2) for rank in range(min(_DEPTH, len(set(wanted)))))


def main() -> None:
    """Print NDCG@10 and recall by kind of question, for the repositories that are tuned on and for the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path)
    arguments = parser.parse_args()
    results: dict[tuple[str, bool], list[tuple[float, bool]]] = {}
    for history in histories(arguments.mirrors):
        each = asked(history)
        for question in each.questions:
            wanted = [answer.path for answer in question.answers]
            paths = paths_found(each.searcher, question.query)
            scores = results.setdefault((question.kind, history.is_unseen), [])
            scores.append((ndcg(paths, wanted), bool({*paths} & {*wanted})))
    print("| kind | unseen | questions | NDCG@10 | found |\n| --- | --- | --- | --- | --- |")
    for (kind, is_unseen), scores in sorted(results.items()):
        count = len(scores)
        print(
            f"| {kind} | {is_unseen} | {count} | {sum(score for score, _ in scores) / count:.3f} | "
            f"{sum(found for _, found in scores) / count:.3f} |"
        )


if __name__ == "__main__":
    main()
