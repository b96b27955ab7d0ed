"""Ignore files, and the few settings of git that name some: reads their patterns, and applies them where git does not."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from rag_ls.util.decoding import decode_marked
from rag_ls.util.files import regular_file
from rag_ls.util.git import GitSilent, ask_git
from rag_ls.util.paths import unknown_folders
from rag_ls.util.patterns import LinearPattern, lazy_pattern
from rag_ls.util.records import dataclass
from rag_ls.util.repositories import (
    DOT_GIT,
    Repository,
    config_files,
    config_home,
    entries_of,
    find_repository,
    is_repository_top,
    path_in,
)
from rag_ls.util.text import lines_of

GITIGNORE = ".gitignore"
RAGIGNORE = ".ragignore"
_MAX_BYTES = 5_000_000
# The bytes that are no UTF-8, as Python decodes them.
_INVALID = lazy_pattern("[\udc80-\udcff]")
# No real path is longer.
_MAX_LINE = 4096
_SYSTEM_IGNORES_CASE = sys.platform in ("win32", "darwin")

Tell = Callable[[str], None]
"""Called with a reason for which files are left out, for the user."""
_FOLDER = "ps_d"
# Parts of the regular expression that pathspec makes of a pattern.
_BELOW, _INNER, _NAME = r"(?:.+/)?", r"(?:/.+)?", r"[^/]+"
_OPEN_END, _FOLDER_END = rf"(?:(?P<{_FOLDER}>/)|$)", rf"(?P<{_FOLDER}>/)"
_WILDCARD = lazy_pattern(r"\(\?:\.\+/\)\?|\(\?:/\.\+\)\?|\[\^/\][*+]")


@dataclass(frozen=True, slots=True)
class IgnoreSpec:
    """The patterns of one ignore file."""

    base: str
    """The folder that they are relative to, from the tree's top: empty, or with `/` at its end."""
    patterns: GitIgnoreSpec | None
    """None where the file cannot be read: it may exclude anything, so all below its folder is excluded."""
    folds_case: bool = False
    composes: bool = False
    """Whether letters that are composed and decomposed are the same."""

    def decides(self, path: str) -> bool | None:
        """Whether a path below the base is ignored; None where no pattern matches it. A folder's path ends with `/`.

        As in git the last pattern that matches the path itself decides: the folders that it is in were asked before.
        """
        inside = path[len(self.base) :]
        if not inside or not path.startswith(self.base):
            return None
        if self.patterns is None:
            return True
        inside = fold_path(inside, case=self.folds_case, composes=self.composes)
        found = (each.include for each in reversed(self.patterns.patterns) if matches_itself(each, inside))
        return next(found, None)


def fold_path(path: str, *, case: bool, composes: bool = True) -> str:
    """A path or pattern as it is compared: in small letters where case does not count, its letters composed."""
    composed = unicodedata.normalize("NFC", path) if composes and not path.isascii() else path
    return composed.lower() if case else composed


def read_patterns(file: Path, tell: Tell) -> list[str] | None:
    """The lines of an ignore file, none where there is no such file; None, and a reason told, where it cannot be read."""
    try:
        if not os.path.exists(file) or os.path.isdir(file) or os.path.samefile(file, os.devnull):
            return []
        with regular_file(file, follow=True) as stream:
            data = stream.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            tell(f"{file} is too large for an ignore file, so nothing below its folder is indexed; make it smaller")
            return None
        # File names are bytes, so patterns may be bytes too.
        text = decode_marked(data, errors="surrogateescape")
        is_own = file.name == RAGIGNORE
        lines = list(_read_own_lines(text)) if is_own else text.replace("\r\n", "\n").split("\n")
        if not any(_is_too_long(line) for line in lines):
            return lines
        tell(
            f"{file} has a line of more than {_MAX_LINE} characters, so nothing below its folder is indexed; shorten it"
        )
    except UnicodeDecodeError:
        tell(f"{file} is no text in UTF-8 or UTF-16, so nothing below its folder is indexed; save it as UTF-8")
    except OSError as error:
        tell(f"{file} cannot be read ({error.strerror}), so nothing below its folder is indexed; make it readable")
    return None


