"""Questions with their answers: written by hand, and derived from documentation."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rag_ls.chunking import Budget, approximate_token_offsets, chunk_text
from rag_ls.languages import detect_language
from rag_ls.model import Chunk
from tests.benchmarks.code.repositories import Repository, fetch

_WRITTEN = Path(__file__).parent / "questions"
_DERIVED = 26
FUNCTION = re.compile("function|method")
# What a question is derived from is long enough to be one.
_FEWEST_WORDS, _MOST_WORDS = 6, 30
_COMMENT = re.compile(r"^\s*(//|/\*|\*|#|--)")
_DOCSTRING = re.compile(r'^\s*[rR]?("""|\'\'\')')
# Code, markup and instructions for tools are no questions.
_NO_QUESTION = re.compile(r"^[^A-Za-z]|[{}();`@<>]|deprecated|TODO")
_SENTENCE = re.compile(r"(?<=[.!?])\s")


@dataclass(frozen=True, slots=True)
class Answer:
    """A place that answers a question; lines are 1-based and inclusive."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one repository."""

    repository: str
    language: str
    query: str
    kind: str
    """`words`, `identifier`, `error`, `snippet`, `path`, or `derived` (from documentation that was removed)."""
    answers: tuple[Answer, ...]

    @property
    def is_unseen(self) -> bool:
        """Whether it belongs to the third that nothing is tuned on."""
        return int(hashlib.sha256(self.query.encode()).hexdigest(), 16) % 3 == 0


def written(repository: Repository) -> list[Question]:
    """The questions that were written about a repository."""
    lines = (_WRITTEN / f"{repository.name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_question(repository, json.loads(line)) for line in lines]


def _question(repository: Repository, record: dict[str, object]) -> Question:
    answers = record["answers"]
    assert isinstance(answers, list)
    return Question(
        repository.name,
        repository.language,
        str(record["query"]),
        str(record["kind"]),
        tuple(Answer(**answer) for answer in answers),
    )


def keep(questions: Sequence[Question], file: Path) -> None:
    """Write questions to a file, for `kept`."""
    file.write_text(json.dumps([asdict(each) for each in questions]))


def kept(file: Path) -> list[Question]:
    """The questions that `keep` wrote."""
    return [
        Question(**{**each, "answers": tuple(Answer(**place) for place in each["answers"])})
        for each in json.loads(file.read_text())
    ]


def prepare(repository: Repository, folder: Path) -> list[Question]:
    """Make `folder` a copy of a repository in which the documentation of some functions is blank; all questions about it.

    Lines keep their numbers. Functions that answer a written question keep their documentation.
    """
    shutil.copytree(fetch(repository), folder, symlinks=True)
    questions = written(repository)
    taken = {answer.path for question in questions for answer in question.answers}
    found = [item for item in _documented(repository, folder) if item[0].answers[0].path not in taken]
    if len(found) < _DERIVED:
        found += [item for item in _documented(repository, folder) if not _overlaps(item[0].answers[0], questions)]
    chosen = list({item[0].query: item for item in found}.values())
    random.Random(7).shuffle(chosen)
    for question, lines in chosen[:_DERIVED]:
        blank(folder / question.answers[0].path, lines)
    return [*questions, *(question for question, _ in chosen[:_DERIVED])]


def _overlaps(answer: Answer, questions: Sequence[Question]) -> bool:
    return any(
        other.path == answer.path and other.start <= answer.end and answer.start <= other.end
        for question in questions
        for other in question.answers
    )


def _documented(repository: Repository, folder: Path) -> Iterator[tuple[Question, range]]:
    """Functions with documentation that says something other than their name, and the 1-based lines of it."""
    for chunk in documented_chunks(folder, lambda language: language in (repository.language, "cpp")):
        if (lines := documentation_lines(chunk, FUNCTION)) and (sentence := first_sentence(chunk)):
            answer = Answer(chunk.path, chunk.start_line, chunk.end_line)
            yield Question(repository.name, repository.language, sentence, "derived", (answer,)), lines


def documented_chunks(folder: Path, is_wanted: Callable[[str], bool]) -> Iterator[Chunk]:
    """The chunks of a repository's sources in the wanted languages that declare something with documentation."""
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        if not file.is_file() or file.is_symlink() or re.search(r"test|spec|example|vendor|benchmark|doc", path):
            continue
        language = detect_language(path, "")
        if language is None or not is_wanted(language):
            continue
        text = file.read_text(encoding="utf-8", errors="ignore")
        budget = Budget(400, 24, 0)
        for chunk in chunk_text(text, path, language=language, budget=budget, token_offsets=approximate_token_offsets):
            if chunk.is_declaration and chunk.doc:
                yield chunk


def first_sentence(chunk: Chunk) -> str:
    """The first sentence of a declaration's documentation, if it is long enough for a question and lacks the name."""
    sentence = _SENTENCE.split(chunk.doc)[0].strip().rstrip(".")
    name = re.split(r"\W", chunk.symbol)[-1].lower()
    return sentence if is_question(sentence) and name and name not in sentence.lower() else ""


def is_question(sentence: str) -> bool:
    """Whether a sentence of documentation can be asked: long enough, short enough, no code."""
    return not _NO_QUESTION.search(sentence) and _FEWEST_WORDS <= len(sentence.split()) <= _MOST_WORDS


def documentation_lines(chunk: Chunk, node_type: re.Pattern[str]) -> range:
    """The lines of a chunk's doc comment or docstring, if it declares such a node.

    Empty where the documentation is not found, or is all that there is.
    """
    if not node_type.search(chunk.node_type):
        return range(0)
    lines = chunk.text.split("\n")
    first = next((at for at, line in enumerate(lines) if _COMMENT.match(line) or _DOCSTRING.match(line)), None)
    if first is None or first > 8:
        return range(0)
    last = first
    if quotes := _DOCSTRING.match(lines[first]):
        while lines[last].count(quotes[1]) < (2 if last == first else 1):
            last += 1
            if last == len(lines):
                return range(0)
    else:
        while last + 1 < len(lines) and _COMMENT.match(lines[last + 1]):
            last += 1
    left = [line for at, line in enumerate(lines) if line.strip() and not first <= at <= last]
    return range(chunk.start_line + first, chunk.start_line + last + 1) if len(left) >= 3 else range(0)


def blank(file: Path, numbers: range) -> None:
    """Make lines of a file empty; the others keep their numbers."""
    lines = file.read_bytes().split(b"\n")
    for number in numbers:
        lines[number - 1] = b""
    file.write_bytes(b"\n".join(lines))
