"""Whether what a model is judged by is among what it learned: places of repositories whose lines are those of some answer.

python -m training.overlap FOLDER TREE...

FOLDER holds pairs.jsonl, each TREE the files of a repository. Four lines in a row that say something, indentation aside, are a window;
a file overlaps if half of its windows are in answers.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from training import pairs as stored_pairs

_LINES = 4
# Shorter lines are the same everywhere.
_LEAST_CHARACTERS = 12
_MAX_BYTES = 1_000_000


def windows(text: str) -> set[int]:
    """A number for each four lines in a row that say something."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    told = [line for line in lines if len(line) >= _LEAST_CHARACTERS]
    return {hash(tuple(told[at : at + _LINES])) for at in range(len(told) - _LINES + 1)}


def overlapping(learned: set[int], files: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bool]]:
    """Each file that has windows, by its path, and whether half of them were learned."""
    for path, text in files:
        if own := windows(text):
            yield path, 2 * len(own & learned) >= len(own)


def files_of(tree: Path) -> Iterator[tuple[str, str]]:
    """The text files below a folder, by their paths in it."""
    for file in sorted(tree.rglob("*")):
        if file.is_file() and not file.is_symlink() and ".git" not in file.parts and file.stat().st_size <= _MAX_BYTES:
            content = file.read_bytes()
            if b"\0" not in content:
                yield file.relative_to(tree).as_posix(), content.decode("utf-8", "replace")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("trees", type=Path, nargs="+")
    given = parser.parse_args()
    learned: set[int] = set()
    for pair in stored_pairs.read(given.folder / "pairs.jsonl"):
        learned |= windows(pair.answer)
    for tree in given.trees:
        found = dict(overlapping(learned, files_of(tree)))
        known = [path for path, is_known in found.items() if is_known]
        print(f"{tree.name}: {len(known)} of {len(found):,} files {' '.join(known[:5])}")


if __name__ == "__main__":
    main()
