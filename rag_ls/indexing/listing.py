"""The files of a project that the ignore rules and the settings let in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from rag_ls.config import IndexSettings
from rag_ls.indexing.files import FileRules, reason_by_name
from rag_ls.indexing.ignore_files import (
    LINK_MODE,
    RAGIGNORE,
    IgnoreRules,
    Tell,
    compiled,
    fold_path,
    ignores_case,
    is_inside,
    is_linked_work_tree,
    is_submodule,
    list_submodules,
)
from rag_ls.project import DATA_FOLDER
from rag_ls.util.git import GitSilent, ask_git, list_by_git
from rag_ls.util.path_globs import ignore_lines
from rag_ls.util.paths import is_behind_link, is_inner_path, unknown_folders
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass
from rag_ls.util.repositories import DOT_GIT, find_repository, is_git_folder, is_repository_top

_NEVER_WALKED = frozenset(
    {".git", ".hg", ".svn", ".jj", DATA_FOLDER, "node_modules", "__pycache__", ".venv", ".tox", ".nox", ".mypy_cache"}
)
# git answers in a fraction of a second, unless the drive hangs.
_GIT_S = 120.0
# git cuts a message off after some 4,000 characters.
_NOT_OPENED = lazy_pattern(rb"(?m)^warning: could not open directory '(.+?)(?:/*': .*)?$")
# Nobody has so many repositories in each other.
_MAX_DEPTH = 50
_CHECK_OUT = "ask in a work tree of it (`git worktree add FOLDER` makes one)"
_WITHOUT_GIT = "ignore rules are applied without git, and tracked files that a rule ignores are left out"


@dataclass(frozen=True, slots=True)
class Patterns:
    """The settings' patterns: `exclude` leaves files out; `include`, if there are any, leaves out all other files.

    Without `submodules` the files of all submodules are left out.
    """

    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    submodules: bool = True

    @classmethod
    def of(cls, settings: IndexSettings) -> Patterns:
        """Those of the settings."""
        return cls(settings.exclude, settings.include, settings.force, settings.submodules)


ALL = Patterns()


def _ignore_reason(reason: str) -> None:
    """Default callback: ignore."""


def list_files(root: Path, patterns: Patterns = ALL, tell: Tell = _ignore_reason) -> Iterator[str]:
    """The project paths that git's ignore rules, `.ragignore` and the settings leave; unsorted, without reading any.

    `tell` hears why git does not answer, and which ignore files cannot be read.
    """
    is_left = _left_by_settings(root, patterns, tell)
    linked: dict[str, bool] = {}
    # git tracks, and lists, a file to which a link in its folder's place leads now.
    listed = filter(is_inner_path, _Listing(root, patterns, tell).of(root))
    return (path for path in listed if not is_behind_link(root, path, linked) and is_left(path))


def admitted(root: Path, paths: Sequence[str], patterns: Patterns = ALL) -> set[str]:
    """The paths among `paths` that neither the ignore rules nor their names exclude; they need not exist."""
    is_left = _left_by_settings(root, patterns, _ignore_reason)
    real, rules = _real_paths(root, paths), FileRules(forced=patterns.forced)
    kept = {path for path in real.values() if is_left(path) and not reason_by_name(path, rules)}
    kept = _admit(root, kept, patterns, is_folder=False)
    return {path for path, place in real.items() if place in kept and not reason_by_name(path, rules)}


def admitted_folders(root: Path, folders: Sequence[str], patterns: Patterns = ALL) -> set[str]:
    """The folders among `folders` that the rules do not exclude; single files in them may still be excluded."""
    is_left = _left_by_settings(root, Patterns(patterns.exclude), _ignore_reason)
    return _admit(
        root,
        [folder for folder in folders if (not folder or is_inner_path(folder)) and is_left(folder + "/")],
        patterns,
        is_folder=True,
    )


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
        if (inside := folders[folder]) is not None and is_inner_path(path) and is_inner_path(inside + name):
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
    # The case of letters does not count in patterns of files to read, so `*.TS` does not empty the index.
    included = compiled(include, folds_case=True, too_long="") if include else None

    def is_left(path: str) -> bool:
        folded = fold_path(path, case=folds_case)
        # The settings come after the files: their `!` takes back what a file says.
        said = excluded.check_file(folded).include if exclude else None
        return (
            not is_named(path, said is False)
            and not said
            and (included is None or included.match_file(fold_path(path, case=True)))
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

    named = {"": False}

    def is_folder_named(folder: str) -> bool:
        for each in unknown_folders(folder, named):
            named[each] = named[each.rpartition("/")[0]] or rules.ignores(each + "/")
        return named[folder]

    def is_named(path: str, taken_back: bool) -> bool:
        folder = path.rstrip("/").rpartition("/")[0]
        if taken_back:
            return any(spec.patterns is None for spec in rules.inside(folder))
        return is_folder_named(folder) or rules.ignores(path)

    return is_named


# --- listing


class _Listing:
    """Lists the files of a tree, and of the repositories in it that are read with it.

    Below a folder without a repository these are all, and else the submodules. Another one is one name, as is a folder that
    cannot be read.
    """

    def __init__(self, root: Path, patterns: Patterns, tell: Tell) -> None:
        self._root = root
        self._tell = tell
        self._enters_all = find_repository(root) is None
        self._enters_submodules = patterns.submodules
        self._depth = 0

    def of(self, folder: Path) -> Iterator[str]:
        """The files below a folder, by their paths in it."""
        repository = find_repository(folder)
        if repository is None:
            yield from self._walk(folder, IgnoreRules(folder, None, self._tell), counts_inside=True)
            return
        try:
            yield from self._by_git(folder)
        except GitSilent as silent:
            self._tell(f"{silent.reason}: {_WITHOUT_GIT}" + f"; {silent.remedy}" * bool(silent.remedy))
            rules = IgnoreRules(folder, repository, self._tell)
            if not rules.excludes(""):
                yield from self._walk(folder, rules, counts_inside=False)

    def _by_git(self, folder: Path) -> Iterator[str]:
        files, submodules, others = _git_files(folder)
        yield from files
        for path in submodules:
            yield from self._inner(folder, path, is_submodule=True)
        for path in others:
            yield from self._inner(folder, path, is_submodule=False)

    def _inner(self, folder: Path, path: str, *, is_submodule: bool) -> Iterator[str]:
        """The files of a repository inside another one, or the repository as one name."""
        place = folder / path
        is_entered = self._enters_submodules if is_submodule else self._enters_all
        is_other = not is_repository_top(place) or not is_inside(folder, path) or is_linked_work_tree(place)
        if not is_entered or is_other or self._depth == _MAX_DEPTH:
            yield path
            return
        self._depth += 1
        yield from (f"{path}/{inner}" for inner in self.of(place))
        self._depth -= 1

    def _walk(self, top: Path, rules: IgnoreRules, *, counts_inside: bool) -> Iterator[str]:
        """All files below a folder that the rules leave, without git. A folder's count inside its repositories too."""
        submodules = list_submodules(top)
        pending = [""]
        while pending:
            folder = pending.pop()
            if folder and is_repository_top(top / folder):
                path = folder.rstrip("/")
                inner = self._inner(top, path, is_submodule=path in submodules)
                yield from (name for name in inner if not (counts_inside and rules.excludes(name)))
                continue
            try:
                entries = list(os.scandir(top / folder))
            except OSError:
                if folder:
                    yield folder.rstrip("/")
                continue
            if {"HEAD", "objects", "refs"} <= {entry.name for entry in entries} and is_git_folder(top / folder):
                if not folder:
                    self._tell(f"{top} is a bare repository: no files are checked out in it; {_CHECK_OUT}")
                continue
            for entry in entries:
                path = f"{folder}{entry.name}"
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.name == DOT_GIT or rules.ignores(path + "/" * is_folder):
                    continue
                if not is_folder:
                    yield path
                elif entry.name not in _NEVER_WALKED:
                    pending.append(path + "/")


