"""Which files of a project are indexed, and reading them safely."""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import os
import re
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pathspec import GitIgnoreSpec

from rag_ls.config import IndexSettings
from rag_ls.project import DATA_FOLDER
from rag_ls.storage import FileState

RAGIGNORE = ".ragignore"

_SECRETS = tuple(
    (
        ".env* *.env *.pem *.key *.ppk id_rsa* id_dsa* id_ecdsa* id_ed25519* .pgpass *.tfstate secrets.yml "
        "secrets.yaml secrets.json service-account*.json *.p12 *.pfx *.jks *.keystore *.kdbx *.asc *.gpg "
        ".netrc .npmrc .pypirc .htpasswd .git-credentials credentials credentials.json"
    ).split()
)
# `id_rsa` and its like; `id_generator.py` has a suffix and is code.
_PRIVATE_KEY = re.compile(r"id_[a-z0-9_]+(\.pub)?")
_SECRET_FOLDERS = frozenset({".ssh", ".aws", ".gnupg", ".env"})
_PRIVATE_KEY_TEXT = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s")
_BINARY_SUFFIXES = frozenset(
    ".7z .a .avi .bin .bmp .bz2 .class .dll .dylib .eot .exe .gif .gz .ico .jar .jpeg .jpg .lib .mo .mov .mp3 .mp4 .npy .npz "
    ".o .obj .ogg .onnx .otf .parquet .pdf .pkl .png .pt .pyc .pyd .rar .safetensors .so .sqlite .sqlite3 .tar .tgz .tif "
    ".tiff .ttf .wasm .wav .webm .webp .whl .woff .woff2 .xls .xlsx .xz .zip .zst".split()
)
_DATA_SUFFIXES = frozenset(
    ".csv .tsv .svg .po .pot .geojson .ndjson .jsonl .map .lock .sum .snap .patch .diff .log".split()
)
_GENERATED_NAMES = (
    "*.min.js",
    "*.min.css",
    "*-lock.json",
    "*.bundle.js",
    "*_pb2.py",
    "*.pb.go",
    "*.g.dart",
    "pnpm-lock.yaml",
)
_GENERATED_MARK = re.compile(
    rb"@generated\b|code generated .{0,80}do not edit|automatically generated.{0,40}do not edit", re.I
)
_GENERATED_MARK_BYTES = 1000
# Minified code has few, very long lines; data in code (tables, fixtures) rarely averages this much.
_MINIFIED_LINE = 500
_MINIFIABLE = (".js", ".css", ".mjs", ".cjs", ".html", ".json")
_NEVER_WALKED = frozenset(
    {".git", ".hg", ".svn", ".jj", DATA_FOLDER, "node_modules", "__pycache__", ".venv", ".tox", ".nox", ".mypy_cache"}
)
_READ_ATTEMPTS = 3


# .gitignore files from the root downward: the folder of each, and its rules.
_Specs = tuple[tuple[str, GitIgnoreSpec], ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text as it was read, with its digest and state."""

    text: str
    sha256: str
    state: FileState


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a file is not indexed. A `gone` file is no longer there."""

    reason: str
    state: FileState
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Patterns:
    """The settings' patterns: `exclude` leaves files out; `include`, if there are any, leaves out all other files."""

    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: IndexSettings) -> Patterns:
        """Those of the settings."""
        return cls(settings.exclude, settings.include)


ALL = Patterns()


def list_files(root: Path, patterns: Patterns = ALL) -> Iterator[str]:
    """The project paths that git's ignore rules, `.ragignore` and the settings leave; unsorted, without reading any."""
    is_left = _left_by_settings(root, patterns)
    listed = _git_files(root)
    for path in _walk(root) if listed is None else listed:
        if is_left(path):
            yield path


def _left_by_settings(root: Path, patterns: Patterns) -> Callable[[str], bool]:
    """A function that tells whether `.ragignore` and the settings let a file in."""
    ignored = GitIgnoreSpec.from_lines([*_lines(root / RAGIGNORE), *patterns.exclude])
    if not patterns.include:
        return lambda path: not ignored.match_file(path)
    included = GitIgnoreSpec.from_lines(patterns.include)
    return lambda path: bool(included.match_file(path)) and not ignored.match_file(path)


