"""Four sets of questions about repositories that nothing was learned from, nor tuned on until then, as a client gets the answers.

python -m tests.benchmarks.code.outer CHECKOUTS [--vectors] [--group tuned|aside] [--semble PYTHON] [--only NAME...] [--losses FILE]

CHECKOUTS is a folder of git checkouts or mirrors, OWNER+NAME, that hold the commits of `questions/outer/repositories.csv`. Without
--vectors by words alone. PYTHON is an interpreter that has semble and wordllama: with it, peers are asked too.

- `subject`: the subjects of later commits, without chores; the sources that they changed.
- `function kept`, `function removed`: documentation of functions as somebody types it into a search engine; the function, where its
  documentation is left and where it is blank.
- `architecture`, `body`: written without knowing any answer (`questions/outer/*.jsonl`); files, and lines that chance chose.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rag_ls.languages import detect_language
from rag_ls.search.roles import is_data, is_docs
from tests.benchmarks.code.histories import History, unpack
from tests.benchmarks.code.history_questions import as_typed, subjects
from tests.benchmarks.code.people import Asked, Figures, answering, ask_peers, group, judge_files, read_files, report
from tests.benchmarks.code.questions import (
    FUNCTION,
    Answer,
    Question,
    blank,
    documentation_lines,
    documented_chunks,
    first_sentence,
)

_QUESTIONS = Path(__file__).parent / "questions" / "outer"
_CACHE = Path(tempfile.gettempdir()) / "rag-ls-benchmarks" / "outer"
_SUBJECTS, _FUNCTIONS = 40, 20


@dataclass(frozen=True, slots=True)
class Outer:
    """A repository of the list."""

    history: History
    language: str
    group: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--vectors", action="store_true", help="embed everything first")
    parser.add_argument("--group", choices=("tuned", "aside"), help="only these repositories")
    parser.add_argument("--semble", metavar="PYTHON", help="an interpreter that has semble")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these repositories, OWNER+NAME")
    parser.add_argument(
        "--losses", type=Path, metavar="FILE", help="write what was answered where a right file is not first"
    )
    arguments = parser.parse_args()
    os.environ.setdefault("RAG_LS_HOME", tempfile.mkdtemp())
    judged: dict[str, list[tuple[str, Figures]]] = defaultdict(list)
    losses: list[str] = []
    for outer in repositories(arguments.checkouts):
        if arguments.group not in (None, outer.group) or outer.history.name not in (
            arguments.only or [outer.history.name]
        ):
            continue
        for asked in prepare(outer):
            print(f"{asked.folder.name}: {len(asked.questions)} questions", file=sys.stderr, flush=True)
            with answering(asked, arguments.vectors) as answer:
                for question in asked.questions:
                    files = read_files(answer(question.query))
                    figures = judge_files(files, question.answers)
                    judged["rag-ls"].append((question.kind, figures))
                    if figures[0] < 1.0:
                        losses.append(_tell_loss(question, [places[0].path for places in files]))
            for tool, found in ask_peers(asked, arguments.semble) if arguments.semble else ():
                for question in asked.questions:
                    judged[tool].append((question.kind, judge_files(group(found(question)), question.answers)))
    report(judged)
    if arguments.losses:
        arguments.losses.write_text("".join(losses), encoding="utf-8")


def repositories(checkouts: Path) -> Iterator[Outer]:
    """The repositories of the list."""
    with (_QUESTIONS / "repositories.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            name = row["repository"].replace("/", "+")
            yield Outer(History(checkouts / name, name, row["base"], row["last"]), row["language"], row["group"])


def prepare(outer: Outer) -> Iterator[Asked]:
    """A repository with its questions; then the same without the documentation of the functions that are asked for."""
    name = outer.history.name
    folder = _CACHE / name
    if not folder.exists():
        unpack(outer.history, folder)
    functions = _functions(outer, folder)
    kept = [question for question, _ in functions]
    yield Asked(name, folder, [*subjects(outer.history, folder)[:_SUBJECTS], *_written(outer), *kept])
    files = {folder / question.answers[0].path for question in kept}
    originals = {file: file.read_bytes() for file in files}
    try:
        for question, lines in functions:
            blank(folder / question.answers[0].path, lines)
        yield Asked(name, folder, [replace(question, kind="function removed") for question in kept])
    finally:
        for file, content in originals.items():
            file.write_bytes(content)


def _functions(outer: Outer, folder: Path) -> list[tuple[Question, range]]:
    """Queries for functions, with the lines of their documentation; cut once, and kept beside the folder."""
    file = folder.with_suffix(".json")
    if not file.exists():
        found = {query: (query, *place) for query, *place in _find_documented(folder)}
        chosen = list(found.values())
        random.Random(7).shuffle(chosen)
        file.write_text(json.dumps(chosen[:_FUNCTIONS]), encoding="utf-8")
    name = outer.history.name
    return [
        (Question(name, outer.language, query, "function kept", (Answer(path, start, end),)), range(first, last))
        for query, path, start, end, first, last in json.loads(file.read_text(encoding="utf-8"))
    ]


def _find_documented(folder: Path) -> Iterator[tuple[str, str, int, int, int, int]]:
    """A query for each documented function, its path and lines, and the lines of its documentation."""
    for chunk in documented_chunks(folder, lambda language: not (is_docs(language) or is_data(language))):
        if (lines := documentation_lines(chunk, FUNCTION)) and (sentence := first_sentence(chunk)):
            query = as_typed(Question("", detect_language(chunk.path, "") or "", sentence, "", ())).query
            yield query, chunk.path, chunk.start_line, chunk.end_line, lines.start, lines.stop


def _written(outer: Outer) -> list[Question]:
    file = _QUESTIONS / f"{outer.history.name}.jsonl"
    records = map(json.loads, file.read_text(encoding="utf-8").splitlines() if file.exists() else ())
    return [
        Question(
            outer.history.name,
            outer.language,
            each["query"],
            each["kind"],
            tuple(Answer(*it) for it in each["answers"]),
        )
        for each in records
    ]


def _tell_loss(question: Question, paths: Sequence[str]) -> str:
    wanted = ", ".join(sorted({answer.path for answer in question.answers}))
    listed = "".join(f"    {path}\n" for path in paths[:5])
    return f"{question.repository} {question.kind}: {question.query}\n  wanted {wanted}\n{listed}"


if __name__ == "__main__":
    main()