def _git_files(root: Path) -> tuple[list[str], list[str], list[str]]:
    """The tracked and untracked files that git does not ignore, the submodules, and other repositories. Raises `GitSilent`.

    Folders that git cannot open (for want of a right, or at the end of a path that is too long) are among the files.
    """
    complaints: list[bytes] = []
    listed = list_by_git(
        root, "ls-files", "-co", "-t", "--stage", "--exclude-standard", "-z", timeout_s=_GIT_S, complaints=complaints
    )
    # For a tracked file: tag, mode, object and stage, then a tab and the name; a file with an unfinished merge comes several
    # times.
    tracked, submodules, untracked = dict[str, None](), dict[str, None](), list[str]()
    for entry in listed:
        if entry.startswith(b"? "):
            untracked += filter(_is_listed, [os.fsdecode(entry[2:])])
            continue
        facts, _, told = entry.partition(b"\t")
        if is_inner_path(name := os.fsdecode(told)):
            (submodules if facts[2:].startswith(LINK_MODE) else tracked)[name] = None
    for name in filter(_is_listed, map(os.fsdecode, _NOT_OPENED.findall(b"".join(complaints)))):
        untracked += _complete_path(root, name)
    names = (*tracked, *untracked)
    heads = (name.removesuffix("/HEAD") for name in names if name.endswith("/HEAD"))
    left_out = {"": False, DATA_FOLDER: True, **{folder: True for folder in heads if is_git_folder(root / folder)}}

    def is_left_out(folder: str) -> bool:
        for each in unknown_folders(folder, left_out):
            left_out[each] = left_out[each.rpartition("/")[0]]
        return left_out[folder]

    left = [name for name in names if not is_left_out(name.rpartition("/")[0])]
    # A name with a slash at its end is another repository inside this one.
    return (
        [name for name in left if not name.endswith("/")],
        list(submodules),
        [name[:-1] for name in left if name.endswith("/")],
    )


