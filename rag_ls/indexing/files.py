"""Reads files of a project safely, and says why one is not indexed."""

from __future__ import annotations

import codecs
import fnmatch
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from rag_ls.errors import StoreUnavailable
from rag_ls.indexing.ignore_files import compile_pattern, why_folder_is_left_out
from rag_ls.languages import LANGUAGES, by_alias
from rag_ls.storage import INDEX_STORE, FileState
from rag_ls.util.decoding import UTF_8, Decoded, decode_text, looks_like_text
from rag_ls.util.files import NO_HANDLES, describe_no_handles, read_most
from rag_ls.util.paths import is_behind_link, is_inner_path, leads_out, project_file
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass
from rag_ls.util.secret_texts import blank_secrets
from rag_ls.util.text import nearest, nearest_text

# Private keys such as `id_rsa`; `id_generator.py` has a suffix and is code.
_PRIVATE_KEY = lazy_pattern(r"id_[a-z0-9_]+(\.pub)?")
_SECRET_FOLDERS = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".password-store", ".env"})
_BINARY_SUFFIXES = frozenset(
    ".7z .a .avi .bin .bmp .bz2 .class .dll .dylib .eot .exe .gif .gz .ico .jar .jpeg .jpg .lib .mo .mov .mp3 .mp4 .npy .npz "
    ".o .obj .ogg .onnx .otf .parquet .pdf .pkl .png .pt .pyc .pyd .rar .safetensors .so .sqlite .sqlite3 .tar .tgz .tif "
    ".tiff .ttf .wasm .wav .webm .webp .whl .woff .woff2 .xls .xlsx .xz .zip .zst".split()
)
_DATA_SUFFIXES = frozenset(
    ".csv .tsv .svg .po .pot .geojson .ndjson .jsonl .map .lock .sum .snap .patch .diff .log".split()
)
# `@generated` is the mark that tools agree on; `@Generated(...)` is a decorator.
_GENERATED_MARK = lazy_pattern(rb"@generated\b(?![(.\w])|<auto-?generated\b")
_NO_EDIT = rb"\b(?:do not|don't|should not|never) (?:\w+ )?(?:edit|modify)"
_GENERATED_COMMENT = lazy_pattern(
    rb"(?:auto-?|\b(?:automatically|file|code|is|was)\W+)generated\b.{0,160}?"
    + _NO_EDIT
    + rb"|\bgenerated (?:by|from|with|file|code|content)\b.{0,160}?"
    + _NO_EDIT,
    re.I | re.S,
)
# Comments before the first line of code. Later in a file, the same words may stand in a generator's template.
_LEADING_COMMENTS = lazy_pattern(
    rb"(?:\s|(?://|#|--|;|%|<\?php|<\?xml)[^\n]*|/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)|\(\*.*?(?:\*\)|\Z))*", re.S
)
_GENERATED_MARK_BYTES = 1000
# Languages whose headings look like comments.
_PROSE = (".md", ".mdx", ".rst", ".txt")
# Minified code has few, very long lines; data in code (tables, fixtures) rarely averages this much.
_MINIFIED_LINE_BYTES = 500
# A bundle also has shorter lines, and licences. Most of its bytes are in lines as long as these, with few blanks and many
# marks.
_LONG_LINE_BYTES, _MIN_MEAN_LINE_BYTES, _MIN_LONG_SHARE = 250, 90, 0.85
_MAX_BLANKS_SHARE, _MIN_MARKS_SHARE = 0.1, 0.08
_MARKS = bytes(range(33, 48)) + b":;<=>?@[]{|}"
_MINIFIABLE = (".js", ".css", ".mjs", ".cjs", ".html", ".json")
_BUNDLED = (".js", ".css", ".mjs", ".cjs")
_MAX_READS = 3
UNKNOWN_ENCODING = "unknown encoding"
# Reasons from a file's name or content, which the settings may overrule.
_OVERRULED = frozenset({"binary", "data", "generated", "minified"})
UNREADABLE = "unreadable"
"""The reason for a file that may exist and cannot be read. If it was read before, the index keeps it."""
OUTSIDE = "outside the project"
FOR_ROOT_ALONE = "readable for root alone"
FAILED = "failed"
"""The first word of the reason for a file that should be indexed, and could not be."""


def _pattern_of(globs: str) -> re.Pattern[str]:
    """A pattern of the names that one of some globs matches."""
    return re.compile("|".join(map(fnmatch.translate, globs.split())))


_SECRETS = _pattern_of(
    ".env* *.env *.pem *.key *.ppk id_rsa* id_dsa* id_ecdsa* id_ed25519* .pgpass *.tfstate secrets.yml "
    "secrets.yaml secrets.json service-account*.json *.p12 *.pfx *.jks *.keystore *.kdbx *.asc *.gpg "
    ".netrc .npmrc .pypirc .htpasswd .git-credentials credentials credentials.json"
)
# The last ones are copies of former texts: those that `rules setup --force` makes, and editors while they save.
_GENERATED_NAMES = _pattern_of(
    "*.min.js *.min.css *-lock.json *.bundle.js *_pb2.py *.pb.go *.g.dart pnpm-lock.yaml *.md.????????-??????.bak "
    "*~ #*# .#* *.sw[po] *.kate-swp *___jb_tmp___ *___jb_old___"
)


