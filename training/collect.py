"""Makes pairs of the listed repositories.

python -m training.collect MIRRORS FOLDER [--most N]

MIRRORS holds clones, OWNER+NAME/repo. Written are FOLDER/repositories/OWNER+NAME.jsonl, each once (a repository that is there is not
read again), then FOLDER/pairs.jsonl, and FOLDER/counts.json with what was taken and what was left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from training import of_changes, of_documentation, of_links, pairs
from training.pairs import Pair, some
from training.repositories import LeftOut, TrainingRepository, repositories
from training.selection import balanced, distinct
from training.sources import sources

_MOST_FILES = 3000
_MOST_OF_KIND = {
    "documentation": 1500, "signature": 300, "change": 2000, "test": 300, "call": 400, "section": 300, "message": 300,
    "question": 500,
}  # fmt: skip
_MOST_OF_REPOSITORY = 5000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=200_000, help="pairs in all")
    arguments = parser.parse_args()
    counts = collect(arguments.mirrors, arguments.folder, arguments.most)
    print(json.dumps(counts, indent=2))


def collect(mirrors: Path, folder: Path, most: int) -> dict[str, Any]:
    """Make the pairs; returns the counts of what was taken and left out."""
    (folder / "repositories").mkdir(parents=True, exist_ok=True)
    found = list(repositories(mirrors))
    taken = [each for each in found if isinstance(each, TrainingRepository)]
    with ProcessPoolExecutor() as pool:
        files = list(pool.map(_written, taken, [folder / "repositories"] * len(taken)))
    every = [pair for file in files for pair in pairs.read(file)]
    kept = balanced(list(distinct(every)), most, _MOST_OF_REPOSITORY)
    pairs.write(kept, folder / "pairs.jsonl")
    counts = {
        "repositories": {each.name: each.commit for each in taken},
        "left_out": {each.name: each.reason for each in found if isinstance(each, LeftOut)},
        "found": len(every), "kept": len(kept),
        "by_kind": dict(Counter(pair.kind for pair in kept).most_common()),
        "by_language": dict(Counter(pair.language for pair in kept).most_common()),
        "by_repository": dict(Counter(pair.repository for pair in kept).most_common()),
    }  # fmt: skip
    (folder / "counts.json").write_text(json.dumps(counts, indent=2) + "\n")
    return counts


def _written(repository: TrainingRepository, folder: Path) -> Path:
    file = folder / f"{repository.name.replace('/', '+')}.jsonl"
    if not file.exists():
        count = pairs.write(pairs_of(repository), file)
        print(f"{repository.name}: {count:,} pairs", file=sys.stderr, flush=True)
    return file


def pairs_of(repository: TrainingRepository) -> list[Pair]:
    """Pairs of every kind, each kind at most so often."""
    files = some(sources(repository), _MOST_FILES, repository.name)
    known = of_links.Declarations(files)
    name = repository.name

    def of_files() -> Iterator[Pair]:
        for source in files:
            if source.is_code:
                yield from of_documentation.documented(source, name)
                yield from of_documentation.signatures(source, name)
                yield from of_documentation.asked(source, name)
            yield from of_links.tested(source, name, known)
            yield from of_links.called(source, name, known)
            yield from of_links.described(source, name, known)
            yield from of_links.raised(source, name)

    every = [*of_files(), *of_changes.changed(repository)]
    return [
        pair
        for kind in pairs.KINDS
        for pair in some([each for each in every if each.kind == kind], _MOST_OF_KIND[kind], name + kind)
    ]


if __name__ == "__main__":
    main()
