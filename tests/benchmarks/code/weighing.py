"""How much vectors should weigh in the fused order: NDCG@10 of the product's order with other weights for them.

python -m tests.benchmarks.code.weighing MIRRORS MODEL

Asked are the questions about the repositories that weights are learned from (`learn`). The other weights are those that are, or
are learned again beside each weight of the vectors. What is printed last is best by file and place together. Left out is what does
not depend on weights: pieces of one declaration are not joined, copies not dropped; `models` measures the whole order.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import local_model
from rag_ls.search.evidence import for_kind
from rag_ls.search.fusion import Weights, load_weights
from rag_ls.search.ranking import order_candidates
from tests.benchmarks.code.finding import qualities
from tests.benchmarks.code.judge import DEPTH
from tests.benchmarks.code.learn import GIVEN, Example, learned, seen_examples

_DENSE = (1.6, 2.2, 3.0, 4.0)
_FILE = (0.3, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("model")
    arguments = parser.parse_args()
    model = local_model(arguments.model, EmbeddingSettings())
    found = seen_examples(arguments.mirrors, model)
    model.close()
    print(f"{len(found):,} questions", file=sys.stderr)
    measured = []
    for how, weights in _tried(found):
        by_file, by_place = quality(found, weights)
        given = ", ".join(f"{name} {weights[name]:g}" for name in ("dense", "file_dense"))
        print(f"{how}, {given}: {by_file:.4f} by file, {by_place:.4f} by place", flush=True)
        measured.append((by_file + by_place, weights))
    _, best = max(measured, key=lambda item: item[0])
    print(json.dumps(dict(best), indent=2))


def _tried(found: Sequence[Example]) -> Iterator[tuple[str, Weights]]:
    """Weights to try, each with how they came about."""
    now = load_weights("code")
    yield "as it is", now
    for dense, file in itertools.product(_DENSE, _FILE):
        of_vectors = {"dense": dense, "file_dense": file}
        yield "others as they are", {**now, **of_vectors}
        yield "others learned again", learned(found, {**GIVEN, **of_vectors})


def quality(found: Sequence[Example], weights: Weights) -> tuple[float, float]:
    """NDCG@10 by file and by place: the means over the kinds of questions."""
    of_kind: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each in found:
        place_of = dict(zip((row.row for row in each.candidates.rows), each.places, strict=True))
        rows, signals, query = each.candidates.rows, each.candidates.signals, each.candidates.query
        ranked = order_candidates(rows, each.table, signals, query, for_kind(weights, query.kind))
        of_kind[each.question.kind].append(qualities([place_of[row.row] for row, _ in ranked[:DEPTH]], each.question))
    means = [[sum(column) / len(column) for column in zip(*scores, strict=True)] for scores in of_kind.values()]
    by_file, by_place = (sum(column) / len(column) for column in zip(*means, strict=True))
    return by_file, by_place


if __name__ == "__main__":
    main()