@dataclass(frozen=True, slots=True)
class FileRules:
    """Patterns in .gitignore syntax, the encodings and languages each as `PATTERN = NAME`. The last one that matches counts."""

    encodings: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()

    def encoding_of(self, path: str) -> str:
        """The encoding that is named for a file; empty for none."""
        return _find_value(self.encodings, path)

    def language_of(self, path: str) -> str:
        """The language that is named for a file; empty for none. A name that nobody knows is a language without a grammar."""
        name = _find_value(self.languages, path)
        return by_alias(name) or name.lower()

    def is_forced(self, path: str) -> bool:
        """Whether a file is indexed although it looks like data, generated or minified."""
        return any(_matches(pattern, path) for pattern in self.forced)


_NO_RULES = FileRules()


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text as it was read, without its secrets, with its digest and state."""

    text: str
    sha256: str
    """Of the file's own bytes."""
    state: FileState
    secret_lines: int = 0
    """The number of lines that are blank in `text`, because they hold secrets."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The reason why a file is not indexed. A `gone` file is no longer there."""

    reason: str
    state: FileState
    gone: bool = False


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


def is_examined(state: FileState) -> bool:
    """Whether the system gave a file's state."""
    return state.size >= 0


def read_source(root: Path, path: str, *, limit: int, rules: FileRules = _NO_RULES) -> Source | Rejected:
    """Read a project's text file of at most `limit` bytes, or say why it is not indexed. `rules` are those of the settings.

    Never blocks on a special file, and never follows a linked folder: out of `root` nothing is read, and inside each file is
    known by its real path.
    """
    file, looked_ns = root / path, time.time_ns()
    name_reason = reason_by_name(path, rules)
    if not is_inner_path(path):
        return Rejected(OUTSIDE, FileState(0, 0, 0, looked_ns), gone=True)
    if is_behind_link(root, path):
        is_out, state = leads_out(root, file.parent), file_state(file) or FileState(-1, 0, 0, time.time_ns())
        return Rejected(OUTSIDE if is_out else "behind a link", state, gone=not is_out)
    try:
        status = os.lstat(file)
    except OSError as error:
        return _unreadable(error, FileState(0, 0, 0, looked_ns))
    state = _state(status)
    if stat.S_ISDIR(status.st_mode):
        why = why_folder_is_left_out(file)
        return Rejected(why or "folder", state, gone=not why)
    if reason := name_reason or _reason_by_kind(status, limit) or _reason_by_owner(root, path, status):
        return Rejected(reason, state)
    for _ in range(_MAX_READS):
        try:
            data, state, settled = _read(root, path, limit)
        except OSError as error:
            return _unreadable(error, state)
        if settled:
            break
    return _decode(path, data, state, limit, rules)


def _decode(path: str, data: bytes, state: FileState, limit: int, rules: FileRules) -> Source | Rejected:
    if len(data) > limit:
        return Rejected("too large", state)
    decoded = decode_text(data, rules.encoding_of(path))
    if (decoded is None or "\0" in decoded.text) and rules.is_forced(path):
        # Bytes that fit no text are replaced; the rest is kept.
        decoded = Decoded(data.decode(UTF_8, "replace").replace("\0", "\ufffd"), "")
    if decoded is None:
        return Rejected(UNKNOWN_ENCODING if looks_like_text(data) else "binary", state)
    as_utf8 = data if decoded.encoding == UTF_8 else decoded.text.encode("utf-8", "replace")
    if reason := reason_by_content(path, as_utf8, max(limit, len(as_utf8)), rules):
        return Rejected(reason, state)
    blanked = blank_secrets(path, decoded.text)
    return Source(blanked.text, hashlib.sha256(data).hexdigest(), state, blanked.lines)


def reason_by_content(path: str, data: bytes, limit: int, rules: FileRules = _NO_RULES) -> str:
    """The reason why a text with these bytes, in UTF-8, is not indexed; empty where it may be."""
    if len(data) > limit:
        return "too large"
    if b"\0" in data:
        return "binary"
    reason = _reason_by_content(path.rpartition("/")[2], data)
    return "" if reason in _OVERRULED and rules.is_forced(path) else reason


def _reason_by_content(name: str, data: bytes) -> str:
    head = data[:_GENERATED_MARK_BYTES].removeprefix(codecs.BOM_UTF8)
    if b"generated" in head.lower() and (
        _GENERATED_MARK.search(head) or (not name.endswith(_PROSE) and _says_generated(head))
    ):
        return "generated"
    lower, lines = name.lower(), 1 + data.count(b"\n")
    is_minified = lower.endswith(_MINIFIABLE) and len(data) > _MINIFIED_LINE_BYTES * lines
    return "minified" if is_minified or (lower.endswith(_BUNDLED) and _is_bundle(data, lines)) else ""


