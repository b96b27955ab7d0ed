"""How well lines inside bodies are found, as a client gets them: ten files, each with up to three places.

python -m tests.benchmarks.code.bodies MIRRORS [MODEL]

MIRRORS is a folder of git mirrors, OWNER+NAME/repo; without MODEL by words alone. The questions (`questions/bodies.jsonl`) were
written about lines that chance chose, without looking at any answer.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import local_model
from tests.benchmarks.code.asked import asked, places_found
from tests.benchmarks.code.histories import histories
from tests.benchmarks.code.questions import Answer

_FILE = Path(__file__).parent / "questions" / "bodies.jsonl"
_FILES, _PLACES, _FOUND = 10, 3, 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("model", nargs="?")
    arguments = parser.parse_args()
    model = local_model(arguments.model, EmbeddingSettings()) if arguments.model else None
    written = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
    gains: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for history in histories(arguments.mirrors):
        its = [(at, each) for at, each in enumerate(written) if each["repository"] == history.name]
        about = asked(history, model) if its else None
        for at, each in its:
            assert about is not None
            vector = model.embed_query(each["query"]) if model else None
            places = places_found(about.searcher, each["query"], about.model_id, vector, count=_FOUND)
            gains["odd" if at % 2 else "even"].append(_judge(places, each["path"], each["line"]))
    if model is not None:
        model.close()
    print("| questions | number | file | best place | one of three places |\n| --- | --- | --- | --- | --- |")
    for group, values in sorted(gains.items()):
        means = " | ".join(f"{sum(column) / len(column):.3f}" for column in zip(*values, strict=True))
        print(f"| {group} | {len(values)} | {means} |")


def _judge(places: Sequence[Answer], path: str, line: int) -> tuple[float, float, float]:
    """NDCG@10 of the file, of the line in its best place, and of the line in one of its places."""
    files: dict[str, list[Answer]] = defaultdict(list)
    for place in places:
        files[place.path].append(place)
    rank = next((rank for rank, name in enumerate(list(files)[:_FILES]) if name == path), None)
    if rank is None:
        return 0.0, 0.0, 0.0
    gain = 1 / math.log2(rank + 2)
    holding = [place.start <= line <= place.end for place in files[path][:_PLACES]]
    return gain, gain * holding[0], gain * any(holding)


if __name__ == "__main__":
    main()
