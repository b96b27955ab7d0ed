"""Finds the files that hold a name, and in which its uses are not known: an answer never denies what it has not looked at."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles
from rag_ls.engine.left_out import without_textless
from rag_ls.engine.session import ProjectSession
from rag_ls.indexing import FileRules, Rejected, read_source
from rag_ls.languages import Role, find_language, role_of
from rag_ls.util.files import read_most
from rag_ls.util.paths import project_file
from rag_ls.util.records import dataclass

_MAX_FILES = 100
_MAX_FILE_BYTES = 2_000_000
_MAX_BYTES = 10_000_000
_ALL = FileRules(forced=("**",))


@dataclass(frozen=True, slots=True)
class UnreadPlace:
    """The first line of a file that holds a name, and the reason why its uses there are not known."""

    path: str
    line: int
    reason: str
    """The language, or why the file is not indexed."""


@dataclass(frozen=True, slots=True)
class UnreadFiles:
    """Files whose uses are missing from an answer."""

    holding: tuple[UnreadPlace, ...] = ()
    not_looked_at: int = 0
    """The number of files that are not indexed and may hold the name, too."""
    many: int = 0
    """The number of indexed files that were not looked at, either: there are many of them."""


NOTHING_UNREAD = UnreadFiles()


def find_unread(session: ProjectSession, files: CodeFiles, name: str, without: Collection[int] = ()) -> UnreadFiles:
    """The files in which the uses of a name are not known, save some documents."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    sources = files.load(_find_without_uses(files, [each for each in files.holding(name) if each not in without]))
    holding = list(_find_in_documents(files, sources[:_MAX_FILES], word))
    read, not_looked_at, left = 0, 0, _MAX_BYTES
    for path, item in session.store.skipped().items():
        if not without_textless({item.reason: 1}):
            continue
        size = item.state.size
        is_read = read < _MAX_FILES and 0 <= size <= min(left, _MAX_FILE_BYTES)
        read, left = read + is_read, left - size * is_read
        if is_read and not _may_hold(session.project.root, path, name):
            continue
        source = read_source(session.project.root, path, limit=_MAX_FILE_BYTES, rules=_ALL) if is_read else None
        if source is None or isinstance(source, Rejected):
            not_looked_at += 1
        elif found := word.search(source.text):
            holding.append(UnreadPlace(path, source.text.count("\n", 0, found.start()) + 1, item.reason))
    return UnreadFiles(tuple(holding), not_looked_at, len(sources[_MAX_FILES:]))


def _may_hold(root: Path, path: str, name: str) -> bool:
    """Whether a file's bytes hold a name: decoding and judging them takes much longer. True where they cannot be read."""
    try:
        with project_file(root, path) as stream:
            data = read_most(stream, _MAX_FILE_BYTES)
    except OSError:
        return True
    return any(name.encode(encoding, "ignore") in data for encoding in ("utf-8", "utf-16-le", "utf-16-be"))


def _find_in_documents(files: CodeFiles, sources: Iterable[CodeFile], word: re.Pattern[str]) -> Iterator[UnreadPlace]:
    for source in sources:
        if source.imports and source.language.references and not source.language.is_markup:
            # It was read, and uses no name: it passes on what other files export.
            continue
        known = {use.line for use in source.uses() if word.fullmatch(use.name)}
        line = next(
            (number for number, text in enumerate(files.lines(source), 1) if number not in known and word.search(text)),
            0,
        )
        if line:
            yield UnreadPlace(source.path, line, source.language.title or source.language.name)


def _find_without_uses(files: CodeFiles, numbers: Collection[int]) -> Iterator[int]:
    """The documents whose names are not read; of markup, those of its scripts alone are."""
    for number, packed in files.read_packed(numbers).items():
        language = find_language(files.language_of(number))
        if (not packed or language.is_markup) and role_of(language.name) is not Role.DOCS:
            yield number
