"""The places of a project's files and data, and the check that keeps every path inside the project."""

from __future__ import annotations

import contextlib
import os
import reprlib
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from rag_ls.errors import InvalidRequest, NotIndexed, PathOutsideProject, ProjectUnavailable
from rag_ls.locations import (
    account_home,
    indexes_folder,
    temporary_folder,
    user_data_folder,
    user_home,
    why_never_a_project,
    why_no_project_unasked,
)
from rag_ls.util.files import (
    clear_way,
    clear_way_for_folder,
    create_private_file,
    give_to_owner,
    kind_of,
    mode_at,
    read_regular,
    remedy_for,
)
from rag_ls.util.git import GitSilent, Silence, ask_git
from rag_ls.util.git_changes import list_differences
from rag_ls.util.paths import is_elsewhere
from rag_ls.util.records import dataclass
from rag_ls.util.repositories import DOT_GIT, find_repository, is_own_mark
from rag_ls.util.text import content_hash

DATA_FOLDER = ".rag-ls"
_INDEXES_FOLDER = "indexes"
CONFIG_FILE = "rag-ls.toml"
SESSIONS_FOLDER = "sessions"
# If a repository brought a link or a pipe of such a name, it is replaced by a file. Databases are checked when they are opened.
_OWN_FILES = (".gitignore", "index.lock", "memories.id", "memories.seal")
# A data folder in which one of these cannot be opened, because root made it, is of no use.
_USED_FILES = ("index.db", "index.db-wal", "index.db-shm", "index.lock", SESSIONS_FOLDER)
# The limit of Windows; other systems refuse shorter paths themselves.
_MAX_PATH_BYTES = 32_767
# SQLite opens no file whose path is longer than 504 bytes, except on Windows; the rest is for names of files in the folder.
_MAX_DATA_FOLDER_BYTES = 440 if os.name == "posix" else _MAX_PATH_BYTES
NO_REMOTE = "the project has no git remote `origin`, by which others would know it"