def _says_generated(head: bytes) -> bool:
    """Whether the first comment of a file says that a tool made it, and that nobody should edit it."""
    comments = _LEADING_COMMENTS.match(head)
    return comments is not None and _GENERATED_COMMENT.search(comments[0]) is not None


def _is_bundle(data: bytes, lines: int) -> bool:
    """Whether a tool wrote nearly all lines of a script or a style sheet."""
    if len(data) < _MIN_MEAN_LINE_BYTES * lines:
        return False
    long = b"".join(line for line in data.split(b"\n") if len(line) >= _LONG_LINE_BYTES)
    if len(long) < _MIN_LONG_SHARE * len(data):
        return False
    blanks, marks = len(long) - len(long.translate(None, b" \t")), len(long) - len(long.translate(None, _MARKS))
    return blanks < _MAX_BLANKS_SHARE * len(long) and marks > _MIN_MARKS_SHARE * len(long)


def reason_by_name(path: str, rules: FileRules = _NO_RULES) -> str:
    """The reason why a file of this name is not indexed; empty where its name, or the user's rules, allow it."""
    reason = _reason_by_name(path)
    return "" if reason in _OVERRULED and rules.is_forced(path) else reason


def _reason_by_name(path: str) -> str:
    *folders, lower = path.lower().split("/")
    if _SECRET_FOLDERS.intersection(folders):
        return "secret"
    if _SECRETS.match(lower) or _PRIVATE_KEY.fullmatch(lower):
        return "secret"
    suffix = os.path.splitext(lower)[1]
    if suffix in _BINARY_SUFFIXES:
        return "binary"
    if suffix in _DATA_SUFFIXES:
        return "data"
    return "generated" if _GENERATED_NAMES.match(lower) else ""


def _reason_by_kind(status: os.stat_result, limit: int) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "symbolic link"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    return "too large" if status.st_size > limit else ""


def _reason_by_owner(root: Path, path: str, status: os.stat_result) -> str:
    """The reason why a file that this process can read is not the project's to read; empty where it is.

    Root may read everything, but a file that the owner of the project's folder cannot read is not indexed.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return ""
    try:
        owner, *folders = map(os.stat, accumulate(path.split("/")[:-1], os.path.join, initial=os.fspath(root)))
    except OSError:
        return UNREADABLE
    is_open = _grants(status, stat.S_IRUSR, owner) and all(_grants(each, stat.S_IXUSR, owner) for each in folders)
    return "" if is_open else FOR_ROOT_ALONE


def _grants(status: os.stat_result, right: int, owner: os.stat_result) -> bool:
    """Whether a mode grants a right (as a bit for the owner) to the user and the group of `owner`."""
    if status.st_uid == owner.st_uid:
        return bool(status.st_mode & right)
    return bool(status.st_mode & (right >> 3 if status.st_gid == owner.st_gid else right >> 6))


def _read(root: Path, path: str, limit: int) -> tuple[bytes, FileState, bool]:
    """Up to limit + 1 bytes, the state before reading, and whether the file stayed unchanged meanwhile."""
    with project_file(root, path) as stream:
        state = _state(os.fstat(stream.fileno()))
        data = read_most(stream, limit + 1)
        settled = _state(os.fstat(stream.fileno())).same_stamp(state)
    return data, state, settled


def _state(status: os.stat_result) -> FileState:
    return FileState(status.st_size, status.st_mtime_ns, status.st_ctime_ns, time.time_ns())


def _unreadable(error: OSError, state: FileState) -> Rejected:
    if error.errno in NO_HANDLES:
        # The process has no free handle, so the file stays indexed and is read again later.
        raise StoreUnavailable(describe_no_handles(), INDEX_STORE) from error
    gone = isinstance(error, FileNotFoundError | NotADirectoryError)
    return Rejected("gone" if gone else UNREADABLE, state, gone)


def describe_unknown_languages(pairs: Iterable[str]) -> str:
    """The languages of `languages.map` that have no grammar, in words that name those that may be meant; empty for none."""
    names = dict.fromkeys(pair.rpartition("=")[2].strip() for pair in pairs)
    unknown = [name for name in names if not by_alias(name)]
    known = sorted(LANGUAGES)
    near = list(dict.fromkeys(each for name in unknown for each in nearest(name.lower(), known)))
    return (
        f"languages.map names {', '.join(unknown)}, of which no grammar is known, so such files are cut by their lines; "
        + (nearest_text(near).removesuffix("; ") if near else f"known are {', '.join(known)}")
        if unknown
        else ""
    )


def _find_value(pairs: Iterable[str], path: str) -> str:
    found = ""
    for pair in pairs:
        pattern, _, name = pair.rpartition("=")
        if _matches(pattern.strip(), path):
            found = name.strip()
    return found


def _matches(pattern: str, path: str) -> bool:
    compiled = _compile(pattern)
    return compiled is not None and compiled.regex is not None and bool(compiled.match_file(path))


@lru_cache(maxsize=256)
def _compile(pattern: str) -> GitIgnoreSpecPattern | None:
    try:
        return compile_pattern(pattern)
    except (ValueError, re.error):
        return None
