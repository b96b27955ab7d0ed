"""What a repository gives to a measurement: a copy of it, questions in its own words, the largest file of each language."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

from rag_ls.chunking.chunker import MAX_HEAD_CHARACTERS, recognise
from tests.grammars import SYNTAXES

QUESTIONS = 20
MAX_FILE_BYTES = 1_000_000
"""The index admits no larger ones."""

_SAMPLED_FILES = 200
_DECLARATION = re.compile(
    r"^\s*(?:export |public |private |static |pub |async |abstract |final )*"
    r"(?:class|struct|interface|trait|object|enum|module|type|def|fn|func|fun|function|sub|data)\s+([A-Za-z_]\w{4,})",
    re.MULTILINE,
)
_HEADING = re.compile(r"^#{1,4} +([^\n`<\[]{8,80})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a repository whose language has a grammar."""

    root: Path
    path: str
    language: str
    size: int


def copy_repository(folder: Path, work: Path) -> Path:
    """A clone of what is committed in a checkout, without an index. Files that its git store lacks are missing as well."""
    target = work / folder.name
    _git(folder, "clone", "--quiet", "--shared", "--no-checkout", str(folder), str(target))
    _git(target, "read-tree", "HEAD")
    subprocess.run(["git", "-C", str(target), "checkout-index", "--all", "--index"], check=False, capture_output=True)
    return target


def ask_about(root: Path, files: Iterable[SourceFile]) -> list[str]:
    """At most twenty questions: names of declarations, headings of documents and subjects of commits, in turn."""
    chance = random.Random(root.name)
    sampled = sorted(files, key=lambda file: file.path)
    chance.shuffle(sampled)
    names: dict[str, None] = {}
    headings: dict[str, None] = {}
    for file in sampled[:_SAMPLED_FILES]:
        text = _read(file.root / file.path)
        found, pattern = (headings, _HEADING) if file.language == "markdown" else (names, _DECLARATION)
        found.update(dict.fromkeys(match[1].strip() for match in pattern.finditer(text)))
    kinds = [list(names), list(headings), _subjects(root)]
    for kind in kinds:
        chance.shuffle(kind)
    in_turn = (question for question in chain.from_iterable(zip_longest(*kinds)) if question)
    return list(dict.fromkeys(in_turn))[:QUESTIONS]


def source_files(root: Path) -> list[SourceFile]:
    """The files of a repository that a grammar knows and that are small enough for the index."""
    return list(_source_files(root))


def largest_by_language(files: Iterable[SourceFile]) -> Mapping[str, list[SourceFile]]:
    """Files of each language, the largest first."""
    found: dict[str, list[SourceFile]] = {}
    for file in sorted(files, key=lambda file: -file.size):
        found.setdefault(file.language, []).append(file)
    return dict(sorted(found.items()))


def _source_files(root: Path) -> Iterator[SourceFile]:
    for name in filter(None, _git(root, "ls-files", "-z").split("\0")):
        file = root / name
        if file.is_symlink() or not file.is_file() or not 0 < (size := file.stat().st_size) <= MAX_FILE_BYTES:
            continue
        head = _read(file, MAX_HEAD_CHARACTERS)
        language = recognise(name, head)
        if language is not None and language in SYNTAXES and "\0" not in head:
            yield SourceFile(root, name, language, size)


def _subjects(root: Path) -> list[str]:
    subjects = _git(root, "log", "--no-merges", "--format=%s", "-n", "200").splitlines()
    return [line for line in subjects if len(line.split()) > 2]


def _git(root: Path, *arguments: str) -> str:
    """What git says in a repository."""
    done = subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def _read(file: Path, size: int = -1) -> str:
    with file.open("rb") as opened:
        return opened.read(size).decode("utf-8", "replace")
