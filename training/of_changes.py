"""Pairs of what a commit's message says and the places that the commit changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from rag_ls.chunking import embedding_text
from rag_ls.model import Chunk
from tests.benchmarks.code.histories import blobs
from tests.benchmarks.code.history_questions import telling_subject
from training.pairs import Pair
from training.repositories import TrainingRepository, git
from training.sources import is_wanted, source_of

_COMMITS = 2500
_MOST_FILES, _MOST_PLACES, _MOST_WORDS = 4, 3, 40
_RAW = re.compile(r"^:100\d{3} 100\d{3} ([0-9a-f]{40}) ([0-9a-f]{40}) M\t(.*)$", re.M)
_BODY_LINE = re.compile(r"^[A-Z][a-z].*\.$")
_WITH_BODY = 3


@dataclass(frozen=True, slots=True)
class _Change:
    """A commit's message, and the files that it changed: the blobs before and after, and the path."""

    message: str
    files: tuple[tuple[str, str, str], ...]


def changed(repository: TrainingRepository) -> Iterator[Pair]:
    """Messages of commits, each with the places that the commit changed, as they were afterwards."""
    changes = list(_changes(repository))
    wanted = list({blob for change in changes for before, after, _ in change.files for blob in (before, after)})
    # A partial clone lacks some.
    contents = dict(blobs(repository.clone, wanted))
    for change in changes:
        files = [each for each in change.files if each[0] in contents and each[1] in contents]
        places = [
            pair for before, after, path in files
            for pair in _places(repository.name, change.message, path, contents[before], contents[after])
        ]  # fmt: skip
        yield from places[:_MOST_PLACES]


def _places(repository: str, message: str, path: str, before: bytes, after: bytes) -> Iterator[Pair]:
    if (source := source_of(path, after)) is None or not source.is_code:
        return
    lines = _changed_lines(before.decode("utf-8", "replace"), source.text)
    for chunk in source.chunks:
        # A change that is all over a file is about no place of it.
        if _touched(chunk, lines) >= max(1, len(lines) // _MOST_PLACES):
            yield Pair("change", source.language, repository, path, message, embedding_text(chunk))


def _changed_lines(before: str, after: str) -> list[int]:
    """The lines of `after`, from 1, that are not those of `before`; of a deletion, the line after it."""
    matcher = SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=True)
    return [
        line
        for tag, _, _, start, end in matcher.get_opcodes()
        if tag != "equal"
        for line in range(start + 1, max(end, start + 1) + 1)
    ]


def _touched(chunk: Chunk, lines: list[int]) -> int:
    return sum(chunk.start_line <= line <= chunk.end_line for line in lines)


def _changes(repository: TrainingRepository) -> Iterator[_Change]:
    log = git(
        repository.clone, "log", "--no-merges", f"--max-count={_COMMITS}", "--raw", "--no-abbrev", "--no-renames",
        "--diff-filter=M", "--format=%x00%s%x01%b%x01", repository.commit,
    )  # fmt: skip
    for number, entry in enumerate(log.split("\0")[1:]):
        subject, body, listed = (*entry.split("\1", 2), "", "")[:3]
        if not (message := telling_subject(subject)):
            continue
        files = _RAW.findall(listed)
        code = tuple(each for each in files if is_wanted(each[2]))
        if 1 <= len(code) <= _MOST_FILES and len(files) <= 2 * _MOST_FILES:
            first = next((line for line in body.split("\n") if _BODY_LINE.match(line)), "")
            said = f"{message}\n{first}" if first and number % _WITH_BODY == 0 else message
            yield _Change(" ".join(said.split(" ")[:_MOST_WORDS]), code)