def admitted(root: Path, paths: Sequence[str], patterns: Patterns = ALL) -> set[str]:
    """The paths among `paths` that neither the ignore rules nor their names exclude; they need not exist."""
    is_left = _left_by_settings(root, patterns)
    kept = [
        path
        for path in paths
        if is_left(path) and not reason_by_name(path) and not _NEVER_WALKED & set(path.split("/")[:-1])
    ]
    by_git = _git_ignored(root, kept)
    return (
        {path for path in kept if path not in by_git}
        if by_git is not None
        else {path for path in kept if not _ignored_by_files(root, path)}
    )


def admitted_folders(root: Path, folders: Sequence[str], patterns: Patterns = ALL) -> set[str]:
    """The folders among `folders` that the rules do not exclude; single files in them may still be excluded."""
    ignored = GitIgnoreSpec.from_lines([*_lines(root / RAGIGNORE), *patterns.exclude])
    kept = [
        folder
        for folder in folders
        if not _NEVER_WALKED.intersection(folder.split("/")) and not ignored.match_file(folder + "/")
    ]
    by_git = _git_ignored(root, kept)
    if by_git is None:
        return {folder for folder in kept if not _ignored_by_files(root, folder, is_folder=True)}
    # git lists another repository as one name, not its files.
    return {folder for folder in kept if folder not in by_git and not (root / folder / ".git").exists()}


def file_state(file: Path) -> FileState | None:
    """The state of a file (symbolic links are not followed), or None where there is no file.

    A file that cannot be examined gets a state that equals no other.
    """
    try:
        return _state(os.lstat(file))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return FileState(-1, 0, 0, time.time_ns())


def read_source(root: Path, path: str, *, limit: int) -> Source | Rejected:
    """Read a project's text file of at most `limit` bytes, or say why it is not indexed.

    Never blocks on a special file, and never follows a linked folder out of `root`.
    """
    file = root / path
    name_reason = reason_by_name(path)
    if not Path(os.path.realpath(file.parent)).is_relative_to(root):
        return Rejected("outside the project", file_state(file) or FileState(-1, 0, 0, time.time_ns()))
    try:
        status = os.lstat(file)
    except OSError as error:
        return _unreadable(error)
    state = _state(status)
    if reason := name_reason or _reason_by_kind(status, limit):
        return Rejected(reason, state)
    for _ in range(_READ_ATTEMPTS):
        try:
            data, state, settled = _read(file, limit)
        except OSError as error:
            return _unreadable(error, state)
        if settled:
            break
    return _decoded(file.name, data, state, limit)


def _decoded(name: str, data: bytes, state: FileState, limit: int) -> Source | Rejected:
    if reason := reason_by_content(name, data, limit):
        return Rejected(reason, state)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Rejected("not UTF-8", state)
    return Source(text, hashlib.sha256(data).hexdigest(), state)


def reason_by_content(name: str, data: bytes, limit: int) -> str:
    """Why a text with these bytes is not indexed; empty where it may be."""
    if len(data) > limit:
        return "too large"
    if b"\0" in data:
        return "binary"
    if _PRIVATE_KEY_TEXT.search(data):
        return "secret"
    if _GENERATED_MARK.search(data[:_GENERATED_MARK_BYTES]):
        return "generated"
    is_minified = name.endswith(_MINIFIABLE) and len(data) > _MINIFIED_LINE * (1 + data.count(b"\n"))
    return "minified" if is_minified else ""


def reason_by_name(path: str) -> str:
    """Why a file of this name is never indexed; empty where its name allows it."""
    *folders, lower = path.lower().split("/")
    if _SECRET_FOLDERS.intersection(folders):
        return "secret"
    if any(fnmatch.fnmatchcase(lower, pattern) for pattern in _SECRETS) or _PRIVATE_KEY.fullmatch(lower):
        return "secret"
    suffix = os.path.splitext(lower)[1]
    if suffix in _BINARY_SUFFIXES:
        return "binary"
    if suffix in _DATA_SUFFIXES:
        return "data"
    return "generated" if any(fnmatch.fnmatchcase(lower, pattern) for pattern in _GENERATED_NAMES) else ""