def _read_byte(found: re.Match[str]) -> str:
    return bytes([ord(found[0]) - 0xDC00]).decode("cp1252", "replace")


def _read_own_lines(text: str) -> Iterator[str]:
    """The lines of our own ignore file, which no rules of git bind: CR ends lines, and bytes that are no UTF-8 are Latin-1, too."""
    for line in lines_of(text):
        yield line
        # They may also be bytes of a file's name.
        if not line.isascii() and (read := _INVALID.sub(_read_byte, line)) != line:
            yield read


def compiled(
    lines: Iterable[str], *, folds_case: bool = False, composes: bool = True, too_long: str = "*"
) -> GitIgnoreSpec:
    """The patterns of some lines, in .gitignore syntax. Those that mean nothing are left out, as git does.

    A line that is longer than any path becomes `too_long`; if it is to take something back, it is left out.
    """
    patterns = []
    for line in lines:
        if _is_too_long(line):
            line = "" if line.startswith("!") else too_long
        # Python and git do not agree on which lines are patterns.
        with contextlib.suppress(ValueError, re.error):
            patterns.append(compile_pattern(fold_path(line, case=folds_case, composes=composes)))
    return GitIgnoreSpec(patterns, backend="simple")


def _is_too_long(line: str) -> bool:
    return len(line) > _MAX_LINE and not line.startswith("#")


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """The settings that decide about ignored files besides `.gitignore`."""

    exclude_files: tuple[Path, ...] = ()
    """Files of patterns, what counts least first: those of the user, then `info/exclude`."""
    ignores_case: bool = False


def settings_of(repository: Repository) -> RepositorySettings:
    """The settings that hold for a repository.

    Where several files name an exclude file, or one names it under a condition, all of them count: rather too few files
    are indexed than one too many.
    """
    own = repository.common / "config"
    settings = [entry for file in config_files(repository) for entry in entries_of(file)]
    named = [path_in(entry) for entry in settings if entry.key == "core.excludesfile" and entry.value]
    files = (*(named or [config_home() / "git/ignore"]), repository.common / "info/exclude")
    return RepositorySettings(tuple(dict.fromkeys(files)), _ignores_case(own))


def ignores_case(root: Path) -> bool:
    """Whether `A.py` and `a.py` are one file for git, or for the system where there is no repository around `root`."""
    repository = find_repository(root)
    return _ignores_case(repository.common / "config") if repository else _SYSTEM_IGNORES_CASE


def _ignores_case(config: Path) -> bool:
    said = [entry.value.lower() for entry in entries_of(config) if entry.key == "core.ignorecase"]
    return said[-1] not in ("false", "no", "off", "0") if said else _SYSTEM_IGNORES_CASE


def rule_files(root: Path) -> tuple[Path, ...]:
    """The files outside a tree that decide what is ignored in it; they need not exist."""
    repository = find_repository(root)
    if repository is None:
        return ()
    above = [folder for folder in root.parents if folder.is_relative_to(repository.top)]
    of_folders = [folder / name for folder in above for name in (GITIGNORE, RAGIGNORE)]
    return (*config_files(repository), *settings_of(repository).exclude_files, *of_folders)