@dataclass(frozen=True, slots=True)
class Project:
    """One directory tree with one index."""

    root: Path
    """Absolute, symbolic links resolved."""

    @property
    def data_folder(self) -> Path:
        """The folder that holds the index and a copy of the project's memories: in the root, else in the user's data."""
        inside = self.root / DATA_FOLDER
        is_inside = indexes_folder() is None and len(os.fsencode(inside)) <= _MAX_DATA_FOLDER_BYTES
        return inside if is_inside and _can_hold_data(inside) else self.data_folder_elsewhere

    @property
    def data_folder_elsewhere(self) -> Path:
        """The folder for the data of a project whose own folder cannot hold them, or is not to hold them."""
        return _data_folder_elsewhere(self.root)

    @property
    def why_elsewhere(self) -> str:
        """The reason why the data are elsewhere although the project has a data folder, and the remedy; else empty."""
        is_elsewhere_by_need = indexes_folder() is None and self.data_folder.parent != self.root
        closed = _find_closed(self.root / DATA_FOLDER) if is_elsewhere_by_need else None
        if closed is None:
            return ""
        return (
            f"{closed} was made by another user (root, perhaps) and cannot be opened: the index is in {self.data_folder}, until "
            f"`sudo chown -R $(id -u) {shlex.quote(str(self.root / DATA_FOLDER))}` gives you that folder"
        )

    @property
    def name(self) -> str:
        """The root folder's name, for messages."""
        return self.root.name or str(self.root)

    def relative(self, path: str | os.PathLike[str]) -> str:
        """The project path (relative, with `/`) of an absolute or project-relative path.

        Raises `PathOutsideProject` for a path that leaves the root, also through a symbolic link.
        The file itself need not exist.
        """
        check_is_path(path)
        given = Path(path)
        absolute = given if given.is_absolute() else self.root / given
        lexical = Path(os.path.normpath(absolute))
        if is_elsewhere(lexical, self.root):
            raise PathOutsideProject(f"{os.fspath(path)!r} is on another machine; give a path below {self.root}")
        for candidate in (lexical, Path(os.path.realpath(lexical))):
            if not candidate.is_relative_to(self.root):
                break
        else:
            return lexical.relative_to(self.root).as_posix()
        resolved = Path(os.path.realpath(lexical))
        if resolved.is_relative_to(self.root):
            return resolved.relative_to(self.root).as_posix()
        raise PathOutsideProject(
            f"{os.fspath(path)!r} is outside the project {self.root}; give a path below that folder"
        )

    def create_data_folder(self, *, elsewhere: bool = False) -> Path:
        """Make the data folder, readable by the user alone and ignored by git; `elsewhere` if no index can be opened in it.

        Raises `ProjectUnavailable` when it cannot be made or written.
        """
        check_can_be_read(self.root)
        folder = self.data_folder_elsewhere if elsewhere else self.data_folder
        if why := why_never_a_project(self.root):
            raise ProjectUnavailable(f"{self.root} {why}: it is never a project; open the folder of your code")
        try:
            # A cloned repository may contain a link to any place.
            if (kind := kind_of(folder)) not in ("", "folder"):
                raise ProjectUnavailable(f"{folder} is a {kind}; remove it, rag-ls makes a folder there")
            make_private_folder(folder)
            for name in _OWN_FILES:
                clear_way(folder / name)
            clear_way_for_folder(folder / SESSIONS_FOLDER)
            create_private_file(folder / ".gitignore", "*\n")
            create_private_file(folder / "index.lock")
        except OSError as error:
            otherwise = "make the folder writable for you, or open a copy of the project that you own"
            if folder.parent != self.root:
                otherwise = f"{self.root} cannot hold the index either: set RAG_LS_HOME to a folder of your own"
            raise ProjectUnavailable(
                f"cannot write {error.filename or folder} ({error.strerror}); {remedy_for(error, otherwise)}"
            ) from error
        return folder


def _can_hold_data(folder: Path) -> bool:
    """Whether a data folder can be written, or made where there is none; what is no folder is refused where it is opened.

    A folder that cannot be looked at may hold data: another place for them would hide those.
    """
    try:
        kind, parent = kind_of(folder), mode_at(folder.parent)
    except OSError:
        return True
    if kind == "folder":
        return os.access(folder, os.W_OK | os.X_OK) and not _find_closed(folder)
    return bool(kind) or not stat.S_ISDIR(parent) or os.access(folder.parent, os.W_OK | os.X_OK)


def _find_closed(folder: Path) -> Path | None:
    """The path in a data folder, or that folder, which this user may not open: root, or another user, made it."""
    used = (folder, *(folder / name for name in _USED_FILES))
    there = (each for each in used if os.path.exists(each) and not os.path.islink(each))
    return next((each for each in there if not os.access(each, os.R_OK | os.W_OK)), None)


def _data_folder_elsewhere(root: Path) -> Path:
    """The folder for the data of a project whose own folder cannot hold them, or is not to hold them."""
    return (indexes_folder() or user_data_folder() / _INDEXES_FOLDER) / content_hash(str(root))[:32]


def current_branch(root: Path) -> str:
    """The git branch that is checked out around a project's root; empty without git or with a detached HEAD."""
    repository = find_repository(root)
    try:
        head = read_regular(repository.folder / "HEAD").decode() if repository else ""
    except (OSError, UnicodeDecodeError):
        return ""
    branch = head.partition("ref: refs/heads/")[2].strip()
    # git writes this if it stores branches in another format ("reftable").
    return "" if branch == ".invalid" else branch


