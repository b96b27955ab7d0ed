"""Paths: those of a project, relative to its root with `/` between their parts, of other machines, and of the system."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import ntpath
import os
import re
import unicodedata
from collections.abc import Collection, Container, Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rag_ls.errors import InvalidRequest
from rag_ls.util.files import read_regular, regular_file
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.secret_texts import Blanked, blank_secrets

FOLDER_STEMS = frozenset({"__init__", "index", "mod", "lib", "main", "__main__"})
"""Names, without suffix, of documents that stand for their folder."""


_MAX_PATH = 32_767
_HAS_OPEN_FOLDERS = os.open in os.supports_dir_fd
# Some systems take `.GIT`, `.git.`, `.git::$INDEX_ALLOCATION` and `git~1` for `.git`, some leave out the letters that do not show.
_NO_PART = lazy_pattern(r"(?:^|/)(?:\.{0,2}|(?:\.git|git~\d)[ .]*(?::[^/]*)?)(?:/|$)", re.IGNORECASE)
_UNSEEN = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))


def is_inner_path(path: str) -> bool:
    """Whether a file of a project may be called so: it is relative, and no part is empty, `.`, `..` or `.git`.

    A repository may list any names, those of other files of the machine among them.
    """
    if len(path) > _MAX_PATH or "\0" in path or (os.name == "nt" and ("\\" in path or ":" in path)):
        return False
    return not _NO_PART.search(path if path.isascii() else path.translate(_UNSEEN))


@contextlib.contextmanager
def project_file(root: Path, path: str) -> Iterator[BinaryIO]:
    """Open a file of a project. Raises `OSError` for what is none: it leads elsewhere, is a link or behind one, or special."""
    if not is_inner_path(path) or (not _HAS_OPEN_FOLDERS and is_behind_link(root, path)):
        raise OSError(errno.EINVAL, "it is no file of the project", path)
    if not _HAS_OPEN_FOLDERS:
        with regular_file(root / path) as stream:
            yield stream
        return
    *folders, name = path.split("/")
    with _open_folder(root, folders) as folder, regular_file(name, within=folder) as stream:
        yield stream


@contextlib.contextmanager
def _open_folder(root: Path, parts: Iterable[str]) -> Iterator[int]:
    """Open a folder below another one through no link, not even one that somebody puts on the way meanwhile. Raises `OSError`."""
    # A folder may be passed through without the right to list it.
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
    number = os.open(root, flags)
    try:
        for part in parts:
            outer, number = number, os.open(part, flags | os.O_NOFOLLOW, dir_fd=number)
            os.close(outer)
        yield number
    finally:
        os.close(number)


def portable(path: str) -> str:
    """A path as a person or a tool wrote it, perhaps with the backslashes of Windows, with `/`."""
    return path.strip().replace("\\", "/")


def is_among(path: str, places: Collection[str]) -> bool:
    """Whether a project path is one of some files and folders, or below one; without any, every path is."""
    return not places or any(not place or path == place or path.startswith(place + "/") for place in places)


def unknown_folders(folder: str, known: Container[str]) -> list[str]:
    """A folder and those above it that are not in `known`, the outermost first. The root, the empty path, is in it.

    A loop: where folders are a thousand deep, a function that asks itself about the folder above ends in `RecursionError`.
    """
    found = []
    while folder not in known:
        found.append(folder)
        folder = folder.rpartition("/")[0]
    return found[::-1]


def text_in(root: Path, path: str) -> str:
    """The text of a file below a folder, as of `blanked_in`."""
    return blanked_in(root, path).text


def blanked_in(root: Path, path: str) -> Blanked:
    """The text of a file below a folder, without its secrets; empty if it cannot be read, is too large, or a link leads out.

    Invalid UTF-8 is replaced.
    """
    try:
        return _read_blanked(root / path) if _is_inside(root, path) else Blanked("")
    except OSError:
        return Blanked("")


def _is_inside(root: Path, path: str) -> bool:
    """Whether a path, and what a link on it leads to, may be a file of the project."""
    if not is_inner_path(path):
        return False
    if _is_without_link(root, root / path):
        return True
    place, top = Path(os.path.realpath(root / path)), Path(os.path.realpath(root))
    return place.is_relative_to(top) and is_inner_path(place.relative_to(top).as_posix())


def _read_blanked(file: str | os.PathLike[str]) -> Blanked:
    try:
        text = read_regular(file).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError:
        return Blanked("")
    return blank_secrets(os.fspath(file), text)


def spelled_as_there(root: Path, path: str) -> str:
    """A path with each of its parts composed or decomposed as it is below the root; as it was given if nothing is there."""
    parts: list[str] = []
    for part in path.split("/"):
        forms = (part, unicodedata.normalize("NFC", part), unicodedata.normalize("NFD", part))
        parts.append(next((form for form in forms if os.path.lexists(root.joinpath(*parts, form))), part))
    return "/".join(parts)


def is_behind_link(root: Path, path: str, known: dict[str, bool] | None = None) -> bool:
    """Whether a folder on a project path is a link: the file there has another path, by which it is known.

    `known` remembers the folders, for the work of a moment.
    """
    known = {} if known is None else known
    known[""] = False
    folder = path.rpartition("/")[0]
    for each in unknown_folders(folder, known):
        known[each] = known[each.rpartition("/")[0]] or os.path.islink(root / each)
    return known[folder]


def leads_out(root: Path, file: Path) -> bool:
    """Whether a path below a folder is, or leads through, a link to something outside of it; True where that cannot be told."""
    if _is_without_link(root, file):
        return False
    try:
        return not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(root))
    except OSError:
        # A link ceased to be one meanwhile.
        return True


def _is_without_link(root: Path, file: Path) -> bool:
    """Whether a path is plainly below a folder, and none of its parts there a link: `realpath` takes ten times as long."""
    start, sep, below = os.fspath(file).partition(os.path.join(root, ""))
    if os.name != "posix" or start or not sep or ".." in (parts := below.split(os.sep)):
        return False
    return not any(map(os.path.islink, accumulate(parts, os.path.join, initial=os.fspath(root))))


def file_stamp(file: str | os.PathLike[str]) -> tuple[int, int]:
    """The time at which a file was last written, in nanoseconds, and its size; zeros where it cannot be told."""
    try:
        status = os.stat(file)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def file_identity(file: str | os.PathLike[str]) -> tuple[int, int] | None:
    """The device and inode of a file; None if there is none."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def is_same_file(file: str | os.PathLike[str], identity: tuple[int, int] | None) -> bool:
    """Whether a path still names the file of an identity. A file that was gone before its identity was read is not there."""
    return identity is not None and file_identity(file) == identity