class IgnoreRules:
    """The ignore rules of a tree as git has them, read without git: the user's, the repository's, those of each folder.

    Or those of the files of another `name` in each folder, which count in the same way.
    """

    def __init__(self, root: Path, repository: Repository | None, tell: Tell, name: str = GITIGNORE) -> None:
        """`repository` is the one around `root`, if there is one. `tell` hears of ignore files that cannot be read."""
        self._root = root
        self._tell = tell
        self._name = name
        top = repository.top if repository else root
        # Paths of patterns are relative to the top, which may be above the root.
        self._prefix = "".join(part + "/" for part in root.relative_to(top).parts)
        settings = settings_of(repository) if repository else RepositorySettings()
        self._folds_case = settings.ignores_case
        outer: list[IgnoreSpec] = []
        # A later file counts more (gitignore(5)).
        for file in settings.exclude_files if name == GITIGNORE else ():
            outer += self._spec(file, "")
        self._specs: dict[str, tuple[IgnoreSpec, ...]] = {}
        folder, base = top, ""
        for part in root.relative_to(top).parts:
            outer += self._spec(folder / name, base)
            folder, base = folder / part, f"{base}{part}/"
        self._outer = tuple(outer)

    def excludes(self, path: str, *, is_folder: bool = False) -> bool:
        """Whether the rules exclude a project path, or a folder that it is in. The root itself is the empty path."""
        parts = [part for part in (self._prefix + path).split("/") if part]
        above = self._prefix.count("/")
        for depth in range(len(parts)):
            specs = self.inside("/".join(parts[above:depth])) if depth >= above else self._outer
            ends_with_folder = depth + 1 < len(parts) or is_folder or not path
            if _is_ignored("/".join(parts[: depth + 1]) + "/" * ends_with_folder, specs):
                return True
        return False

    def ignores(self, path: str) -> bool:
        """Whether the rules exclude a path whose folders they do not exclude. A folder's path ends with `/`."""
        return _is_ignored(self._prefix + path, self.inside(path.rstrip("/").rpartition("/")[0]))

    def inside(self, folder: str) -> tuple[IgnoreSpec, ...]:
        """The rules for what is in a folder of the project, those of the folders above it first."""
        if not self._specs:
            self._specs[""] = (*self._outer, *self._spec(self._root / self._name, self._prefix))
        folder = folder.rstrip("/")
        for each in unknown_folders(folder, self._specs):
            own = self._spec(self._root / each / self._name, f"{self._prefix}{each}/")
            self._specs[each] = (*self._specs[each.rpartition("/")[0]], *own)
        return self._specs[folder]

    def _spec(self, file: Path, base: str) -> list[IgnoreSpec]:
        lines = read_patterns(file, self._tell)
        if lines is None:
            return [IgnoreSpec(base, None)]
        folds_case, composes = self._folds_case, self._name == RAGIGNORE
        patterns = compiled(lines, folds_case=folds_case, composes=composes)
        return [IgnoreSpec(base, patterns, folds_case, composes)] if lines else []


def _is_ignored(path: str, specs: tuple[IgnoreSpec, ...]) -> bool:
    """Whether a path is ignored: the last matching pattern of the deepest file with one decides (gitignore(5))."""
    if any(spec.patterns is None and spec.decides(path) for spec in specs):
        return True
    return next((found for spec in reversed(specs) if (found := spec.decides(path)) is not None), False)


def compile_pattern(line: str) -> GitIgnoreSpecPattern:
    """Compile the pattern of a line. Raises `ValueError` and `re.error` for a line that is no pattern."""
    expression, is_included = GitIgnoreSpecPattern.pattern_to_regex(line)
    if expression is None:
        return GitIgnoreSpecPattern(None)
    expression = _complete(expression, line)
    # Most patterns have one wildcard in a name, at any depth. For these, `re` reads each name once.
    wildcards = len(_WILDCARD.findall(expression))
    is_simple = wildcards <= 1 or (wildcards == 2 and expression.startswith("^" + _BELOW) and _INNER not in expression)
    found: Any = re.compile(expression) if is_simple else LinearPattern(expression)
    return GitIgnoreSpecPattern(found, is_included)


def matches_itself(pattern: GitIgnoreSpecPattern, path: str) -> bool:
    """Whether a pattern matches a path, and not only a folder that it is in. A folder's path ends with `/`."""
    return pattern.regex is not None and pattern.regex.fullmatch(path) is not None