def shared_name(root: Path) -> str:
    """A project's name for all who have it, wherever: the address of its git remote `origin`, else the folder's name.

    `git@github.com:acme/shop.git` and `https://github.com/acme/shop` are both `github.com/acme/shop`; a project that is a
    folder of a repository has its path there after `#`. Empty if git cannot be asked.
    """
    try:
        address = _decode(ask_git(root, "config", "--get", "remote.origin.url", codes=(0, 1)))
        folder = _decode(ask_git(root, "rev-parse", "--show-prefix"))
    except GitSilent as silent:
        if silent.kind is not Silence.NO_REPOSITORY:
            return ""
        address, folder = "", ""
    found = host_and_path(address)
    if found is None:
        return root.name or str(root)
    return "/".join(found) + (f"#{folder.strip('/')}" if folder else "")


def is_known_to_others(shared_name: str) -> bool:
    """Whether a project's `shared_name` is that of a remote: others may have another folder of a folder's name."""
    return "/" in shared_name


def current_commit(root: Path) -> str:
    """The commit that is checked out, with `+` behind it if files of the project differ from it, or may; empty without git."""
    try:
        commit = _decode(ask_git(root, "rev-parse", "HEAD"))
    except GitSilent:
        return ""
    try:
        differs = any(True for _ in list_differences(root, commit))
    except GitSilent:
        differs = True
    return commit + "+" * bool(commit and differs)


