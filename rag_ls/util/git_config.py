"""Reads git's settings files without git, so neither a program that they name nor the environment has a say."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rag_ls.util.marked_text import decode_marked
from rag_ls.util.regular_files import read_regular

_MAX_DEPTH = 5
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]')
_ENTRY = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$")


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

    A file that is missing, too large or no text has none.
    """
    yield from _entries(file, 0)


def path_in(entry: Entry) -> Path:
    """The path that a setting names."""
    return Path(os.path.normpath(entry.file.parent / os.path.expanduser(entry.value)))


def _entries(file: Path, depth: int) -> Iterator[Entry]:
    section = subsection = ""
    for line in _lines(file):
        if head := _SECTION.match(line):
            section, subsection, line = head[1].lower(), head[2] or "", line[head.end() :]
        if (found := _ENTRY.match(line)) is None:
            continue
        entry = Entry(f"{section}.{found[1].lower()}", _value(found[2] or ""), subsection, file)
        # Whether a condition holds is not known here.
        if entry.key in ("include.path", "includeif.path") and entry.value and depth < _MAX_DEPTH:
            yield from _entries(path_in(entry), depth + 1)
        else:
            yield entry


def _value(written: str) -> str:
    value, in_quotes, at = "", False, 0
    while at < len(written):
        character = written[at]
        if character == "\\" and at + 1 < len(written):
            at += 1
            value += {"n": "\n", "t": "\t"}.get(written[at], written[at])
        elif character == '"':
            in_quotes = not in_quotes
        elif character in "#;" and not in_quotes:
            break
        else:
            value += character
        at += 1
    return value.strip()


def _lines(file: Path) -> list[str]:
    try:
        text = decode_marked(read_regular(file), errors="surrogateescape")
    except (OSError, UnicodeDecodeError):
        return []
    # A backslash at its end continues a line.
    return re.sub(r"\\\r?\n", "", text).splitlines()
