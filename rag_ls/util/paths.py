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


class TextReader:
    """Reads the texts of many files below a folder, as `text_in` does, and looks once at each folder on their paths.

    It is for work of seconds: a folder that becomes a link meanwhile is not noticed. In another process it looks anew.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._start = os.path.join(root, "")
        self._plain = {"": _is_without_link(root, root / "any")}

    def __reduce__(self) -> tuple[type[TextReader], tuple[Path]]:
        return TextReader, (self._root,)

    def __call__(self, path: str) -> str:
        folder, file = path.rpartition("/")[0], self._start + path
        if not is_inner_path(path) or not self._is_plain(folder) or os.path.islink(file):
            return text_in(self._root, path)
        return _read_blanked(file).text

    def _is_plain(self, folder: str) -> bool:
        for each in () if folder in self._plain else unknown_folders(folder, self._plain):
            self._plain[each] = self._plain[each.rpartition("/")[0]] and not os.path.islink(self._start + each)
        return self._plain[folder]


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


# Anywhere, in any user's home.
_CREDENTIAL_NAMES = frozenset({".ssh", ".gnupg", ".aws", ".kube", ".azure", ".password-store"})
_CREDENTIALS_AT_HOME = (
    ".docker", ".config/gcloud", ".config/gh", ".config/op", ".config/rclone", ".config/sops", ".config/google-chrome",
    ".config/chromium", ".mozilla", ".local/share/keyrings", ".local/share/kwalletd", "Library/Keychains",
    "AppData/Roaming/Microsoft/Credentials", "AppData/Roaming/Microsoft/Protect", "AppData/Roaming/Microsoft/Crypto",
)  # fmt: skip
_NEVER = (
    "/proc", "/sys", "/dev", "/run/secrets", "/run/credentials", "/var/run/secrets", "/var/lib/kubelet",
    "/etc/ssh", "/etc/ssl/private", "/etc/pki", "/etc/sudoers.d", "/etc/kubernetes", "/Library/Keychains",
)  # fmt: skip
_TEMPORARY = "/tmp"
_NEVER_ITSELF = ("/etc", "/private/etc")
# Memory that programs use as a temporary folder.
_SHARED_MEMORY = "/dev/shm"
_SYSTEM = (
    "/etc", "/usr", "/var", "/boot", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/run", "/lost+found",
    "/System", "/Library", "/Applications", "/private/etc", "/private/var", "/cores", "/nix/store",
    "C:/Windows", "C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData",
)  # fmt: skip
# Below these lie the places where people keep their work.
_WORK = ("/usr/src", "/usr/local/src", "/var/www", "/var/tmp", "/run/media", "/run/user", _SHARED_MEMORY)
_OF_PROGRAMS_AT_HOME = (".config", ".local", ".cache", "Library", "AppData")
_HOMES = ("/home", "/Users", "C:/Users")
# Where drives are mounted.
_DRIVES = ("/mnt", "/media", "/Volumes")


def why_never_a_project(folder: Path) -> str:
    """The reason never to index a folder, even if the user asks for it; empty without one."""
    if _CREDENTIAL_NAMES.intersection(folder.parts) or any(
        _is_in(folder, _home() / place) for place in _CREDENTIALS_AT_HOME
    ):
        return "holds credentials"
    if _is_in(folder, _SHARED_MEMORY) and str(folder) != _SHARED_MEMORY:
        return ""
    if any(_is_in(folder, place) for place in _NEVER) or str(folder) in _NEVER_ITSELF:
        return "belongs to the system and holds credentials or no files at all"
    return ""


def why_no_project_unasked(folder: Path) -> str:
    """The reason to index a folder only if the user insists, or where it has a repository of its own; else empty.

    That rests with the caller.
    """
    if _is_in(folder, _home()) and not _is_system(_home()):
        inside = any(_is_in(folder, _home() / place) for place in _OF_PROGRAMS_AT_HOME)
        return (
            "holds settings and data of programs" if inside and not _is_in_temporary_folder_of(_home(), folder) else ""
        )
    if folder.as_posix() in _HOMES:
        return "holds the homes of all users"
    if folder.as_posix() in _DRIVES:
        return "holds whole drives"
    if _is_of_another_user(folder):
        return "is another user's"
    if any(_is_in(folder, place) and str(folder) != place for place in (*_WORK, os.path.realpath(temporary_folder()))):
        return ""
    return "belongs to the system" if _is_system(folder) else ""


def temporary_folder() -> str:
    """The system's temporary folder. Where none can be written, Python takes the working directory, which is none."""
    import tempfile

    try:
        found = tempfile.gettempdir()
    except FileNotFoundError:
        return _TEMPORARY
    named = [os.path.abspath(place) for name in ("TMPDIR", "TEMP", "TMP") if (place := os.environ.get(name))]
    is_fallback = found == _working_folder() and found not in (*named, "/var/tmp", "/usr/tmp")
    return _TEMPORARY if is_fallback else found


def _working_folder() -> str:
    """The folder that this process works in; empty where that was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def account_home() -> str:
    """The home folder of the account that this process runs as, whatever HOME says; HOME's where that cannot be told."""
    try:
        import pwd
    except ImportError:
        return os.path.expanduser("~")
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return os.path.expanduser("~")


def _is_system(folder: Path) -> bool:
    return any(_is_in(folder, place) for place in _SYSTEM)


def _is_of_another_user(folder: Path) -> bool:
    """Whether a folder is in the home folder of another user, even if this user may read it."""
    homes = [Path(place) / name for place in _HOMES for name in folder.parts if _is_in(folder, Path(place) / name)]
    if _is_in(folder, "/root"):
        homes.append(Path("/root"))
    return any(_has_another_owner(home) for home in homes if home.as_posix() not in _HOMES)


def _has_another_owner(home: Path) -> bool:
    try:
        return hasattr(os, "geteuid") and os.stat(home).st_uid != os.geteuid()
    except OSError:
        return True


def _is_in_temporary_folder_of(home: Path, folder: Path) -> bool:
    """Whether a folder is in the temporary folder, which Windows keeps at home among the data of programs."""
    temporary = Path(os.path.realpath(temporary_folder()))
    return _is_in(temporary, home) and _is_in(folder, temporary) and folder != temporary


def _is_in(folder: Path, place: str | Path) -> bool:
    """Whether a folder is a place or below it."""
    return folder == Path(place) or Path(place) in folder.parents


def _home() -> Path:
    return Path(os.path.realpath(os.path.expanduser("~")))


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