def _reason_by_kind(status: os.stat_result, limit: int) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "symbolic link"
    if stat.S_ISDIR(status.st_mode):
        return "unreadable folder or other repository"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    return "too large" if status.st_size > limit else ""


def _read(file: Path, limit: int) -> tuple[bytes, FileState, bool]:
    """Up to limit + 1 bytes, the state before reading, and whether the file stayed unchanged meanwhile."""
    with regular_file(file) as stream:
        state = _state(os.fstat(stream.fileno()))
        data = stream.read(limit + 1)
        settled = _state(os.fstat(stream.fileno())).same_stamp(state)
    return data, state, settled


@contextlib.contextmanager
def regular_file(file: Path) -> Iterator[BinaryIO]:
    """Open a regular file. Raises `OSError` for a folder, a link or a FIFO, without waiting for its writer."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(file, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            yield stream
    finally:
        os.close(descriptor)


def _state(status: os.stat_result) -> FileState:
    return FileState(status.st_size, status.st_mtime_ns, status.st_ctime_ns, time.time_ns())


def _unreadable(error: OSError, state: FileState | None = None) -> Rejected:
    gone = isinstance(error, FileNotFoundError | NotADirectoryError)
    return Rejected("gone" if gone else "unreadable", state or FileState(0, 0, 0, time.time_ns()), gone)


# Git answers in a fraction of a second, unless the drive hangs.
_GIT_S = 120.0
# A repository's own settings may make git run a program before it lists files; the user has not agreed to that.
_GIT = ("git", "-c", "core.fsmonitor=false")


def _git_files(root: Path) -> list[str] | None:
    """The tracked and untracked files that git does not ignore, or None where git cannot say."""
    command = [*_GIT, "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=_GIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    names = {os.fsdecode(name) for name in done.stdout.split(b"\0") if name}
    # A name with a slash at its end is another repository inside this one.
    return [name.rstrip("/") for name in names if not name.startswith(DATA_FOLDER + "/")]


def _git_ignored(root: Path, paths: Sequence[str]) -> set[str] | None:
    """The paths among `paths` that git ignores, or None where git cannot say."""
    if not paths:
        return set()
    try:
        done = subprocess.run(
            [*_GIT, "-C", str(root), "check-ignore", "-z", "--stdin"],
            input=b"\0".join(os.fsencode(path) for path in paths),
            capture_output=True,
            check=False,
            timeout=_GIT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # 0: some are ignored; 1: none is; anything else: git cannot say.
    return {os.fsdecode(name) for name in done.stdout.split(b"\0") if name} if done.returncode in (0, 1) else None


def _ignored_by_files(root: Path, path: str, *, is_folder: bool = False) -> bool:
    specs: _Specs = ()
    parts = path.split("/")
    for depth in range(len(parts)):
        base = "".join(part + "/" for part in parts[:depth])
        if lines := _lines(root / base / ".gitignore"):
            specs = (*specs, (base, GitIgnoreSpec.from_lines(lines)))
        is_outer = depth + 1 < len(parts)
        if _is_ignored(base + parts[depth] + "/" * (is_outer or is_folder), specs):
            return True
    return False


def _is_ignored(path: str, specs: _Specs) -> bool:
    """Whether a path is ignored: the last matching rule of the deepest file with one decides (gitignore(5))."""
    for base, spec in reversed(specs):
        decision = spec.check_file(path[len(base) :]).include
        if decision is not None:
            return decision
    return False


def _walk(root: Path) -> Iterator[str]:
    """All files below `root` that .gitignore files leave, each applied to its own folder."""
    pending: list[tuple[str, _Specs]] = [("", ())]
    while pending:
        folder, specs = pending.pop()
        if lines := _lines(root / folder / ".gitignore"):
            specs = (*specs, (folder, GitIgnoreSpec.from_lines(lines)))
        try:
            entries = list(os.scandir(root / folder))
        except OSError:
            if folder:
                yield folder.rstrip("/")
            continue
        for entry in entries:
            path = f"{folder}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if _is_ignored(path + "/" * is_folder, specs):
                continue
            if not is_folder:
                yield path
            elif entry.name not in _NEVER_WALKED:
                pending.append((path + "/", specs))


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []
    except OSError:
        return []
