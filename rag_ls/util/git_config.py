"""Reads git's settings files without git, so neither a program that they name nor the environment has a say."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from rag_ls.util.marked_text import decode_marked
from rag_ls.util.network_paths import is_elsewhere
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass
from rag_ls.util.regular_files import read_regular

# Of all files together.
_MAX_BYTES = 1_000_000
# More files than anybody's settings include.
_MAX_FILES = 100
_INCLUDES = ("include.path", "includeif.path")
_SECTION = lazy_pattern(r'\s*\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]')
_PIECE = lazy_pattern(r"""\\.?|["#;]|[^\\"#;]+""", re.DOTALL)
_ENTRY = lazy_pattern(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$")


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting."""

    key: str
    """Its section and name, with a dot between them, in small letters."""
    value: str
    """Without quotes, escapes and comments."""
    subsection: str
    """As `origin` in `[remote "origin"]`; empty where there is none."""
    file: Path
    """The file that holds it, from which a path in it counts."""


def entries_of(file: Path) -> Iterator[Entry]:
    """The settings of a file and of those that it includes, under whatever condition, in their order.

    A file that is missing, too large or no text has none, and none is read twice.
    """
    yield from _entries(file, {})


def why_endless(file: Path) -> str:
    """The reason why git might read a repository's settings for ever, which it does not see itself; empty where it does not."""
    included = [path_in(entry) for entry in entries_of(file) if entry.key in _INCLUDES and entry.value]
    if odd := next((each for each in included if os.path.exists(each) and not os.path.isfile(each)), None):
        return f"{file} includes {odd}, which is no regular file"
    places = [os.path.realpath(each) for each in (file, *included)]
    if len(places) > _MAX_FILES or len(set(places)) < len(places):
        return f"{file} includes too many files, or one of them twice"
    return ""


def path_in(entry: Entry) -> Path:
    """The path that a setting names."""
    return Path(os.path.normpath(entry.file.parent / os.path.expanduser(entry.value)))


def _entries(file: Path, read: dict[str, int]) -> Iterator[Entry]:
    """As `entries_of`; `read` holds the files that were read, with their sizes."""
    place = os.path.realpath(file)
    if place in read or len(read) > _MAX_FILES:
        return
    lines = _lines(file, _MAX_BYTES - sum(read.values()))
    read[place] = sum(map(len, lines)) + len(lines)
    section = subsection = ""
    for line in lines:
        if head := _SECTION.match(line):
            section, subsection, line = head[1].lower(), head[2] or "", line[head.end() :]
        if (found := _ENTRY.match(line)) is None:
            continue
        entry = Entry(f"{section}.{found[1].lower()}", _value(found[2] or ""), subsection, file)
        yield entry
        # Whether the condition of an include holds is not known here.
        if entry.key in _INCLUDES and entry.value and not is_elsewhere(path_in(entry), file):
            yield from _entries(path_in(entry), read)


def _value(written: str) -> str:
    pieces, in_quotes = [], False
    for piece in _PIECE.findall(written):
        if piece[0] == "\\" and len(piece) > 1:
            pieces.append({"n": "\n", "t": "\t"}.get(piece[1], piece[1]))
        elif piece == '"':
            in_quotes = not in_quotes
        elif piece in "#;" and not in_quotes:
            break
        else:
            pieces.append(piece)
    return "".join(pieces).strip()


def _lines(file: Path, limit: int) -> list[str]:
    try:
        text = decode_marked(read_regular(file, limit), errors="surrogateescape")
    except (OSError, UnicodeDecodeError):
        return []
    # A backslash at the end of a line continues it.
    return re.sub(r"\\\r?\n", "", text).splitlines()
