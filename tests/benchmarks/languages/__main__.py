"""Whether a comment or a memory is found by a question in its own language, beside a search for the question's words as they are.

Each language has a file of texts with their questions. Every other text is a comment in a file of code, the rest are memories;
all languages are in one project. `--words` leaves the model out.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_ls.engine.client import local_client
from rag_ls.operations import Operations
from tests.support import PATIENCE_S, write

_FOLDER = Path(__file__).parent
_FIRST = 5
_SOURCE = "def step_{number}(order, user):\n    # {text}\n    return order.apply(user, {number})\n"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Asked:
    """A text with a question about it."""

    language: str
    number: int
    text: str
    question: str

    @property
    def is_memory(self) -> bool:
        """Whether the text is a memory, else a comment."""
        return self.number % 2 == 1

    @property
    def path(self) -> str:
        """The file that holds the comment."""
        return f"src/{self.language}/step_{self.number}.py"


def read_questions() -> list[Asked]:
    """All questions, by language."""
    found = []
    for file in sorted(_FOLDER.glob("*.tsv")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
            text, question = line.split("\t")
            found.append(Asked(file.stem, number, text, question))
    return found


def rank_by_substrings(asked: Asked, questions: Sequence[Asked]) -> list[Asked]:
    """The texts of the same kind that hold most of the question's words as they stand there, best first."""
    words = [word.lower() for word in _WORD.findall(asked.question)]
    rated = [
        (sum(word in other.text.lower() for word in words), other)
        for other in questions
        if other.is_memory == asked.is_memory
    ]
    return [other for count, other in sorted(rated, key=lambda item: -item[0]) if count]


def main() -> None:
    """Print how many of the questions find their text among the first five, by language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", action="store_true", help="search by words alone")
    is_words_alone = parser.parse_args().words
    questions = read_questions()
    client = local_client()
    with tempfile.TemporaryDirectory() as folder:
        comments = [asked for asked in questions if not asked.is_memory]
        root = write(
            Path(folder) / "project",
            {each.path: _SOURCE.format(number=each.number, text=each.text) for each in comments},
        )
        view = client.open(root)
        operations = Operations(client, wait_for_model_s=0 if is_words_alone else PATIENCE_S)
        view.indexing.index_tree()
        assert view.indexing.wait_until_idle(PATIENCE_S)
        for each in questions:
            if each.is_memory:
                operations.run("store_memory", {"content": each.text, "scope": "project", "force": True})
        missed = [each for each in questions if not _is_found(operations, each)]
        by_substrings = [each for each in questions if each in rank_by_substrings(each, questions)[:_FIRST]]
        client.close()
    print("language  questions  found  as substrings")
    for language in dict.fromkeys(each.language for each in questions):
        count = sum(each.language == language for each in questions)
        lost, plain = (sum(each.language == language for each in some) for some in (missed, by_substrings))
        print(f"{language:8}  {count:9}  {count - lost:5}  {plain:13}")
    print(f"{'all':8}  {len(questions):9}  {len(questions) - len(missed):5}  {len(by_substrings):13}")
    for each in missed:
        print(f"missed: {'memory' if each.is_memory else 'comment'} {each.language} {each.question!r}, {each.text!r}")


def _is_found(operations: Operations, asked: Asked) -> bool:
    if asked.is_memory:
        hits = operations.run("search_memory", {"query": asked.question})["results"][:_FIRST]
        return asked.text in [hit["content"] for hit in hits]
    hits = operations.run("search_code", {"query": asked.question, "k": _FIRST})["results"]
    return asked.path in [hit["path"] for hit in hits]


if __name__ == "__main__":
    main()