def _decode(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip()


def host_and_path(address: str) -> tuple[str, str] | None:
    """The host and path of a remote's address, without user, password and port; None if others could not use it."""
    scheme, separator, rest = address.partition("://")
    if separator:
        place, _, path = rest.partition("/")
        host = place.rpartition("@")[2].partition(":")[0]
        if scheme == "file":
            return None
    else:
        place, separator, path = address.partition(":")
        host = place.rpartition("@")[2]
        if not separator or "/" in place:
            return None
    path = path.strip("/").removesuffix(".git").strip("/")
    # The end of a tunnel, or a name with a slash in its password.
    is_usable = bool(host and path) and not host.startswith(("localhost", "127.", "[")) and "@" not in path
    return (host.lower(), path) if is_usable else None


def find_project(start: str | os.PathLike[str]) -> Project:
    """The project around `start`: the nearest folder upwards with `.rag-ls/` or `.git`, else `start` itself.

    Raises `ProjectUnavailable` if `start` is not an existing folder or file, or if that cannot be told.
    """
    place = _folder_at(start)
    return Project(find_marked_root(place) or place)


def existing_project(start: str | os.PathLike[str]) -> Project:
    """As `find_project`, for reading only. Raises `NotIndexed` if no folder upwards is marked as a project."""
    place = _folder_at(start)
    if (root := find_marked_root(place)) is not None:
        return Project(root)
    check_may_become_project(place)
    raise NotIndexed(
        f"{place} is no project: neither it nor a folder above holds .rag-ls or .git; `rag-ls index` makes it one"
    )


def find_marked_root(place: Path) -> Path | None:
    """The nearest folder at or above `place` that holds `.rag-ls/` or `.git`; in a shared folder only `.rag-ls/` counts.

    An entry that another user may have put there does not count: it would make the files there part of this user's project.
    Raises `ProjectUnavailable` where a folder cannot be looked at: another one would be taken for the root, without memories.
    """
    user_state = user_home()
    for folder in (place, *place.parents):
        with _naming_unreadable():
            if folder / DATA_FOLDER != user_state and _has_data_of(folder, place):
                return folder
            if stat.S_ISDIR(mode_at(_data_folder_elsewhere(folder))):
                return folder
            if is_own_mark(folder / DOT_GIT, place) and not is_shared_folder(folder):
                return folder
    return None


def check_can_be_read(root: Path) -> None:
    """Raise `ProjectUnavailable` for a project's folder that is gone, or that cannot be looked into just now."""
    with _naming_unreadable():
        is_there = stat.S_ISDIR(mode_at(root))
        kind_of(root / DATA_FOLDER)
    if not is_there:
        raise ProjectUnavailable(f"{root} is gone: it was deleted, moved or unmounted")


@contextlib.contextmanager
def _naming_unreadable() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ProjectUnavailable(describe_unreadable(error)) from error


def describe_unreadable(error: OSError) -> str:
    """The path that could not be looked at, the reason, and the remedy."""
    return (
        f"{error.filename} cannot be looked at ({error.strerror}): make it and its folder readable for you, or mount their "
        "drive, and ask again"
    )


def _has_data_of(folder: Path, place: Path) -> bool:
    """Whether a folder holds a `.rag-ls/` that counts for `place`. Raises `OSError` where that cannot be told."""
    data = folder / DATA_FOLDER
    return stat.S_ISDIR(mode_at(data)) and is_own_mark(data, place)


def is_shared_folder(folder: Path) -> bool:
    """Whether a folder holds unrelated things (home, the temporary folder, the root), and so is no project itself."""
    # `sudo` may leave HOME unchanged.
    homes = (os.path.expanduser("~"), account_home())
    shared = (*homes, temporary_folder(), "/tmp", folder.anchor)
    return str(folder) in {os.path.realpath(each) for each in shared}


def check_may_become_project(folder: Path) -> None:
    """Raise `NotIndexed` for a folder that may become a project only if the user says so."""
    if is_shared_folder(folder) and not _has_data_of(folder, folder):
        raise NotIndexed(
            f"{folder} holds all kinds of things and is no project by itself; open a folder in it, "
            "or say with `rag-ls index --force` that all of it is to be indexed"
        )
    if why := why_never_a_project(folder):
        raise NotIndexed(f"{folder} {why}: it is never a project; open the folder of your code")
    is_marked = is_own_mark(folder / DOT_GIT, folder) or _has_data_of(folder, folder)
    if not is_marked and (why := why_no_project_unasked(folder)):
        raise NotIndexed(
            f"{folder} {why} and is no project by itself; open the folder of your code, "
            "or say with `rag-ls index --force` that all of this one is to be indexed"
        )


def is_path(path: str | os.PathLike[str]) -> bool:
    """Whether a file can be called so: no name holds a NUL or half a character, or is longer than `_MAX_PATH_BYTES`."""
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return b"\0" not in encoded and len(encoded) <= _MAX_PATH_BYTES


def check_is_path(path: str | os.PathLike[str]) -> None:
    """Raise `InvalidRequest` for what no file can be called."""
    if not is_path(path):
        shown = reprlib.repr(os.fspath(path))
        raise InvalidRequest(f"{shown} is no path: it holds a NUL character or half a character, or is too long")


def check_is_folder(place: str | os.PathLike[str]) -> None:
    """Raise `InvalidRequest` for a file where a project's folder is meant: the folder around it may hold anything."""
    if os.path.isfile(place):
        raise InvalidRequest(
            f"{os.fspath(place)} is a file, and a project is a folder; give {Path(place).parent} if you mean all of it"
        )


def _folder_at(start: str | os.PathLike[str]) -> Path:
    check_is_path(start)
    place = Path(os.path.realpath(start))
    with _naming_unreadable():
        mode = mode_at(place)
    if stat.S_ISREG(mode):
        return place.parent
    if not stat.S_ISDIR(mode):
        raise ProjectUnavailable(f"{os.fspath(start)!r} is not a folder; give the path of an existing one")
    return place


def make_private_folder(folder: Path) -> None:
    """Create `folder` (and its parents) with access for the user alone."""
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for each in reversed(missing):
        give_to_owner(each)
    if stat.S_IMODE(folder.stat().st_mode) != 0o700:
        folder.chmod(0o700)


def is_guest(path: str, root: Path | None = None) -> bool:
    """Whether a document's path means none of the project's files: an absolute path or a URI.

    A file below `root` may be called as a URI is (`note:one.py`).
    """
    if path.startswith("/"):
        return True
    return ":" in path.split("/", 1)[0] and (root is None or not os.path.lexists(root / path))
