"""Questions about a repository at a commit of its history, as people ask them.

- `subject`: subjects of later commits; the files that they changed are the answers.
- `description`: their whole messages, where they are long.
- `architecture`: written after reading the repositories, without knowing the ranking; the answers are files.
- `module`, `concept`: the first sentence of what a file's head or a type's documentation says; it is blank in the copy.
- `documentation`, `web`: the same of a function, as it is and as somebody types it into a search engine.
- `message`: an error message that the sources hold, with its values filled in.
- `type`, `function`, `file`: bare names, and `misspelt` ones.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from rag_ls.languages import detect_language
from rag_ls.model import StoredChunk
from rag_ls.search.roles import is_data, is_docs, is_test_by_path
from rag_ls.storage import CheckoutIndex
from tests.benchmarks.code.histories import History, git
from tests.benchmarks.code.questions import (
    FUNCTION,
    Answer,
    Question,
    blank,
    documentation_lines,
    documented_chunks,
    first_sentence,
    is_question,
)

_ARCHITECTURE = Path(__file__).parent / "questions" / "architecture.jsonl"
_DESCRIPTIONS, _LONG_TEXT_WORDS = 15, 60
_TRAILER = re.compile(r"^[A-Z][\w-]+-[Bb]y:.*$", re.M)
_SUBJECTS, _DOCUMENTED, _CONCEPTS, _MODULES, _MESSAGES, _NAMES = 50, 30, 8, 8, 8, 12
# An answer that is a whole file.
WHOLE = (1, 1_000_000)
# Shorter names are misspelt into other words.
_LONG = 8
_MOST_FILES = 4
_FEWEST_WORDS = 4
# Such commits say nothing about what they change.
_CHORE = re.compile(
    r"\b(bump|releases?|version|changelog|typos?|merge|revert|lint|format|prettier|clippy|readme|dependabot|upgrade|update dep\w*|"
    r"dependenc\w+|copyright|licen[cs]e|ci|workflows?|renovate|pre-commit|docs?)\b|^v?\d+\.\d+", re.I
)  # fmt: skip
_REFERENCE = re.compile(r"\s*\(?(?:#|gh-)\d+\)?", re.I)
_TYPE = re.compile("class|struct|interface|enum|trait|module")
_HEAD = re.compile(r"^\s*(//!?|/\*+|\*+/?|#|--+|;+|\"\"\"|''')\s*")
_NO_HEAD = re.compile(r"copyright|licen[sc]e|spdx|eslint|generated|coding[:=]|\$OpenBSD|^!|@ts-|vim:|all rights", re.I)
_HEAD_LINES = 40
_MESSAGE = re.compile(r"""(["'`])((?:(?!\1)[^\\\n]){20,110})\1""")
_RAISES = re.compile(r"raise|throw|error|panic|fail|fatal|warn|die\b|abort|reject", re.I)
_VALUE = re.compile(r"#\{[^}]*\}|\$\{[^}]*\}|\{[^}]*\}|\\\([^)]*\)|%[-+.\d]*[a-zA-Z]|\$\w+")
_STOP = frozenset(
    "the a an of to for in on is are be and or if that this with by it its from as at into when which will".split()
)

T = TypeVar("T")


def prepare(history: History, folder: Path) -> list[Question]:
    """The questions about the tree that lies in `folder`; documentation that became one is blanked there."""
    return [
        *subjects(history, folder),
        *_from_documentation(history, folder),
        *_messages(history, folder),
    ]


def subjects(history: History, folder: Path) -> list[Question]:
    return _some(
        [_question(history, subject, "subject", files) for subject, _, files in _changes(history, folder)], _SUBJECTS
    )


def descriptions(history: History, folder: Path) -> list[Question]:
    """Long messages of later commits, without the lines that name people."""
    texts = [
        (f"{subject}\n\n{_TRAILER.sub('', body).strip()}", files) for subject, body, files in _changes(history, folder)
    ]
    long = [(text, files) for text, files in texts if len(text.split()) >= _LONG_TEXT_WORDS]
    return _some([_question(history, text, "description", files) for text, files in long], _DESCRIPTIONS)


def _changes(history: History, folder: Path) -> Iterator[tuple[str, str, list[Answer]]]:
    """Subject, body and changed sources of each later commit that says what it changes."""
    log = git(
        history,
        "log",
        "--no-merges",
        "--no-renames",
        "--name-only",
        "--format=%x00%s%x01%b%x01",
        f"{history.base}..{history.last}",
    )
    for entry in log.split("\0")[1:]:
        subject, body, names = entry.split("\1")
        paths = [line for line in names.split("\n") if line]
        text = telling_subject(subject)
        sources = [path for path in paths if _is_source(path) and (folder / path).is_file()]
        if text and 1 <= len(sources) <= _MOST_FILES and len(paths) <= 2 * _MOST_FILES:
            yield text, body, [Answer(path, *WHOLE) for path in sources]


def telling_subject(subject: str) -> str:
    """A commit's subject without references to issues; empty if it does not say what the commit changes."""
    text = _REFERENCE.sub("", subject).strip()
    return text if len(text.split()) >= _FEWEST_WORDS and not _CHORE.search(text) else ""


def architecture(history: History) -> Iterator[Question]:
    """The questions that were written after reading the repository."""
    for line in _ARCHITECTURE.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["repository"] == history.name:
            answers = [Answer(path, *WHOLE) for path in record["paths"]]
            yield _question(history, record["query"], "architecture", answers)


def _from_documentation(history: History, folder: Path) -> Iterator[Question]:
    chunks = list(documented_chunks(folder, lambda language: not (is_docs(language) or is_data(language))))
    functions: list[tuple[Question, range]] = []
    concepts: list[tuple[Question, range]] = []
    for chunk in chunks:
        place = Answer(chunk.path, chunk.start_line, chunk.end_line)
        for node_type, found in ((FUNCTION, functions), (_TYPE, concepts)):
            if (lines := documentation_lines(chunk, node_type)) and (sentence := first_sentence(chunk)):
                kind = "documentation" if found is functions else "concept"
                found.append((_question(history, sentence, kind, [place]), lines))
    asked = _some(functions, _DOCUMENTED, lambda item: item[0].query)
    asked = [(as_typed(each) if at % 2 else each, lines) for at, (each, lines) in enumerate(asked)]
    asked += _some(concepts, _CONCEPTS, lambda item: item[0].query)
    asked += _some(list(_heads(history, folder)), _MODULES, lambda item: item[0].query)
    for question, lines in asked:
        blank(folder / question.answers[0].path, lines)
        yield question


def as_typed(question: Question) -> Question:
    """A question as somebody types it into a search engine: few words, often with the language."""
    words = [word for word in re.findall(r"[\w.+#-]+", question.query.lower()) if word not in _STOP][:8]
    language = [question.language] if len(question.query) % 2 else []
    return Question(question.repository, question.language, " ".join([*language, *words]), "web", question.answers)


def _heads(history: History, folder: Path) -> Iterator[tuple[Question, range]]:
    """What the heads of files say that they are for."""
    for path in _sources(folder):
        lines = (folder / path).read_text(encoding="utf-8", errors="ignore").split("\n")[:_HEAD_LINES]
        end = next((at for at, line in enumerate(lines) if line.strip() and not _HEAD.match(line)), len(lines))
        text = " ".join(_HEAD.sub("", line).strip() for line in lines[:end])
        sentence = re.split(r"(?<=[.!?])\s", text.strip())[0].rstrip(".")
        if end and is_question(sentence) and not _NO_HEAD.search(text):
            yield _question(history, sentence, "module", [Answer(path, *WHOLE)]), range(1, end + 1)


def _messages(history: History, folder: Path) -> list[Question]:
    places: dict[str, list[Answer]] = {}
    for path in _sources(folder):
        for number, line in enumerate((folder / path).read_text(encoding="utf-8", errors="ignore").split("\n"), 1):
            for text in error_messages(line) if len(line) < 200 else ():
                places.setdefault(text, []).append(Answer(path, number, number))
    chosen = random.Random(7)
    found = []
    for text, answers in places.items():
        asked = filled(text, chosen)
        if asked and len(answers) <= 2 and not re.search(r"[<>{}\[\]=]", asked):
            found.append(_question(history, asked, "message", answers))
    return _some(found, _MESSAGES)


def error_messages(line: str) -> list[str]:
    """The texts in a line of code that raises or logs an error."""
    return [text for _, text in _MESSAGE.findall(line)] if _RAISES.search(line) else []


def filled(message: str, chosen: random.Random) -> str:
    """An error's message with its values filled in; empty if it has too few words to be asked for."""
    asked = _VALUE.sub(lambda _: chosen.choice(("42", "foo", "users/7", "my-app")), message).strip()
    return asked if len(re.findall(r"[A-Za-z]{3,}", asked)) >= _FEWEST_WORDS else ""


def names(history: History, folder: Path, store: CheckoutIndex) -> list[Question]:
    """Names of types, functions and files, right and misspelt; the places that declare them are the answers."""
    questions = [_question(history, name, "file", answers) for name, answers in _few(_files(folder))][:_NAMES]
    for kind, declared in _declared(store).items():
        few = _few(declared)
        questions += [_question(history, name, kind, answers) for name, answers in few[:_NAMES]]
        long = [(name, answers) for name, answers in few if len(name) >= _LONG]
        questions += [
            _question(history, _misspelt(name), f"misspelt {kind}", answers) for name, answers in long[:_NAMES]
        ]
    return questions


def _files(folder: Path) -> dict[str, list[Answer]]:
    """Names of files as people type them: with the ending, or without it and with its folder."""
    found: dict[str, list[Answer]] = {}
    for path in _sources(folder):
        name = path.rpartition("/")[2]
        stem = name.partition(".")[0]
        asked = name if len(path) % 2 else re.sub(r"[_\-]", " ", f"{path.split('/')[-2] if '/' in path else ''} {stem}")
        if len(stem) >= 4:
            found.setdefault(asked.strip(), []).append(Answer(path, *WHOLE))
    return found


def _declared(store: CheckoutIndex) -> dict[str, dict[str, list[Answer]]]:
    declared: dict[str, dict[str, list[Answer]]] = {"type": {}, "function": {}}
    for row in [row for document in store.documents().values() for row in store.chunks.of_document(document.id)]:
        chunk = row.stored.chunk
        name = re.split(r"\.|::| > ", chunk.symbol)[-1]
        if _is_source(chunk.path) and re.fullmatch(r"\w{4,}", name) and _declares(row.stored):
            kind = "type" if re.search("class|struct|interface|enum|trait", chunk.node_type) else "function"
            declared[kind].setdefault(name, []).append(Answer(chunk.path, chunk.start_line, chunk.end_line))
    return declared


def _few(places: dict[str, list[Answer]]) -> list[tuple[str, list[Answer]]]:
    """Names with their places, mixed, without those that mean too many."""
    few = sorted((name, answers) for name, answers in places.items() if len(answers) <= 2)
    random.Random(7).shuffle(few)
    return few


def _misspelt(name: str) -> str:
    """A name with a letter missing, doubled, or exchanged with the one beside it; always the same for a name."""
    chosen = random.Random(name)
    at = chosen.randrange(2, len(name) - 1)
    changes = (
        name[:at] + name[at + 1 :],
        name[:at] + name[at] + name[at:],
        name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :],
    )
    return chosen.choice(changes)


def _declares(stored: StoredChunk) -> bool:
    return stored.chunk.is_declaration and not stored.chunk.overlap


def _sources(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        if file.is_file() and _is_source(path) and not re.search(r"example|vendor|benchmark", path):
            yield path


def _is_source(path: str) -> bool:
    language = detect_language(path, "") or ""
    return language != "" and not (is_docs(language) or is_data(language) or is_test_by_path(path))


def _some(items: Sequence[T], count: int, key: Callable[[T], object] = lambda item: item) -> list[T]:
    """Some of the items by chance, always the same ones; the last of equal ones."""
    chosen = list({key(item): item for item in items}.values())
    random.Random(7).shuffle(chosen)
    return chosen[:count]


def _question(history: History, text: str, kind: str, answers: Sequence[Answer]) -> Question:
    return Question(history.name, detect_language(answers[0].path, "") or "", text, kind, tuple(answers))
