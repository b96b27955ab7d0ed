"""How often questions without an answer get hits that are called close, and questions with one do not: as a client gets them.

python -m tests.benchmarks.code.unanswerable CHECKOUTS [--vectors] [--only NAME...]

CHECKOUTS is a folder of git checkouts or mirrors, OWNER+NAME. Without --vectors by words alone. The questions without an answer
(`questions/unanswerable.jsonl`: nonsense, names that stand nowhere, things that the project does not have) were written before
any was asked; limits are chosen on one half of them, by repository (`half`). Beside them the questions of `people` and `outer`
about the same repositories.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from rag_ls.model import Closeness
from tests.benchmarks.code import outer
from tests.benchmarks.code.people import answering, repositories

_FILE = Path(__file__).parent / "questions" / "unanswerable.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--vectors", action="store_true", help="embed everything first")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these repositories, OWNER+NAME")
    arguments = parser.parse_args()
    os.environ.setdefault("RAG_LS_HOME", tempfile.mkdtemp())
    without: dict[str, list[dict[str, str]]] = defaultdict(list)
    for each in map(json.loads, _FILE.read_text(encoding="utf-8").splitlines()):
        if each["repository"] in (arguments.only or [each["repository"]]):
            without[each["repository"]].append(each)
    further = (each for each in outer.repositories(arguments.checkouts) if each.history.name in without)
    called: dict[tuple[str, str], list[Closeness]] = defaultdict(list)
    for asked in itertools.chain(
        repositories(arguments.checkouts, None, list(without)), (next(outer.prepare(each)) for each in further)
    ):
        print(asked.name, file=sys.stderr, flush=True)
        with answering(asked, arguments.vectors) as answer:
            for each in without[asked.name]:
                called[f"without an answer, {each['half']}", each["kind"]].append(
                    _read_closeness(answer(each["query"]))
                )
            for question in asked.questions:
                called["with an answer", question.kind].append(_read_closeness(answer(question.query)))
    print("| questions | kind | number | close | weak | none |\n| --- | --- | --- | --- | --- | --- |")
    for (group, kind), values in sorted(called.items()):
        shares = [values.count(each) / len(values) for each in reversed(Closeness)]
        print(f"| {group} | {kind} | {len(values)} | {' | '.join(f'{share:.3f}' for share in shares)} |")


def _read_closeness(answer: dict[str, Any]) -> Closeness:
    """What the hits of an answer are called."""
    if answer["stats"].get("nothing_close"):
        return Closeness.NONE
    return Closeness.WEAK if answer["stats"].get("note", "").startswith("weak: ") else Closeness.CLOSE


if __name__ == "__main__":
    main()
