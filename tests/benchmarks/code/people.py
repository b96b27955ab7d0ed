"""How well an agent finds what people ask for: the answers of `search_code` by default, by file and by lines.

python -m tests.benchmarks.code.people CHECKOUTS [--vectors] [--group tuned|aside] [--semble PYTHON] [--only NAME...]

CHECKOUTS is a folder of git checkouts or mirrors, OWNER+NAME, that hold the commits of `questions/people/repositories.csv`. Without
--vectors by words alone. PYTHON is an interpreter that has semble and wordllama. `questions/people/README.md` says what is asked.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_ls.engine.client import local_client
from rag_ls.indexing import Depth
from rag_ls.operations import ClientSession
from tests.benchmarks.code.finding import Given, Windows, answers_of_semble
from tests.benchmarks.code.judge import DEPTH, covers
from tests.benchmarks.code.questions import Answer, Question

_QUESTIONS = Path(__file__).parent / "questions" / "people"
_CACHE = Path(tempfile.gettempdir()) / "rag-ls-benchmarks" / "people"
_INDEXING_S = 3600.0
Files = Sequence[Sequence[Answer]]
"""The files of an answer, best first, each with its places, best first."""
Figures = tuple[float, float, float, float]
"""Of one answer or the mean of several: NDCG@10 by file, whether a right file is among ten, and NDCG@10 of the files whose best
place, or one of whose places, answers."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A repository of the list, unpacked, with the questions about it."""

    name: str
    folder: Path
    questions: list[Question]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--vectors", action="store_true", help="embed everything first")
    parser.add_argument("--group", choices=("tuned", "aside"), help="only these repositories")
    parser.add_argument("--semble", metavar="PYTHON", help="an interpreter that has semble")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these repositories, OWNER+NAME")
    arguments = parser.parse_args()
    os.environ.setdefault("RAG_LS_HOME", tempfile.mkdtemp())
    judged: dict[str, list[tuple[str, Figures]]] = defaultdict(list)
    for asked in repositories(arguments.checkouts, arguments.group, arguments.only):
        print(f"{asked.name}: {len(asked.questions)} questions", file=sys.stderr, flush=True)
        with answering(asked, arguments.vectors) as answer:
            for question in asked.questions:
                judged["rag-ls"].append(
                    (question.kind, judge_files(read_files(answer(question.query)), question.answers))
                )
        for tool, found in ask_peers(asked, arguments.semble):
            for question in asked.questions:
                judged[tool].append((question.kind, judge_files(group(found(question)), question.answers)))
    report(judged)


def repositories(checkouts: Path, group_name: str | None, only: Sequence[str] | None) -> Iterator[Asked]:
    """The repositories of the list with their questions: of a group, or named."""
    with (_QUESTIONS / "repositories.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            name = row["repository"].replace("/", "+")
            if (group_name and row["group"] != group_name) or (only and name not in only):
                continue
            folder = _CACHE / name
            if not folder.exists():
                _unpack(checkouts / name, row["commit"], folder)
            yield Asked(name, folder, _read_questions(name, row["language"]))


def _unpack(clone: Path, commit: str, folder: Path) -> None:
    archive = subprocess.run(["git", "-C", str(clone), "archive", commit], capture_output=True, check=True)
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)


def _read_questions(name: str, language: str) -> list[Question]:
    records = map(json.loads, (_QUESTIONS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Question(name, language, each["query"], each["kind"], tuple(Answer(**place) for place in each["answers"]))
        for each in records
    ]


@contextmanager
def answering(asked: Asked, vectors: bool) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Answers as an MCP client gets them, once the repository is indexed."""
    # An editor's settings would not do: they cannot switch embedding off.
    os.environ["RAG_LS_EMBEDDING_MODEL"] = "auto" if vectors else "none"
    client = local_client("mcp")
    try:
        view = client.open(asked.folder, on_purpose=True)
        view.indexing.index_tree(Depth.EMBEDDINGS if vectors else Depth.WORDS)
        view.indexing.wait_for_scan(_INDEXING_S)
        while view.store.queue_lengths()[0]:
            time.sleep(0.1)
        if vectors:
            view.indexing.wait_until_idle(_INDEXING_S)
        session = ClientSession(client)
        session.work_in(asked.folder)

        def answer(query: str) -> dict[str, Any]:
            given = session.operations.run("search_code", {"query": query})
            assert given["stats"]["dense"] <= vectors, "embedding is on, so this is no answer by words alone"
            return given

        yield answer
    finally:
        client.close()


def read_files(answer: dict[str, Any]) -> Files:
    """The files of an answer."""
    return [
        [Answer(hit["path"], place["start_line"], place["end_line"]) for place in (hit, *hit.get("places", ()))]
        for hit in answer["results"]
    ]


def ask_peers(asked: Asked, semble: str | None) -> Iterator[tuple[str, Callable[[Question], Sequence[Answer]]]]:
    tracked = [path for path in asked.folder.rglob("*") if path.is_file() and ".rag-ls" not in path.parts]
    windows = Windows(asked.folder, sorted(path.relative_to(asked.folder).as_posix() for path in tracked))
    yield "BM25 over windows", windows.by_bm25
    yield "grep", windows.by_words
    if semble:
        for mode in ("words", "static model"):
            found = answers_of_semble(semble, mode, asked.folder, [each.query for each in asked.questions])
            yield f"semble, {mode}", Given(found).answers


def group(places: Sequence[Answer]) -> Files:
    """The files of a flat answer, in the order of their first places."""
    files: dict[str, list[Answer]] = defaultdict(list)
    for place in places:
        files[place.path].append(place)
    return list(files.values())


def judge_files(files: Files, answers: Sequence[Answer]) -> Figures:
    """How good an answer is."""
    wanted = {answer.path for answer in answers}
    gains = [1 / math.log2(rank + 2) for rank in range(DEPTH)]
    ideal = sum(gains[: len(wanted)])
    by_file = by_best = by_any = 0.0
    for gain, places in zip(gains, files, strict=False):
        if places[0].path in wanted:
            right = [any(covers(place, answer) for answer in answers) for place in places]
            by_file, by_best, by_any = by_file + gain, by_best + gain * right[0], by_any + gain * any(right)
    return by_file / ideal, float(by_file > 0), by_best / ideal, by_any / ideal


def report(judged: Mapping[str, Sequence[tuple[str, Figures]]]) -> None:
    """Print a table in Markdown: by file / found / best place / one of its places, for each kind and tool."""
    print(f"| kind | questions | {' | '.join(judged)} |\n| --- | --- |{' --- |' * len(judged)}")
    kinds = sorted({kind for kind, _ in next(iter(judged.values()))})
    for kind in (*kinds, ""):
        of_tools = [[figures for its, figures in each if kind in ("", its)] for each in judged.values()]
        cells = " | ".join(
            " / ".join(f"{sum(column) / len(figures):.3f}" for column in zip(*figures, strict=True))
            for figures in of_tools
        )
        print(f"| {kind or 'all'} | {len(of_tools[0])} | {cells} |")


if __name__ == "__main__":
    main()
