"""Whether the right section of a public repository's own rules comes first for a change, and whether a change of which no
rule speaks is said to be so.

python3 scripts/dev.py eval rules CHECKOUTS WORK [--half aside|fresh|late|new] [--words] [--misses]

CHECKOUTS is a folder of clones, OWNER+NAME; WORK keeps their indexes. README.md says how the changes were chosen and labelled. The
misses of what is kept aside are never shown.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking import embedding_text, rule_kind
from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.config.settings import SearchSettings
from rag_ls.embedding import HostedModel, local_model
from rag_ls.model import StoredChunk
from rag_ls.rules.finding import RuleFinder, RuleHit, RuleQuestion
from rag_ls.rules.scopes import is_foreign
from rag_ls.rules.sections import CLEAR_RELEVANCE
from rag_ls.search.query import analyse
from rag_ls.search.searcher import Searcher
from rag_ls.search.view import NO_FILTERS
from rag_ls.storage import ProjectIndex
from tests.benchmarks.code.asked import cut
from tests.benchmarks.foreign.repositories import copy_repository
from tests.benchmarks.rules.judge import names
from tests.support import UnchangedCorpus, index_at, put_vectors

_FOLDER = Path(__file__).parent
_LIKELY_FILES = 3


@dataclass(frozen=True, slots=True)
class PublicChange:
    """A change with the files that it touched, and the sections that are right for it, as path and heading."""

    set: str
    text: str
    files: tuple[str, ...]
    right: tuple[tuple[str, str], ...]
    half: str

    def rank(self, hits: list[RuleHit]) -> int | None:
        """The place of the first right section, from 1."""
        return next((place for place, hit in enumerate(hits, 1) if self.is_right(hit)), None)

    def is_right(self, hit: RuleHit) -> bool:
        """Whether a section is one of the right ones."""
        chunk = hit.row.stored.chunk
        return any(chunk.path == path and names(chunk.symbol, section) for path, section in self.right)


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository's index, and what asks it."""

    name: str
    index: ProjectIndex
    searcher: Searcher
    finder: RuleFinder

    def find(self, text: str, files: tuple[str, ...], vector: NDArray[np.float32] | None) -> list[RuleHit]:
        """The sections for a change, as a session finds them; likely files are found by words alone."""
        found = self.searcher.search(
            analyse(text),
            k=_LIKELY_FILES,
            settings=SearchSettings(),
            filters=NO_FILTERS,
            vector=None,
            model_id="",
            by_file=True,
        )
        paths = [hit.item.chunk.path for hit in found.hits if isinstance(hit.item, StoredChunk)]
        likely = () if files else tuple(path for path in dict.fromkeys(paths) if rule_kind(path) is None)
        return self.finder.find(RuleQuestion(text, files, likely, vector), ()).hits


def read_changes() -> list[PublicChange]:
    """All labelled changes."""
    return [
        PublicChange(
            row["set"],
            row["change"],
            tuple(row["files"]),
            tuple((each["path"], each["section"]) for each in row["right"]),
            row["half"],
        )
        for row in _read_rows("public.jsonl")
    ]


def read_silent_changes() -> list[PublicChange]:
    """The changes of which no rule of their repository speaks."""
    return [PublicChange(row["set"], row["change"], (), (), row["half"]) for row in _read_rows("silent.jsonl")]


def _read_rows(name: str) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines())


def open_repository(checkouts: Path, work: Path, name: str, model: HostedModel | None) -> Repository:
    """A repository, indexed once by words, with vectors of its rules alone."""
    folder = name.replace("/", "+")
    return open_files(work, name, lambda: copy_repository(checkouts / folder, work), model)


def open_files(work: Path, name: str, copy: Callable[[], Path], model: HostedModel | None) -> Repository:
    """The files of a copy, as `open_repository` has a repository."""
    file = work / f"{name.replace('/', '+')}.db"
    is_new = not file.exists()
    index = index_at(file)
    if is_new:
        cut(copy(), index.checkout)
    if model is not None:
        _embed_rules(index, model)
    return Repository(name, index, Searcher(index, UnchangedCorpus()), RuleFinder(index))


def _embed_rules(index: ProjectIndex, model: HostedModel) -> None:
    store = index.checkout
    store.embeddings.activate(model.model_id)
    documents = [
        number for number, path, _, _ in store.document_paths() if rule_kind(path) is not None and not is_foreign(path)
    ]
    rows = {row.text_hash: row for row in store.chunks.by_row(store.chunks.first_of(documents, 100_000)).values()}
    missing = sorted(index.vectors.missing(model.model_id, list(rows)))
    if missing:
        texts = [embedding_text(rows[each].stored.chunk) for each in missing]
        put_vectors(store, model.model_id, missing, model.embed_documents(texts))