def compose(text: str) -> str:
    """A text with each letter and its marks as one character, where there is one: macOS decomposes names of files."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def spellings_of(text: str) -> tuple[str, ...]:
    """The forms, composed and decomposed, in usual case, in which somebody may have written a word; itself first."""
    if text.isascii():
        return (text,)
    cased = (text, text.lower(), text.upper(), text.capitalize())
    return tuple(
        dict.fromkeys((text, *(unicodedata.normalize(form, each) for each in cased for form in ("NFC", "NFD"))))
    )


_IS_WINDOWS = os.name == "nt"


def share_of(path: str | os.PathLike[str]) -> str:
    r"""The share (`\\host\share`), device or pipe (`\\.\pipe`) that a path of Windows begins with, in lower case; else empty."""
    written = os.fspath(path).replace("/", "\\").lower()
    # Some spellings are network shares to Windows, but not to Python.
    return (ntpath.splitdrive(written)[0] or "\\\\") if written.startswith("\\\\") else ""


def is_elsewhere(
    path: str | os.PathLike[str], here: str | os.PathLike[str] = "", *, windows: bool = _IS_WINDOWS
) -> bool:
    """Whether Windows would ask another machine than that of `here`, or a device, about a path."""
    return windows and share_of(path) not in ("", share_of(here))


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
    from urllib.parse import unquote

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


def is_loopback(host: str) -> bool:
    """Whether a host (a name, or an address without brackets) is this machine for itself alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
