"""Pairs that follow a link inside a repository: from a test, a call, a document or an error message to the code behind it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from rag_ls.chunking import embedding_text
from rag_ls.model import Chunk
from rag_ls.search.roles import is_docs, is_test_by_path
from tests.benchmarks.code.history_questions import error_messages, filled
from training.pairs import Pair, names_of, words_of
from training.sources import Source

_TEST_WORDS = frozenset(("test", "tests", "should", "it", "spec", "when", "with", "returns", "and", "the", "a"))
_CALL = re.compile(r"\b([A-Za-z_]\w{5,})\s*\(")
_NAME = re.compile(r"`([A-Za-z_][\w.:]{4,})(?:\(\))?`|\b([\w-]+/[\w./-]+\.\w{1,5})\b")
_TEST_CHARACTERS = 400
_FEWEST_WORDS = 2


class Declarations:
    """The declarations of a repository's code by name, where a name has one alone."""

    def __init__(self, files: Sequence[Source]) -> None:
        places: dict[str, list[tuple[Source, Chunk]]] = {}
        for source in files:
            for chunk in source.chunks if source.is_code else ():
                name = last_name(chunk)
                if chunk.is_declaration and not chunk.overlap and name:
                    places.setdefault(name, []).append((source, chunk))
        self.by_name = {name: found[0] for name, found in places.items() if len(found) == 1}
        self.by_words = {
            tuple(words_of(name)): found for name, found in self.by_name.items() if len(words_of(name)) >= _FEWEST_WORDS
        }
        self.by_path = {source.path: source for source in files if source.is_code}

    def answer(self, kind: str, repository: str, question: str, name: str) -> Pair:
        """A pair whose answer is the declaration of a name."""
        source, chunk = self.by_name[name]
        return Pair(kind, source.language, repository, source.path, question, embedding_text(chunk))


def last_name(chunk: Chunk) -> str:
    """The last part of a chunk's symbol."""
    return names_of(chunk.symbol)[-1]


def tested(source: Source, repository: str, known: Declarations) -> Iterator[Pair]:
    """Tests, each with the declaration that its name holds."""
    for chunk in source.chunks if is_test_by_path(source.path) else ():
        words = [word for word in words_of(last_name(chunk)) if word not in _TEST_WORDS]
        runs = [
            tuple(words[at : at + size]) for size in range(len(words), 1, -1) for at in range(len(words) - size + 1)
        ]
        found = next((run for run in runs if run in known.by_words), None)
        if found is not None:
            _, declared = known.by_words[found]
            yield known.answer("test", repository, chunk.text[:_TEST_CHARACTERS], last_name(declared))


def called(source: Source, repository: str, known: Declarations) -> Iterator[Pair]:
    """Lines around a call, each with the declaration of what is called."""
    lines = source.text.split("\n")
    for at, line in enumerate(lines):
        for name in _CALL.findall(line):
            if name in known.by_name and known.by_name[name][0].path != source.path:
                around = "\n".join(each.strip() for each in lines[max(0, at - 1) : at + 2])
                yield known.answer("call", repository, around, name)


def described(source: Source, repository: str, known: Declarations) -> Iterator[Pair]:
    """Sections of documents, each with the declaration or the file that it names; the name itself is taken out of most."""
    for chunk in source.chunks if is_docs(source.language) else ():
        text = " ".join(chunk.text.split())[:_TEST_CHARACTERS]
        for name, path in _NAME.findall(chunk.text):
            last = re.split(r"\.|::", name)[-1]
            if last in known.by_name:
                without = text.replace(name, " ".join(words_of(last)) if random.Random(text).random() < 0.5 else "it")
                yield known.answer("section", repository, without, last)
                break
            if (of := known.by_path.get(path)) is not None and of.chunks:
                best = next((each for each in of.chunks if each.is_declaration), of.chunks[0])
                yield Pair("section", of.language, repository, path, text.replace(path, "it"), embedding_text(best))
                break


def raised(source: Source, repository: str) -> Iterator[Pair]:
    """Messages of errors with their values filled in, each with the code that raises it."""
    chosen = random.Random(source.path)
    lines = source.text.split("\n")
    for chunk in source.chunks if source.is_code else ():
        for line in lines[chunk.start_line - 1 : chunk.end_line]:
            for text in error_messages(line):
                if asked := filled(text, chosen):
                    yield Pair("message", source.language, repository, source.path, asked, embedding_text(chunk))
