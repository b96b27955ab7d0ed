"""How well embedding models find files and places: alone at several lengths of their vectors, and in the product's ranking.

python -m tests.benchmarks.code.models MIRRORS MODEL... [--dimensions N...] [--seen] [--only NAME...] [--json FILE]

MIRRORS is a folder of git mirrors, OWNER+NAME/repo. MODEL is a known model, or the folder of one. The first model is what the others are
compared with. Asked are the questions of `finding`, about the third of the repositories that nothing is learned from (--seen: the others).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import local_model
from rag_ls.storage import DISK
from tests.benchmarks.code.asked import Asked, asked, place_of
from tests.benchmarks.code.finding import Judged, by_rag_ls, interval, qualities, report
from tests.benchmarks.code.histories import histories
from tests.benchmarks.code.judge import DEPTH
from tests.benchmarks.code.questions import Answer, Question

_RESAMPLED = 2000
_FUSED = "fused"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--dimensions", type=int, nargs="*", default=[384, 192, 96])
    parser.add_argument("--seen", action="store_true", help="the repositories that weights are learned from")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="only these, as OWNER+NAME")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each judgement, too")
    arguments = parser.parse_args()
    judged: list[Judged] = []
    for name in arguments.models:
        model = local_model(name, EmbeddingSettings())
        for history in histories(arguments.mirrors):
            is_wanted = not arguments.only or history.name in arguments.only
            if is_wanted and history.is_unseen != arguments.seen:
                about = asked(history, model)
                print(f"{name}: {history.name}, {len(about.questions)} questions", file=sys.stderr, flush=True)
                judged += _judged(about, Path(name).name, arguments.dimensions)
        model.close()
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(each) for each in judged]))
    for key in ("kind", "language"):
        report(judged, key, unseen=not arguments.seen)
    _report_differences(judged)


def _judged(about: Asked, model: str, lengths: Sequence[int]) -> Iterator[Judged]:
    chunks = Vectors(about)
    for question in about.questions:
        vector = about.vectors[question.query]
        for length in [each for each in lengths if each <= len(vector)]:
            yield _of(f"{model} {length}", about, question, chunks.nearest(vector, length))
        yield _of(f"{model} {_FUSED}", about, question, by_rag_ls(about, question, dense=True))


def _of(tool: str, about: Asked, question: Question, places: Sequence[Answer]) -> Judged:
    wanted, paths = {answer.path for answer in question.answers}, [place.path for place in places[:DEPTH]]
    by_file, by_place = qualities(places, question)
    return Judged(
        tool, question.kind, question.language, about.history.name, about.history.is_unseen, by_file, by_place,
        bool(wanted & {*paths}), 0,
    )  # fmt: skip


class Vectors:
    """The vectors of a repository's chunks, compared one by one."""

    def __init__(self, about: Asked) -> None:
        checkout = about.index.checkout
        rows = [row for each in checkout.documents(DISK).values() for row in checkout.chunks.of_document(each.id)]
        known = about.index.vectors.get(about.model_id, [row.text_hash for row in rows])
        held = [row for row in rows if row.text_hash in known]
        self._places = [place_of(row.stored) for row in held]
        self._vectors = np.stack([known[row.text_hash] for row in held])

    def nearest(self, query: NDArray[np.float32], length: int) -> list[Answer]:
        """The places whose vectors, cut to `length` numbers, are nearest."""
        vectors = self._vectors[:, :length]
        cosines = vectors @ query[:length] / np.maximum(np.linalg.norm(vectors, axis=1), 1e-9)
        return [self._places[at] for at in np.argsort(-cosines, kind="stable")[:DEPTH]]


def _report_differences(judged: Sequence[Judged]) -> None:
    """Print what each ranking gains over the first model's of its kind, by file, with the 95 % interval (paired bootstrap)."""
    scores: dict[str, list[float]] = defaultdict(list)
    for each in judged:
        scores[each.tool].append(each.by_file)
    alone, fused = [next(name for name in scores if name.endswith(_FUSED) == is_fused) for is_fused in (False, True)]
    print("\n| ranking | NDCG@10 by file | gain | 95 % |\n| --- | --- | --- | --- |")
    for name, values in scores.items():
        base = scores[fused if name.endswith(_FUSED) else alone]
        gains = [value - other for value, other in zip(values, base, strict=True)]
        low, high = interval(gains, _RESAMPLED)
        mean = sum(values) / len(values)
        print(f"| {name} | {mean:.3f} | {sum(gains) / len(gains):+.3f} | {low:+.3f} to {high:+.3f} |")


if __name__ == "__main__":
    main()
