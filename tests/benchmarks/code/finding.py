"""How well files and places are found, by set of questions, beside peers, over public histories.

python -m tests.benchmarks.code.finding [MIRRORS] [--words] [--unseen] [--semble PYTHON] [--json FILE]

MIRRORS is a folder of git mirrors, OWNER+NAME/repo, in place of GitHub. PYTHON is an interpreter that has semble and wordllama from
PyPI. Without --words everything is embedded, which takes an hour on two cores. Printed is the unseen third.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import local_model
from rag_ls.search.query import analyse
from rag_ls.storage import stem
from tests.benchmarks.code.asked import Asked, asked, places_found
from tests.benchmarks.code.histories import histories
from tests.benchmarks.code.history_questions import WHOLE
from tests.benchmarks.code.judge import DEPTH, judge
from tests.benchmarks.code.questions import Answer, Question

_PEERS = Path(__file__).parent / "semble_answers.py"
_WINDOW = 50
_K1, _B = 1.5, 0.75
_RESAMPLED = 1000
_READ_AT_ONCE = 2000
_CHARACTERS_OF_TOKEN = 4
_IN_WORDS = ("subject", "architecture", "module", "concept", "documentation", "web")
Answers = Callable[[Question], Sequence[Answer]]


@dataclass(frozen=True, slots=True)
class Judged:
    """How good one answer was."""

    tool: str
    kind: str
    language: str
    repository: str
    is_unseen: bool
    by_file: float
    """NDCG@10 by file; another hit of a file that was found gains nothing."""
    by_place: float
    """NDCG@10 by place: a hit covers half of the shorter of itself and the answer."""
    found: bool
    """Whether a file that answers is among the first ten hits."""
    tokens: int
    """About the tokens that somebody reads until the first hit in a file that answers: hits in their order; of grep, whole files."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path, nargs="?")
    parser.add_argument("--words", action="store_true", help="by words alone: embeds nothing")
    parser.add_argument("--semble", metavar="PYTHON", help="an interpreter that has semble")
    parser.add_argument(
        "--unseen", action="store_true", help="leave the repositories out that weights are learned from"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each judgement, too")
    arguments = parser.parse_args()
    model = None if arguments.words else local_model("auto", EmbeddingSettings())
    judged: list[Judged] = []
    for history in histories(arguments.mirrors):
        if arguments.unseen and not history.is_unseen:
            continue
        about = asked(history, model)
        print(f"{history.name}: {len(about.questions)} questions", file=sys.stderr, flush=True)
        for tool, answers in tools(about, arguments.semble):
            judged += [_judged(tool, about, question, answers(question)) for question in about.questions]
    if model is not None:
        model.close()
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(each) for each in judged]))
    for key in ("kind", "language"):
        report(judged, key, unseen=True)
    report_tokens([each for each in judged if each.is_unseen])
    if not arguments.unseen:
        report(judged, "kind", unseen=False)


def _judged(tool: str, about: Asked, question: Question, places: Sequence[Answer]) -> Judged:
    wanted = {answer.path for answer in question.answers}
    paths = [place.path for place in places[:DEPTH]]
    last = next((rank for rank, path in enumerate(paths) if path in wanted), len(paths) - 1)
    read = list(dict.fromkeys(paths[: last + 1])) if tool == "grep" else places[: last + 1]
    tokens = sum(_tokens(about.folder, place) for place in read)
    by_file, by_place = qualities(places, question)
    return Judged(
        tool, question.kind, question.language, about.history.name, about.history.is_unseen, by_file, by_place,
        bool(wanted & {*paths}), tokens,
    )  # fmt: skip


def _tokens(folder: Path, read: Answer | str) -> int:
    """About the tokens of a place, or of a whole file as far as an agent reads it at once."""
    place = Answer(read, 1, _READ_AT_ONCE) if isinstance(read, str) else read
    lines = (folder / place.path).read_text(encoding="utf-8", errors="ignore").split("\n")
    return sum(len(line) + 1 for line in lines[place.start - 1 : place.end]) // _CHARACTERS_OF_TOKEN


def qualities(places: Sequence[Answer], question: Question) -> tuple[float, float]:
    """NDCG@10 of places, best first: by file and by place."""
    by_file = ndcg([place.path for place in places[:DEPTH]], {answer.path for answer in question.answers})
    return by_file, judge(places, question.answers).ndcg


def ndcg(paths: Sequence[str], wanted: set[str]) -> float:
    """NDCG@10 by file; another hit of a file that was found gains nothing."""
    return judge([Answer(path, *WHOLE) for path in paths], [Answer(path, *WHOLE) for path in wanted]).ndcg


# --- tools


def tools(about: Asked, semble: str | None) -> Iterator[tuple[str, Answers]]:
    """What is compared, by name; each answers with places, best first."""
    yield "rag-ls, words alone", lambda question: by_rag_ls(about, question, dense=False)
    if about.model_id:
        yield "rag-ls", lambda question: by_rag_ls(about, question, dense=True)
    windows = Windows(about.folder, sorted(about.index.checkout.documents()))
    yield "grep", windows.by_words
    yield "BM25 over windows", windows.by_bm25
    if semble:
        for mode in ("words", "static model"):
            queries = [question.query for question in about.questions]
            yield f"semble, {mode}", Given(answers_of_semble(semble, mode, about.folder, queries)).answers


def by_rag_ls(about: Asked, question: Question, *, dense: bool) -> list[Answer]:
    """The product's own answer."""
    vector = about.vectors[question.query] if dense else None
    return places_found(about.searcher, question.query, about.model_id, vector)