def _is_listed(path: str) -> bool:
    """Whether a path, at whose end a slash stands for a folder, may be one of the project."""
    return is_inner_path(path.removesuffix("/"))


def _complete_path(root: Path, path: str) -> list[str]:
    """The folders that a path which git told may mean: it is cut off where none is there."""
    folder, _, start = path.rpartition("/")
    try:
        if os.path.lexists(root / path):
            return [path]
        return [f"{folder}/{name}".lstrip("/") for name in os.listdir(root / folder) if name.startswith(start)]
    except OSError:
        return [path]


# --- single paths


def _admit(root: Path, paths: Iterable[str], patterns: Patterns, *, is_folder: bool) -> set[str]:
    """The paths that the rules of the repositories that they are in leave."""
    tree = _Folders(root, patterns)
    by_place: dict[str, dict[str, str]] = {}
    for path in paths:
        # Judge a folder together with its content.
        place = tree.place_of(path + "/" * is_folder)
        if place is not None:
            by_place.setdefault(place, {})[path[len(place) :]] = path
    kept: set[str] = set()
    for place, inside in by_place.items():
        kept.update(inside[path] for path in _left_by_rules(root / place, list(inside), is_folder=is_folder))
    if not any(by_place) or find_repository(root) is not None:
        return kept
    # The rules of the folders around a repository count as well.
    outer = IgnoreRules(root, None, _ignore_reason)
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
    rules = IgnoreRules(root, repository, _ignore_reason)
    return {path for path in paths if not rules.excludes(path, is_folder=is_folder)}


def _git_ignored(root: Path, paths: Sequence[str]) -> set[str]:
    """The paths among `paths` that git ignores. Raises `GitSilent`."""
    given = b"\0".join(os.fsencode(path) for path in paths if path)
    # 0: some are ignored; 1: none is.
    found = ask_git(root, "check-ignore", "-z", "--stdin", given=given, codes=(0, 1), timeout_s=_GIT_S)
    return {os.fsdecode(name) for name in found.split(b"\0") if name}


class _Folders:
    """The folders of a project that lead to some paths: which of them are listed, and which hold a repository."""

    def __init__(self, root: Path, patterns: Patterns) -> None:
        self._root = root
        self._enters_all = find_repository(root) is None
        self._enters_submodules = patterns.submodules
        self._places: dict[str, str | None] = {"": ""}

    def place_of(self, path: str) -> str | None:
        """The innermost repository below the root that a path is in, as a folder with `/` at its end; empty for none.

        None for a path that no listing comes to. A folder's path ends with `/`.
        """
        return self._of(path.rpartition("/")[0])

    def _of(self, folder: str) -> str | None:
        for each in unknown_folders(folder, self._places):
            above, _, name = each.rpartition("/")
            place, file = self._places[above], self._root / each
            if name in _NEVER_WALKED or is_git_folder(file):
                place = None
            elif place is not None and is_repository_top(file):
                place = each + "/" if self._is_entered(place, each) else None
            self._places[each] = place
        return self._places[folder]

    def _is_entered(self, outer: str, folder: str) -> bool:
        place = self._root / folder
        if is_linked_work_tree(place):
            return False
        if self._enters_all and (self._enters_submodules or not outer):
            return True
        is_inner = is_submodule(self._root / outer, folder[len(outer) :])
        return self._enters_submodules if is_inner else self._enters_all