def _complete(expression: str, line: str) -> str:
    """The expression that matches whole paths: pathspec's own for `*`, `*/`, `a/**` and `a/**/` match a part of them."""
    if expression in (".", _FOLDER_END):
        return f"^{_BELOW}{_NAME}{_OPEN_END if expression == '.' else _FOLDER_END}"
    if expression.endswith(_FOLDER_END):
        is_inside = line.rstrip().endswith("/**/")
        return f"{expression.removesuffix(_FOLDER_END)}/{_BELOW}{_NAME}{_FOLDER_END}" if is_inside else expression
    return expression if expression.endswith(_OPEN_END) else f"{expression}{_BELOW}{_NAME}{_OPEN_END}"


OTHER_REPOSITORY = "other repository"
OTHER_CHECKOUT = "other checkout"
MISSING_SUBMODULE = "submodule without its files"
LEFT_OUT_SUBMODULE = "submodule"
UNREADABLE_FOLDER = "unreadable folder"
NOT_CHECKED_OUT = "not checked out"
"""The reason for what a sparse checkout leaves out."""
LINK_MODE = b"160000 "
"""The beginning of a submodule's entry in git's index."""
_MODULES, _WORK_TREES = "modules", "worktrees"


def why_folder_is_left_out(folder: Path) -> str:
    """The reason why a folder that a listing names as one file is not read; empty where it is an ordinary folder."""
    try:
        is_empty = not os.listdir(folder)
    except OSError:
        return UNREADABLE_FOLDER
    if not is_repository_top(folder):
        # Files that git ignores stay when a submodule is given up.
        return MISSING_SUBMODULE if is_empty or is_submodule(folder.parent, folder.name) else ""
    if (folder / DOT_GIT).is_dir():
        return OTHER_REPOSITORY
    if is_linked_work_tree(folder):
        return OTHER_CHECKOUT
    repository = find_repository(folder)
    lies_in_modules = repository is not None and _MODULES in repository.folder.parts
    return LEFT_OUT_SUBMODULE if lies_in_modules else OTHER_REPOSITORY


def is_sparse(root: Path) -> bool:
    """Whether git has only some of a work tree's files checked out."""
    repository = find_repository(root)
    if repository is None or repository.fault:
        return False
    files = (repository.common / "config", repository.folder / "config.worktree")
    values = [entry.value for file in files for entry in entries_of(file) if entry.key == "core.sparsecheckout"]
    return bool(values) and values[-1].lower() in ("true", "yes", "on", "1")


def is_not_checked_out(root: Path, path: str) -> bool:
    """Whether git has a file that a sparse checkout leaves out, or may have it: it does not answer."""
    try:
        return is_sparse(root) and ask_git(root, "ls-files", "-t", "-z", "--", f":(literal){path}").startswith(b"S ")
    except GitSilent:
        return True


def is_inside(root: Path, path: str) -> bool:
    """Whether a folder lies at its path itself, not behind a link."""
    return os.path.realpath(root / path) == os.path.join(os.path.realpath(root), *path.rstrip("/").split("/"))


def is_submodule(outer: Path, path: str) -> bool:
    """Whether the repository around a folder tracks the folder at a path in it as a submodule."""
    try:
        found = ask_git(outer, "ls-files", "--stage", "-z", "--", f":(literal){path.rstrip('/')}")
    except GitSilent:
        return path.rstrip("/") in list_submodules(outer)
    return found.startswith(LINK_MODE)


def list_submodules(root: Path) -> frozenset[str]:
    """The paths below a root that `.gitmodules` of the repository around it names."""
    repository = find_repository(root)
    if repository is None:
        return frozenset()
    prefix = "".join(part + "/" for part in root.relative_to(repository.top).parts)
    paths = [entry.value for entry in entries_of(repository.top / ".gitmodules") if entry.key == "submodule.path"]
    return frozenset(path.removeprefix(prefix) for path in paths if path.startswith(prefix))


def is_linked_work_tree(folder: Path) -> bool:
    """Whether a folder is a further work tree of a repository (`git worktree add`), which is read as a project of its own."""
    repository = find_repository(folder)
    return repository is not None and repository.top == folder and repository.folder.parent.name == _WORK_TREES