@dataclass(frozen=True, slots=True)
class Given:
    """Answers that are there already, by query."""

    places: dict[str, list[Answer]]

    def answers(self, question: Question) -> list[Answer]:
        """The answer to a question."""
        return self.places[question.query]


class Windows:
    """The files of a repository in windows of lines, with no rule at all."""

    def __init__(self, folder: Path, paths: Sequence[str]) -> None:
        self._places: list[Answer] = []
        self._texts: list[str] = []
        for path in paths:
            lines = (folder / path).read_text(encoding="utf-8", errors="ignore").split("\n")
            for start in range(0, len(lines), _WINDOW):
                self._places.append(Answer(path, start + 1, start + len(lines[start : start + _WINDOW])))
                self._texts.append("\n".join(lines[start : start + _WINDOW]).lower())
        self._holders: dict[str, dict[int, int]] = defaultdict(dict)
        self._lengths: list[int] = []
        for at, text in enumerate(self._texts):
            words = Counter(map(stem, re.findall(r"[a-z]\w+", text)))
            self._lengths.append(sum(words.values()))
            for word, count in words.items():
                self._holders[word][at] = count

    def by_words(self, question: Question) -> list[Answer]:
        """Windows that hold the most of the words, as a search for each of them with grep shows."""
        words = [word for word in analyse(question.query).terms if len(word) > 2]
        return self._best([float(sum(word in text for word in words)) for text in self._texts])

    def by_bm25(self, question: Question) -> list[Answer]:
        """Windows by BM25 of stemmed words."""
        words = {stem(word) for word in re.findall(r"[a-z]\w+", question.query.lower())}
        mean = sum(self._lengths) / len(self._lengths)
        scores = [0.0] * len(self._texts)
        for word in words & self._holders.keys():
            holders = self._holders[word]
            rare = math.log(1 + (len(scores) - len(holders) + 0.5) / (len(holders) + 0.5))
            for at, count in holders.items():
                scores[at] += rare * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * self._lengths[at] / mean))
        return self._best(scores)

    def _best(self, scores: Sequence[float]) -> list[Answer]:
        order = sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: -scores[at])
        return [self._places[at] for at in order[:DEPTH]]


def answers_of_semble(python: str, mode: str, folder: Path, queries: Sequence[str]) -> dict[str, list[Answer]]:
    """What semble answers about a folder, by query; `python` is an interpreter that has it."""
    command = [python, str(_PEERS), mode, str(folder)]
    done = subprocess.run(command, input=json.dumps(queries), capture_output=True, text=True, check=True)
    return {query: [Answer(*place) for place in places] for query, places in json.loads(done.stdout).items()}


# --- reports


def report(judged: Sequence[Judged], key: str, *, unseen: bool) -> None:
    """Print a table in Markdown: by file / by place / found among ten, for each tool; the last row is the mean of all rows."""
    groups: dict[str, dict[str, list[Judged]]] = defaultdict(lambda: defaultdict(list))
    for each in judged:
        if each.is_unseen == unseen:
            groups[getattr(each, key)][each.tool].append(each)
    names = list(dict.fromkeys(each.tool for each in judged))
    print(f"\n{'Unseen' if unseen else 'Tuned on'}, by file / by place / found")
    print(f"| {key} | questions | {' | '.join(names)} |\n| --- | --- |{' --- |' * len(names)}")
    means: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for group, of_tool in sorted(groups.items()):
        count = len(of_tool[names[0]])
        if count < 10:
            continue
        cells = []
        for name in names:
            means[name].append(_mean(of_tool[name]))
            cells.append(_cell(means[name][-1]) + f" ±{_spread([each.by_file for each in of_tool[name]]):.3f}")
        print(f"| {group} | {count} | {' | '.join(cells)} |")
    rows = [_cell(tuple(sum(column) / len(column) for column in zip(*means[name], strict=True))) for name in names]
    print(f"| mean of all | | {' | '.join(rows)} |", flush=True)


def report_tokens(judged: Sequence[Judged]) -> None:
    """Print what is read until the right file is there, of questions in words."""
    print("\n| tool | found | tokens until then, mean | median |\n| --- | --- | --- | --- |")
    for tool in dict.fromkeys(each.tool for each in judged):
        its = [each for each in judged if each.tool == tool and each.kind in _IN_WORDS]
        read = sorted(each.tokens for each in its)
        found = sum(each.found for each in its) / len(its)
        print(f"| {tool} | {found:.3f} | {sum(read) / len(read):.0f} | {read[len(read) // 2]} |")


def _cell(figures: Sequence[float]) -> str:
    return " / ".join(f"{figure:.3f}" for figure in figures)


def _mean(judged: Sequence[Judged]) -> tuple[float, float, float]:
    count = len(judged)
    return (
        sum(each.by_file for each in judged) / count,
        sum(each.by_place for each in judged) / count,
        sum(each.found for each in judged) / count,
    )


def _spread(values: Sequence[float]) -> float:
    """Half of the 95 % confidence interval of the mean, by resampling."""
    low, high = interval(values, _RESAMPLED)
    return (high - low) / 2


def interval(values: Sequence[float], resampled: int) -> tuple[float, float]:
    """The 95 % confidence interval of the mean, by resampling so many times."""
    chosen = random.Random(7)
    means = sorted(sum(chosen.choices(values, k=len(values))) / len(values) for _ in range(resampled))
    return means[round(0.025 * resampled)], means[round(0.975 * resampled) - 1]


if __name__ == "__main__":
    main()
