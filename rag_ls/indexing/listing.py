"""The files of a project that the ignore rules and the settings let in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rag_ls.config import IndexSettings
from rag_ls.indexing.file_rules import FileRules
from rag_ls.indexing.files import reason_by_name
from rag_ls.indexing.git_settings import ignores_case
from rag_ls.indexing.ignore_files import RAGIGNORE, IgnoreRules, Tell, compiled
from rag_ls.project import DATA_FOLDER
from rag_ls.util.git import GitSilent, ask_git
from rag_ls.util.path_globs import ignore_lines
from rag_ls.util.repositories import find_repository, is_git_folder, is_repository_top

_NEVER_WALKED = frozenset(
    {".git", ".hg", ".svn", ".jj", DATA_FOLDER, "node_modules", "__pycache__", ".venv", ".tox", ".nox", ".mypy_cache"}
)
# git answers in a fraction of a second, unless the drive hangs.
_GIT_S = 120.0
_WITHOUT_GIT = "ignore rules are applied without git, and tracked files that a rule ignores are left out"


@dataclass(frozen=True, slots=True)
class Patterns:
    """The settings' patterns: `exclude` leaves files out; `include`, if there are any, leaves out all other files."""

    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: IndexSettings) -> Patterns:
        """Those of the settings."""
        return cls(settings.exclude, settings.include, settings.force)


ALL = Patterns()


def _unheard(reason: str) -> None:
    """Tell nobody."""


def list_files(root: Path, patterns: Patterns = ALL, tell: Tell = _unheard) -> Iterator[str]:
    """The project paths that git's ignore rules, `.ragignore` and the settings leave; unsorted, without reading any.

    `tell` hears why git does not answer, and which ignore files cannot be read.
    """
    is_left = _left_by_settings(root, patterns, tell)
    return (path for path in _listed(root, tell) if is_left(path))


def admitted(root: Path, paths: Sequence[str], patterns: Patterns = ALL) -> set[str]:
    """The paths among `paths` that neither the ignore rules nor their names exclude; they need not exist."""
    is_left = _left_by_settings(root, patterns, _unheard)
    real, rules = _real_paths(root, paths), FileRules(forced=patterns.forced)
    kept = {path for path in real.values() if is_left(path) and not reason_by_name(path, rules)}
    kept = _admitted(root, kept, is_folder=False)
    return {path for path, place in real.items() if place in kept and not reason_by_name(path, rules)}


def admitted_folders(root: Path, folders: Sequence[str], patterns: Patterns = ALL) -> set[str]:
    """The folders among `folders` that the rules do not exclude; single files in them may still be excluded."""
    is_left = _left_by_settings(root, Patterns(patterns.exclude), _unheard)
    return _admitted(root, [folder for folder in folders if is_left(folder + "/")], is_folder=True)


