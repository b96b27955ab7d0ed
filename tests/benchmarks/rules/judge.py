"""`python -m tests.benchmarks.rules.judge`: whether the right rule comes first for a planned change.

`changes.jsonl` has the changes with the sections that a careful colleague would name; `sets/` has the rules and a little
code of each project. Half of the changes are `held`: they are counted, but their misses are never shown.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_ls.engine.client import local_client
from rag_ls.operations import Operations

_HERE = Path(__file__).parent
_PATIENCE_S = 300.0
_RESULTS = 10
_LISTS = {"constraint": "constraints", "pattern": "patterns"}
# Python of the sets is kept under another name: our own linters and type checker are not to look at it.
_KEPT_AS = ".txt"


@dataclass(frozen=True)
class Change:
    """A planned change and the sections that are right for it, as path and heading (or id)."""

    set: str
    text: str
    right: tuple[tuple[str, str], ...]
    kind: str
    half: str
    file_path: str | None

    def is_right(self, result: dict[str, Any]) -> bool:
        """Whether a result of the operation is one of them."""
        return any(result["filePath"] == path and names(result["section"], section) for path, section in self.right)


@dataclass(frozen=True)
class Judged:
    """A change and what was found for it."""

    change: Change
    results: list[dict[str, Any]]

    @property
    def rank(self) -> int | None:
        """The place of the first right result, from 1."""
        return next((place for place, each in enumerate(self.results, 1) if self.change.is_right(each)), None)


def names(section: str, label: str) -> bool:
    """Whether a section, as "Constraints > Money" or "rules.no-print", is the labelled one."""
    return section == label or section.endswith((f" > {label}", f".{label}"))


def changes() -> list[Change]:
    """All labelled changes."""
    rows = (json.loads(line) for line in (_HERE / "changes.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Change(
            set=row["set"],
            text=row["change"],
            right=tuple((each["path"], each["section"]) for each in row["right"]),
            kind=row["kind"],
            half=row["half"],
            file_path=row.get("file_path"),
        )
        for row in rows
    ]


def copy_of(name: str, folder: Path) -> Path:
    """A set as the project that it is."""
    root = folder / name
    shutil.copytree(_HERE / "sets" / name, root)
    for kept in list(root.rglob(f"*{_KEPT_AS}")):
        kept.rename(kept.with_suffix(""))
    return root


@contextmanager
def opened(name: str, folder: Path) -> Iterator[Operations]:
    """The operations on an indexed set."""
    client = local_client()
    try:
        view = client.open(copy_of(name, folder), on_purpose=True)
        view.indexing.index_tree()
        if not view.indexing.wait_until_idle(_PATIENCE_S):
            raise TimeoutError(f"{name} is not indexed after {_PATIENCE_S:.0f} s")
        yield Operations(client, wait_for_model_s=60)
    finally:
        client.close()


def judged(folder: Path, only: Iterable[Change]) -> list[Judged]:
    """What is found for each change."""
    asked = list(only)
    found = []
    for name in sorted({change.set for change in asked}):
        with opened(name, folder) as operations:
            found += [_ask(operations, change) for change in asked if change.set == name]
    return found


def _ask(operations: Operations, change: Change) -> Judged:
    arguments = {"change_description": change.text, "num_results": _RESULTS}
    if change.file_path is not None:
        arguments["file_path"] = change.file_path
    answer = operations.run("rag_check_constraints", arguments)
    return Judged(change, answer[_LISTS[change.kind]])


def rules(folder: Path) -> dict[str, Any]:
    """Shares and mean reciprocal rank, by half; within each by kind and by set."""
    everything = judged(folder, changes())
    return {half: _by_kind([each for each in everything if each.change.half == half]) for half in ("seen", "held")}


def _by_kind(found: list[Judged]) -> dict[str, dict[str, float]]:
    groups = {"all": found}
    for kind in _LISTS:
        of_kind = [each for each in found if each.change.kind == kind]
        groups[kind] = of_kind
        for name in sorted({each.change.set for each in of_kind}):
            groups[f"{kind}, {name}"] = [each for each in of_kind if each.change.set == name]
    groups["with a file"] = [each for each in found if each.change.file_path is not None]
    return {name: _numbers(group) for name, group in groups.items()}


def _numbers(found: list[Judged]) -> dict[str, float]:
    ranks = [each.rank for each in found]
    empty = sum(not each.results for each in found)
    count = max(len(ranks), 1)
    return {
        "changes": len(ranks),
        "first": round(sum(rank == 1 for rank in ranks) / count, 3),
        "in three": round(sum(rank is not None and rank <= 3 for rank in ranks) / count, 3),
        "mrr": round(sum(1 / rank for rank in ranks if rank is not None) / count, 3),
        "in ten": round(sum(rank is not None for rank in ranks) / count, 3),
        "nothing found": round(empty / count, 3),
    }


def _print_misses(found: list[Judged]) -> None:
    for each in found:
        if each.change.half == "seen" and each.rank != 1:
            change = each.change
            file = f" [{change.file_path}]" if change.file_path else ""
            print(f"\n{change.set}, {change.kind}: {change.text}{file}")
            print(f"  right, at {each.rank or 'no place'}: {'; '.join(' # '.join(right) for right in change.right)}")
            for result in each.results[:1]:
                print(
                    f"  first: {result['filePath']} # {result['section']} ({result['relevance']}, {result.get('why')})"
                )


def main() -> None:
    """Print the numbers, and with `--misses` what went wrong in the seen half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="show the misses of the seen half")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["RAG_LS_HOME"] = str(Path(temporary) / "home")
        found = judged(Path(temporary), changes())
    for half in ("seen", "held"):
        print(half)
        for name, numbers in _by_kind([each for each in found if each.change.half == half]).items():
            print(f"  {name:24}" + "".join(f"{key} {value:<8}" for key, value in numbers.items()))
    if arguments.misses:
        _print_misses(found)


if __name__ == "__main__":
    main()