def _measure(
    repository: Repository, asked: list[PublicChange], vectors: dict[str, NDArray[np.float32]]
) -> Iterator[tuple[str, Counter[str]]]:
    """The figures of one repository by their titles; with the files of changes, those of the same changes without them before."""
    own = [each for each in asked if each.set == repository.name and each.right]
    with_files = [each for each in own if each.files]
    yield "by the text", _count_ranks(repository, own, vectors, has_files=False)
    yield "some by the text", _count_ranks(repository, with_files, vectors, has_files=False)
    yield "the same and files", _count_ranks(repository, with_files, vectors, has_files=True)
    silent = [each for each in asked if each.set == repository.name and not each.right]
    foreign = [each for each in asked if own and each.set != repository.name and each.right]
    for title, group in (("own", own), ("of no rule", silent), ("of others", foreign)):
        clear = [_is_clear(repository.find(each.text, (), vectors.get(each.text))) for each in group]
        yield title, Counter({"changes": len(clear), "clear": sum(clear)})


def _count_ranks(
    repository: Repository, asked: list[PublicChange], vectors: dict[str, NDArray[np.float32]], *, has_files: bool
) -> Counter[str]:
    ranks = list(_rank(repository, asked, vectors, has_files=has_files))
    first, in_three = (sum(rank is not None and rank <= most for rank in ranks) for most in (1, 3))
    return Counter({"changes": len(ranks), "first": first, "in three": in_three})


def _print_figures(name: str, title: str, counts: Counter[str]) -> None:
    changes = counts["changes"]
    said = "  ".join(f"{key} {count / changes:.2f}" for key, count in counts.items() if key != "changes")
    print(f"{name:24} {title:19} {changes:3} changes  {said}", flush=True)


def _rank(
    repository: Repository, asked: list[PublicChange], vectors: dict[str, NDArray[np.float32]], *, has_files: bool
) -> Iterator[int | None]:
    for each in asked:
        yield each.rank(repository.find(each.text, each.files if has_files else (), vectors.get(each.text)))


def _is_clear(hits: list[RuleHit]) -> bool:
    return bool(hits) and hits[0].relevance >= CLEAR_RELEVANCE


def _print_misses(repository: Repository, changes: list[PublicChange], vectors: dict[str, NDArray[np.float32]]) -> None:
    for each in changes:
        if each.set == repository.name and each.half == "tuned":
            hits = repository.find(each.text, (), vectors.get(each.text))
            if (rank := each.rank(hits)) != 1:
                print(f"\n{each.text}\n  right, at {rank}: {'; '.join(' # '.join(right) for right in each.right)}")
                for hit in hits[:2]:
                    chunk = hit.row.stored.chunk
                    print(f"  {chunk.path} # {chunk.symbol} ({hit.relevance}, {hit.why})")


def embed_changes(asked: list[PublicChange], model: HostedModel, work: Path) -> dict[str, NDArray[np.float32]]:
    """The vectors of the changes; those of former runs are kept in a file."""
    file = work / f"{re.sub(r'[^a-zA-Z0-9]+', '_', model.model_id)[-40:]}.npz"
    known = dict(np.load(file)) if file.exists() else {}
    former = dict(zip(map(str, known.get("texts", ())), known.get("vectors", ()), strict=True))
    made = {each.text: model.embed_query(each.text) for each in asked if each.text not in former}
    vectors = {**former, **made}
    if made:
        np.savez(file, texts=np.array(list(vectors)), vectors=np.array(list(vectors.values())))
    return vectors


def main() -> None:
    """Print the figures of one half, repository by repository."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--half", choices=("tuned", "aside", "fresh", "late", "new"), default="tuned")
    parser.add_argument("--words", action="store_true", help="by words alone")
    parser.add_argument("--misses", action="store_true", help="show the misses of the tuned half")
    arguments = parser.parse_args()
    asked = [each for each in (*read_changes(), *read_silent_changes()) if each.half == arguments.half]
    model = None if arguments.words else local_model("auto", EmbeddingSettings())
    vectors = embed_changes(asked, model, arguments.work) if model is not None else {}
    totals: dict[str, Counter[str]] = {}
    for name in dict.fromkeys(each.set for each in asked):
        repository = open_repository(arguments.checkouts, arguments.work, name, model)
        for title, counts in _measure(repository, asked, vectors):
            if counts["changes"]:
                _print_figures(name, title, counts)
                totals.setdefault(title, Counter()).update(counts)
        if arguments.misses:
            _print_misses(repository, asked, vectors)
    for title, counts in totals.items():
        _print_figures("all", title, counts)


if __name__ == "__main__":
    main()