def _real_paths(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """The real places of the paths that pass through a linked folder and stay inside: rules are for real places."""
    top = os.path.realpath(root)
    folders: dict[str, str | None] = {}
    real: dict[str, str] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder not in folders:
            place = os.path.relpath(os.path.realpath(root / folder), top).replace(os.sep, "/")
            folders[folder] = None if place == ".." or place.startswith("../") else "" if place == "." else place + "/"
        if (inside := folders[folder]) is not None:
            real[path] = inside + name
    return real


def _left_by_settings(root: Path, patterns: Patterns, tell: Tell) -> Callable[[str], bool]:
    """A function that tells whether `.ragignore` and the settings let a file in; a folder's path ends with `/`."""
    is_named = _named_by_ragignore(root, tell)
    folds_case = ignores_case(root)
    exclude, include = (ignore_lines(globs, str(root)) for globs in (patterns.exclude, patterns.include))
    excluded = compiled(exclude, folds_case=folds_case)
    if include and all(line.startswith("!") for line in include):
        include = ["*", *include]
    # `*.TS` leaves no index empty: of what is named to be read, case does not count.
    included = compiled(include, folds_case=True, too_long="") if include else None

    def is_left(path: str) -> bool:
        folded = path.lower() if folds_case else path
        # The settings come after the files: their `!` takes back what a file says.
        said = excluded.check_file(folded).include if exclude else None
        return (
            not is_named(path, said is False) and not said and (included is None or included.match_file(path.lower()))
        )

    return is_left


def _named_by_ragignore(root: Path, tell: Tell) -> Callable[[str, bool], bool]:
    """A function that tells whether a `.ragignore` names a path, or a folder that it is in.

    They count as `.gitignore` does: those of the folders inside, and those above in the same repository. Of a path that is
    `taken_back`, only a file that cannot be read counts.
    """
    rules = IgnoreRules(root, find_repository(root), tell, RAGIGNORE)
    if rules.excludes(""):
        tell(f"a {RAGIGNORE} above {root} names it, so nothing in it is indexed")
        return lambda path, taken_back: True

    @cache
    def is_folder_named(folder: str) -> bool:
        return bool(folder) and (is_folder_named(folder.rpartition("/")[0]) or rules.ignores(folder + "/"))

    def is_named(path: str, taken_back: bool) -> bool:
        folder = path.rstrip("/").rpartition("/")[0]
        if taken_back:
            return any(spec.patterns is None for spec in rules.inside(folder))
        return is_folder_named(folder) or rules.ignores(path)

    return is_named


# --- listing


def _listed(root: Path, tell: Tell) -> Iterator[str]:
    repository = find_repository(root)
    if repository is None:
        yield from _walk(root, IgnoreRules(root, None, tell), tell, enters_repositories=True)
        return
    try:
        yield from _git_files(root)
    except GitSilent as silent:
        tell(f"{silent.reason}: {_WITHOUT_GIT}" + f"; {silent.remedy}" * bool(silent.remedy))
        rules = IgnoreRules(root, repository, tell)
        if not rules.excludes(""):
            yield from _walk(root, rules, tell, enters_repositories=False)


def _git_files(root: Path) -> list[str]:
    """The tracked and untracked files that git does not ignore. Raises `GitSilent`."""
    listed = ask_git(root, "ls-files", "-co", "--exclude-standard", "-z", timeout_s=_GIT_S)
    names = {os.fsdecode(name) for name in listed.split(b"\0") if name}
    bare = tuple(
        name.removesuffix("HEAD")
        for name in names
        if name.endswith("/HEAD") and is_git_folder(root / name.removesuffix("HEAD"))
    )
    # A name with a slash at its end is another repository inside this one.
    return [name.rstrip("/") for name in names if not name.startswith((DATA_FOLDER + "/", *bare))]


def _walk(root: Path, rules: IgnoreRules, tell: Tell, *, enters_repositories: bool) -> Iterator[str]:
    """All files below `root` that the rules leave. A repository inside is one name, or is listed by its own rules."""
    pending = [""]
    while pending:
        folder = pending.pop()
        if folder and is_repository_top(root / folder):
            yield from _inner(root, folder, rules, tell) if enters_repositories else (folder.rstrip("/"),)
            continue
        try:
            entries = list(os.scandir(root / folder))
        except OSError:
            if folder:
                yield folder.rstrip("/")
            continue
        if {"HEAD", "objects", "refs"} <= {entry.name for entry in entries} and is_git_folder(root / folder):
            continue
        for entry in entries:
            path = f"{folder}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if rules.ignores(path + "/" * is_folder):
                continue
            if not is_folder:
                yield path
            elif entry.name not in _NEVER_WALKED:
                pending.append(path + "/")


def _inner(root: Path, folder: str, rules: IgnoreRules, tell: Tell) -> Iterator[str]:
    """The files of a repository inside a project that is none, and of those inside it."""
    for path in _listed(root / folder, tell):
        name = folder + path
        if rules.excludes(name):
            continue
        if is_repository_top(root / name):
            yield from _inner(root, name + "/", rules, tell)
        else:
            yield name


# --- single paths


def _admitted(root: Path, paths: Iterable[str], *, is_folder: bool) -> set[str]:
    """The paths that the rules of the repositories that they are in leave."""
    has_repository = find_repository(root) is not None
    tree = _Folders(root)
    by_place: dict[str, dict[str, str]] = {}
    for path in paths:
        # A folder is judged with what it holds.
        place = tree.place_of(path + "/" * is_folder)
        # A repository's own list names another one inside it as a whole.
        if place is not None and not (has_repository and place):
            by_place.setdefault(place, {})[path[len(place) :]] = path
    kept: set[str] = set()
    for place, inside in by_place.items():
        kept.update(inside[path] for path in _left_by_rules(root / place, list(inside), is_folder=is_folder))
    if not any(by_place):
        return kept
    # The rules of the folder around a repository count as well.
    outer = IgnoreRules(root, None, _unheard)
    return {path for path in kept if not outer.excludes(path, is_folder=is_folder)}


def _left_by_rules(root: Path, paths: Sequence[str], *, is_folder: bool) -> set[str]:
    """The paths that the ignore rules of one repository, or of a tree without one, leave."""
    repository = find_repository(root)
    if repository is not None:
        try:
            ignored = _git_ignored(root, paths)
        except GitSilent:
            pass
        else:
            return {path for path in paths if path not in ignored}
    rules = IgnoreRules(root, repository, _unheard)
    return {path for path in paths if not rules.excludes(path, is_folder=is_folder)}


def _git_ignored(root: Path, paths: Sequence[str]) -> set[str]:
    """The paths among `paths` that git ignores. Raises `GitSilent`."""
    given = b"\0".join(os.fsencode(path) for path in paths if path)
    # 0: some are ignored; 1: none is.
    found = ask_git(root, "check-ignore", "-z", "--stdin", given=given, codes=(0, 1), timeout_s=_GIT_S)
    return {os.fsdecode(name) for name in found.split(b"\0") if name}


class _Folders:
    """The folders of a project that lead to some paths: which of them are walked, and which hold a repository."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._places: dict[str, str | None] = {"": ""}

    def place_of(self, path: str) -> str | None:
        """The innermost repository below the root that a path is in, as a folder with `/` at its end; empty for none.

        None for a path that no walk comes to. A folder's path ends with `/`.
        """
        return self._of(path.rpartition("/")[0])

    def _of(self, folder: str) -> str | None:
        if folder not in self._places:
            above, _, name = folder.rpartition("/")
            place = self._of(above)
            file = self._root / folder
            if name in _NEVER_WALKED or is_git_folder(file):
                place = None
            elif place is not None and is_repository_top(file):
                place = folder + "/"
            self._places[folder] = place
        return self._places[folder]
