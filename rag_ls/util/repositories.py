"""Finds the git repository around a folder, without git."""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from rag_ls.util.decoding import decode_marked
from rag_ls.util.files import kind_of, read_regular, regular_file
from rag_ls.util.paths import is_elsewhere
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

DOT_GIT = ".git"
_MAX_POINTER_BYTES = 10_000
_ROOT_USER_ID = 0
_SYSTEM_CONFIG = Path("/etc/gitconfig")


@dataclass(frozen=True, slots=True)
class Repository:
    """A work tree of a git repository, or a folder that claims to be one."""

    top: Path
    """The folder that holds `.git`."""
    folder: Path
    """The folder that `.git` is or names, with HEAD and index of this work tree. It may be missing."""
    common: Path
    """The folder with the configuration and `info/exclude`, which all work trees of the repository share."""
    fault: str = ""
    """The reason why git cannot read it; empty where it looks sound."""

    @property
    def owns_tree(self) -> bool:
        """Whether the work tree is the repository's own: with `.git` itself inside, or one that the repository names too.

        An unpacked archive may bring files that name any repository of this machine.
        """
        if self.fault:
            return False
        top, folder, common = map(os.path.realpath, (self.top, self.folder, self.common))
        if folder == common:
            return folder == os.path.join(top, DOT_GIT) or _tree_named_in(self.folder) == top
        # Only the repository's own files may name its work tree.
        named = line_in(self.folder / "gitdir")
        is_kept_there = os.path.dirname(folder) == os.path.join(common, "worktrees")
        return is_kept_there and os.path.realpath(self.folder / named) == os.path.join(top, DOT_GIT)


def find_repository(place: Path) -> Repository | None:
    """The repository that the nearest `.git` at or above a folder belongs to. One that another user may have put there is none."""
    top = next((each for each in (place, *place.parents) if _is_own_top(each, place)), None)
    return _repository_at(top) if top else None


def _is_own_top(top: Path, place: Path) -> bool:
    try:
        return is_own_mark(top / DOT_GIT, place)
    except OSError:
        return False


def is_own_mark(mark: Path, place: Path) -> bool:
    """Whether an entry that makes its folder a project or a repository is there, and not put there by just anybody.

    It is this user's, or, where not everybody may write, of root or of the owner of `place`, the folder that is asked for.
    Raises `OSError` where that cannot be told.
    """
    if not kind_of(mark):
        return False
    if not hasattr(os, "geteuid") or (owner := os.lstat(mark).st_uid) == os.geteuid():
        return True
    is_open_to_all = os.stat(mark.parent).st_mode & stat.S_IWOTH
    return not is_open_to_all and owner in (_ROOT_USER_ID, os.stat(place).st_uid)


def is_repository_top(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds `.git`, of whatever kind."""
    return os.path.lexists(os.path.join(folder, DOT_GIT))


def config_files(repository: Repository) -> tuple[Path, ...]:
    """git's settings files that hold for a repository, what counts least first; they need not exist."""
    of_user = (config_home() / "git/config", Path(os.path.expanduser("~")) / ".gitconfig")
    return (_SYSTEM_CONFIG, *of_user, repository.common / "config", repository.folder / "config.worktree")


def config_home() -> Path:
    """The folder of the user's settings, of which git's are in `git`."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"))


def is_git_folder(folder: Path) -> bool:
    """Whether a folder is what git keeps for itself (a bare repository, or what belongs in `.git`)."""
    return os.path.lexists(folder / "HEAD") and os.path.isdir(folder / "refs") and os.path.isdir(folder / "objects")


def _repository_at(top: Path) -> Repository:
    dot_git = top / DOT_GIT
    if os.path.isdir(dot_git):
        folder, fault = dot_git, ""
    else:
        folder, fault = _named_folder(dot_git)
    common = folder
    if named := line_in(folder / "commondir"):
        common = Path(os.path.normpath(folder / named))
        if is_elsewhere(common, top):
            common, fault = folder, f"{folder / 'commondir'} names a folder of another machine"
    if not fault and not _is_sound(folder, common):
        fault = f"{folder} is no git folder: HEAD, objects or refs are missing"
    return Repository(top, folder, common, fault)


def _named_folder(dot_git: Path) -> tuple[Path, str]:
    """The folder that a `.git` file of a work tree or submodule names, and what is wrong with it."""
    key, _, target = line_in(dot_git).partition("gitdir:")
    if key or not target.strip():
        return dot_git, f"{dot_git} cannot be read, or names no git folder"
    folder = Path(os.path.normpath(dot_git.parent / target.strip()))
    if is_elsewhere(folder, dot_git):
        return dot_git, f"{dot_git} names a folder of another machine"
    if not os.path.isdir(folder):
        return folder, f"{dot_git} names {folder}, which is not there"
    return folder, ""


def _is_sound(folder: Path, common: Path) -> bool:
    # git requires the same three entries. HEAD may be a link.
    return os.path.lexists(folder / "HEAD") and all(os.path.isdir(common / name) for name in ("objects", "refs"))


def _tree_named_in(folder: Path) -> str:
    """The work tree that a repository kept elsewhere, as a submodule's is, names in its settings; empty without one."""
    named = [entry for entry in entries_of(folder / "config") if entry.key == "core.worktree" and entry.value]
    return os.path.realpath(path_in(named[-1])) if named else ""


def line_in(file: Path) -> str:
    """The first line of a small file; empty where there is none."""
    try:
        with regular_file(file, follow=True) as stream:
            line = stream.read(_MAX_POINTER_BYTES).split(b"\n", 1)[0].strip()
        return "" if b"\0" in line else os.fsdecode(line)
    except OSError:
        return ""


# Of all files together.
_MAX_BYTES = 1_000_000
# More files than anybody's settings include.
_MAX_FILES = 100
_INCLUDES = ("include.path", "includeif.path")
_SECTION = lazy_pattern(r'\s*\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]')
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
    """A value without quotes, escapes and comments."""
    words = shlex.shlex(written, posix=True)
    words.commenters, words.quotes, words.whitespace_split = "#;", '"', True
    try:
        return " ".join(words)
    except ValueError:
        # A quotation mark is left open: git refuses such a file.
        return written.strip()


def _lines(file: Path, limit: int) -> list[str]:
    try:
        text = decode_marked(read_regular(file, limit), errors="surrogateescape")
    except (OSError, UnicodeDecodeError):
        return []
    # A backslash at the end of a line continues it.
    return re.sub(r"\\\r?\n", "", text).splitlines()
