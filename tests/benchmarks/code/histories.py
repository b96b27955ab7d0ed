"""Questions whose answers are files, out of the histories of public repositories: subjects of commits, and bare names.

A repository is taken as it was some hundred commits ago. The subjects of the commits since are questions, the files that they
changed are the answers. Names of its types and functions, right and misspelt, are questions for their declarations.
"""

from __future__ import annotations

import hashlib
import io
import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rag_ls.chunking import detect_language
from rag_ls.model import StoredChunk
from rag_ls.search.roles import is_data, is_docs, is_test
from rag_ls.storage import CheckoutIndex
from tests.benchmarks.code.questions import Answer, Question

_COMMITS_BACK = 400
_SUBJECTS, _NAMES = 60, 20
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


@dataclass(frozen=True, slots=True)
class History:
    """A mirror of a public repository, at the commit before the questions."""

    mirror: Path
    name: str
    base: str

    @property
    def is_unseen(self) -> bool:
        """Whether the repository belongs to the third that nothing is tuned on."""
        return int(hashlib.sha256(self.name.encode()).hexdigest(), 16) % 3 == 0


def histories(mirrors: Path) -> Iterator[History]:
    """The mirrors in a folder: `OWNER+NAME/repo`."""
    for folder in sorted(mirrors.iterdir()):
        if (folder / "repo").is_dir():
            commits = _git(folder / "repo", "log", "--first-parent", "--format=%H", f"-{_COMMITS_BACK + 1}").split()
            yield History(folder / "repo", folder.name, commits[-1])


def unpack(history: History, folder: Path) -> None:
    """Write the tree of the base commit to a folder, but files that the mirror does not hold."""
    listed = [line.split("\t", 1) for line in _git(history.mirror, "ls-tree", "-r", history.base).splitlines()]
    blobs = [(entry.split()[2], path) for entry, path in listed if entry.startswith("100")]
    asked = "".join(f"{blob}\n" for blob, _ in blobs).encode()
    command = ["git", "-C", str(history.mirror), "cat-file", "--batch"]
    answer = io.BytesIO(subprocess.run(command, input=asked, capture_output=True, check=True).stdout)
    for _, path in blobs:
        header = answer.readline().split()
        if header[1] == b"missing":
            continue
        content = answer.read(int(header[2]) + 1)[:-1]
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def subjects(history: History, folder: Path) -> list[Question]:
    """Subjects of commits after the base, with the source files of the base that they changed."""
    log = _git(history.mirror, "log", "--no-merges", "--name-only", "--format=%x00%s", f"{history.base}..HEAD")
    found = []
    for entry in log.split("\0")[1:]:
        subject, *paths = [line for line in entry.split("\n") if line]
        text = _REFERENCE.sub("", subject).strip()
        sources = [path for path in paths if _is_source(path) and (folder / path).is_file()]
        is_telling = len(text.split()) >= _FEWEST_WORDS and not _CHORE.search(text)
        if is_telling and 1 <= len(sources) <= _MOST_FILES and len(paths) <= 2 * _MOST_FILES:
            found.append(_question(history, text, "subject", tuple(Answer(path, 0, 0) for path in sources)))
    chosen = list({question.query: question for question in found}.values())
    random.Random(7).shuffle(chosen)
    return chosen[:_SUBJECTS]


def names(history: History, store: CheckoutIndex) -> list[Question]:
    """Names of types and functions, right and misspelt; the places that declare them are the answers."""
    rows = [row for document in store.documents().values() for row in store.chunks.of_document(document.id)]
    declared: dict[tuple[str, str], list[Answer]] = {}
    for row in rows:
        chunk = row.stored.chunk
        name = re.split(r"\.|::| > ", chunk.symbol)[-1]
        if not (_is_source(chunk.path) and re.fullmatch(r"\w{4,}", name) and _declares(row.stored)):
            continue
        kind = "type" if re.search("class|struct|interface|enum|trait", chunk.node_type) else "function"
        declared.setdefault((kind, name), []).append(Answer(chunk.path, chunk.start_line, chunk.end_line))
    questions = []
    for kind in ("type", "function"):
        few = sorted(name for (each, name), places in declared.items() if each == kind and len(places) <= 2)
        random.Random(7).shuffle(few)
        questions += [_question(history, name, kind, tuple(declared[kind, name])) for name in few[:_NAMES]]
        long = [name for name in few if len(name) >= _LONG]
        questions += [
            _question(history, _misspelt(name), f"misspelt {kind}", tuple(declared[kind, name]))
            for name in long[:_NAMES]
        ]
    return questions


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


def _is_source(path: str) -> bool:
    language = detect_language(path, "") or ""
    return language != "" and not (is_docs(language) or is_data(language) or is_test(path))


def _question(history: History, text: str, kind: str, answers: tuple[Answer, ...]) -> Question:
    return Question(history.name, detect_language(answers[0].path, "") or "", text, kind, answers)


def _git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=True)
    return done.stdout
