"""Places in files as people and agents write them: `@src/a.py`, `file:///work/src/a.py`, `src/a.py:12:5`, `src\\a.py#L12-L20`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from rag_ls.errors import InvalidRequest
from rag_ls.util.paths import portable
from rag_ls.util.patterns import lazy_pattern

_LINES = lazy_pattern(
    r"(?P<path>.+?)(?<!:)(?::|#)(?:L|line)?(?P<first>\d{1,9})(?:C\d+)?"
    r"(?:(?:-|\.\.)L?(?P<last>\d{1,9})(?:C\d+)?|[:,](?P<column>\d{1,9})?)?:?",
    re.DOTALL,
)
_LAST_NUMBER = lazy_pattern(r"(?P<path>.+):(?P<first>0*[1-9]\d{0,8})", re.DOTALL)
_ADDRESS = lazy_pattern(r"file:(?://(?:localhost)?(?=/))?|vscode(?:-insiders)?://file(?=/)", re.IGNORECASE)
_QUOTES = ("`", '"', "'")
# Names in a diff: `a/` is the file before, `b/` the file after.
_OF_DIFFS = ("a/", "b/")


class WrittenPlace(NamedTuple):
    """A path, and the lines and the column that were written after it; 0 where there are none."""

    path: str
    first: int = 0
    last: int = 0
    column: int = 0


def read_lines(written: str) -> WrittenPlace:
    """A path apart from the lines after it; without any, all of it is the path. Raises `InvalidRequest` for a line 0."""
    found = _LINES.fullmatch(written)
    if found is None:
        return WrittenPlace(written)
    first, last = int(found["first"]), int(found["last"] or found["first"])
    if not (first and last):
        raise InvalidRequest(f"{written}: lines count from 1; for the whole file write {found['path']}")
    return WrittenPlace(found["path"], first, last if found["last"] else 0, int(found["column"] or 0))


def names_line(written: str) -> bool:
    """Whether a written place ends with a line."""
    return read_lines(written.strip().strip("".join(_QUOTES))).first > 0


def meanings_of(written: str, folder: str) -> Iterator[WrittenPlace]:
    """The places that a written one may mean in a project whose root is called `folder`, likeliest first.

    Raises `InvalidRequest` for a line 0, after the files whose names end so.
    """
    yield WrittenPlace(written)
    plain = written.strip()
    while len(plain) > 1 and plain[0] == plain[-1] and plain[0] in _QUOTES:
        plain = plain[1:-1].strip()
    if address := _ADDRESS.match(plain):
        plain = unquote(plain[address.end() :])
    plain = portable(plain)
    for path in dict.fromkeys((plain, plain.removeprefix("@"))):
        for place in _readings_of(path):
            yield place
            inner = place.path.removeprefix("./")
            if inner.startswith((*_OF_DIFFS, "/", f"{folder}/")):
                yield place._replace(path=inner.partition("/")[2])


def _readings_of(path: str) -> Iterator[WrittenPlace]:
    """The whole as a name; a name that may itself end as a line does (`note:7`) with one line; a name with lines."""
    yield WrittenPlace(path)
    if last := _LAST_NUMBER.fullmatch(path):
        yield WrittenPlace(last["path"], int(last["first"]))
    if (place := read_lines(path)).path != path:
        yield place
