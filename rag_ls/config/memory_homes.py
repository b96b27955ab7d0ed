"""Homes: folders in the user's data that keep the memories of projects, each with a record of the projects that use it."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from filelock import FileLock

from rag_ls.config.identity import MEMORIES_STORE, Identity, identity_of, is_number
from rag_ls.config.trust import TrustedFolders, is_equal, text_seal
from rag_ls.errors import StoreUnavailable
from rag_ls.project import DATA_FOLDER, Project, describe_unreadable, make_private_folder
from rag_ls.util.decoding import read_json
from rag_ls.util.files import create_private_file, means_nothing_there, read_regular, whole_file
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import asdict, dataclass, field, fields, replace

_log = logging.getLogger(__name__)

FOLDER = "projects"
POINTER = "memories.id"
"""The file in a project's data folder that names the home of its memories."""
_RECORD = "home.json"
_ID = lazy_pattern(r"[0-9a-f]{32}")
_LOCK_S = 30.0
_MAX_ROOTS = 100


@dataclass(frozen=True, slots=True)
class ClonedRepository:
    """A clone of a repository whose memories are in a home. The fields are those of `Identity`."""

    remote: str = ""
    first: str = ""
    number: str = ""


@dataclass(frozen=True, slots=True)
class Home:
    """One set of memories, and the projects that use it."""

    id: str
    folder: Path
    inside: str = ""
    """As `Identity.inside`."""
    roots: tuple[str, ...] = ()
    """The root folders of the projects that used it, the latest last."""
    places: dict[str, ClonedRepository] = field(default_factory=dict)
    """The clones that used it, by the path of git's folder."""
    number: str = ""
    """As `Identity.number`, of the folder without git that used it last."""
    waits_for: str = ""
    """The id of the home of other clones with the same remote. Both are united once the user trusts the folder."""
    removed_at: str = ""
    """The time when the user deleted the memories, or united them with another home's. Copies of them are not imported again."""

    @property
    def name(self) -> str:
        """The name of the project that used it last, for display."""
        return Path(self.roots[-1]).name if self.roots else self.id

    @property
    def is_left(self) -> bool:
        """Whether none of the projects that used it exists any more."""
        return not any(os.path.isdir(root) for root in self.roots)


class MemoryHomes:
    """All homes of a user. Safe from several processes; a caller that finds and then creates a home holds `lock`."""

    def __init__(self, folder: Path, trusted: TrustedFolders) -> None:
        """`folder` is made with the first home. In `trusted` folders, a pointer that another user wrote counts too."""
        self._folder = folder
        self._trusted = trusted

    def lock(self) -> FileLock:
        """A lock that keeps other processes from making or changing homes. Raises `OSError`."""
        make_private_folder(self._folder)
        create_private_file(self._folder / ".lock")
        return FileLock(self._folder / ".lock", timeout=_LOCK_S, mode=0o600)

    def trusts(self, project: Project) -> bool:
        """Whether the user trusts a project's folder, and so what came with it."""
        return self._trusted.trusts(project.root)

    def read_pointer(self, project: Project) -> str:
        """The id of the home that a project's data folder names; empty without one.

        Outside trusted folders, only a pointer with this user's seal counts: without it, a folder could name the home of another
        project and be shown its memories.
        """
        found, seal = _find_sealed_pointer(project)
        return found if is_equal(seal, text_seal(POINTER, found)) or (found and self.trusts(project)) else ""

    def has_foreign_pointer(self, project: Project) -> bool:
        """Whether a project's data folder names a home that processes of another user or another `HOME` made."""
        return bool(_find_sealed_pointer(project)[0]) and not self.read_pointer(project)

    def all(self) -> list[Home]:
        """Every home, also those whose memories were removed. Raises `StoreUnavailable` if a folder or record cannot be read."""
        try:
            names = sorted(entry.name for entry in os.scandir(self._folder) if _ID.fullmatch(entry.name))
        except OSError as error:
            if means_nothing_there(error):
                return []
            raise _make_unavailable(error) from error
        return [home for name in names if (home := self._read(name)) is not None]

    def called(self, home_id: str) -> Home | None:
        """The home with an id. Raises `StoreUnavailable` if its record cannot be read."""
        return self._read(home_id) if _ID.fullmatch(home_id) else None

    def find(self, project: Project) -> Home | None:
        """The home of a project's memories, if there is one. In a trusted folder, a home that it claims by its remote comes first.

        Raises `StoreUnavailable` if homes cannot be read: a new home would hide the memories in them.
        """
        own = self.find_own(project)
        return (self.find_claimed(project, own) if self.trusts(project) else None) or own

    def find_own(self, project: Project) -> Home | None:
        """The home that a pointer with the user's seal names, or that `find_proven` finds by evidence that no folder can forge."""
        who = identity_of(project.root)
        pointed = self.called(self.read_pointer(project))
        if pointed is not None and not pointed.removed_at and is_of(pointed, who):
            return pointed
        return find_proven(self._find_kept(), who)

    def find_claimed(self, project: Project, own: Home | None) -> Home | None:
        """The home that a project claims by its remote alone, which is no proof: any folder can name a remote.

        `own` is the home that is proven to be the project's, if there is one.
        """
        if own is not None:
            return next((home for home in self._find_kept() if home.id == own.waits_for), None)
        found = find_claimants(self._find_kept(), identity_of(project.root))
        if self.trusts(project) and os.path.realpath(project.root) not in self._trusted.folders():
            # The user trusted a folder above and was not shown these homes. Those of other untrusted folders are left out:
            # sharing a home would show them the memories of this folder.
            found = [home for home in found if home.is_left or any(map(self._trusted.trusts, map(Path, home.roots)))]
        kept = {home.id for home in self._find_kept()}
        return _latest(home for home in found if home.waits_for not in kept)

    def _find_kept(self) -> list[Home]:
        return [home for home in self.all() if not home.removed_at]

    def made_without_git(self, home: Home, who: Identity) -> list[Home]:
        """Homes that were made for a project while its repository, whose memories are in `home`, could not be identified."""
        if not home.places:
            return []
        return [each for each in self._find_kept() if each.roots == (who.root,) and not each.places]

    def create(self, who: Identity, wanted_id: str = "", waits_for: str = "") -> Home:
        """Make a home for a project, with the id `wanted_id` if no home has it yet. Raises `OSError`."""
        is_free = _ID.fullmatch(wanted_id) is not None and self.called(wanted_id) is None
        home_id = wanted_id if is_free else uuid.uuid4().hex
        return self.note(Home(home_id, self._folder / home_id, who.inside, waits_for=waits_for), who)

    def note(self, home: Home, who: Identity) -> Home:
        """Record that a project uses a home. Raises `OSError`."""
        roots = tuple(root for root in home.roots if root != who.root)
        noted = replace(home, roots=(*roots, who.root)[-_MAX_ROOTS:])
        if who.common:
            place = ClonedRepository(who.remote, who.first, who.number)
            noted = replace(noted, places={**home.places, who.common: place})
        else:
            noted = replace(noted, number=who.number)
        if not home.roots:
            # The record of the home was damaged, so `inside` is missing.
            noted = replace(noted, inside=who.inside)
        if replace(noted, roots=home.roots) != home or frozenset(noted.roots) != frozenset(home.roots):
            self._write(noted)
        return noted

    def discard(self, home: Home) -> None:
        """Remove a home that was just made and is empty."""
        with contextlib.suppress(OSError):
            (home.folder / _RECORD).unlink()
            home.folder.rmdir()

    def note_removed(self, home: Home, at: str) -> None:
        """Record that the user had the memories of a home deleted, or that another home has them. Raises `OSError`."""
        self._write(replace(home, removed_at=at))

    def _read(self, home_id: str) -> Home | None:
        folder = self._folder / home_id
        try:
            record = read_json((folder / _RECORD).read_text(encoding="utf-8"))
            return _parse_home(home_id, folder, record)
        except OSError as error:
            if means_nothing_there(error):
                return None
            raise _make_unavailable(error) from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            # The pointer of a project can still name this home.
            _log.warning("whose memories are in %s cannot be told, its record is damaged: %r", folder, error)
            return Home(home_id, folder)

    def _write(self, home: Home) -> None:
        make_private_folder(home.folder)
        # Keep the keys that a newer version wrote.
        former = _read_record(home.folder)
        held = former.get("places", {})
        places = {common: {**held.get(common, {}), **asdict(place)} for common, place in home.places.items()}
        record = {
            **former, "inside": home.inside, "roots": home.roots, "removed_at": home.removed_at, "places": places,
            "number": home.number, "waits_for": home.waits_for,
        }  # fmt: skip
        with whole_file(home.folder / _RECORD) as stream:
            stream.write(json.dumps(record, indent=2) + "\n")


def _make_unavailable(error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f"whose memories are kept here cannot be told: {describe_unreadable(error)}", MEMORIES_STORE
    )


def _pointer_folders(project: Project) -> tuple[Path, ...]:
    """The folders that may hold a project's pointer: its data folder, and the one in its root, which moves with the project."""
    return tuple(dict.fromkeys((project.data_folder, project.root / DATA_FOLDER)))


def _find_sealed_pointer(project: Project) -> tuple[str, str]:
    """The home's id and its seal, as a project's pointer file has them; both empty without one."""
    return next(filter(all, map(_read_pointer_file, _pointer_folders(project))), ("", ""))


def _read_pointer_file(folder: Path) -> tuple[str, str]:
    if folder.is_symlink():
        return "", ""
    try:
        found, _, seal = read_regular(folder / POINTER, 1000, follow=False).decode("ascii").strip().partition(" ")
    except (OSError, UnicodeDecodeError):
        return "", ""
    return (found, seal) if _ID.fullmatch(found) else ("", "")


def write_pointer(project: Project, home: Home) -> None:
    """Write the pointer to a home into a project's folders. A folder that cannot be written gets none: the home's record names it."""
    wanted = (home.id, text_seal(POINTER, home.id))
    for folder in _pointer_folders(project):
        is_elsewhere = folder != project.data_folder
        if _read_pointer_file(folder) == wanted or (is_elsewhere and folder.is_symlink()):
            continue
        # A project with a long path has its data folder elsewhere; the folder in its root is made for the pointer alone.
        with contextlib.suppress(OSError):
            if is_elsewhere:
                make_private_folder(folder)
                create_private_file(folder / ".gitignore", "*\n")
            with whole_file(folder / POINTER) as stream:
                stream.write(" ".join(wanted) + "\n")


def find_proven(homes: Iterable[Home], who: Identity) -> Home | None:
    """The home of a project without a pointer: the one that this folder used at this path, else at its former path.

    A path alone proves nothing: another folder may be there now. An inode alone proves nothing: disks reuse the numbers.
    """
    alike = [home for home in homes if home.inside == who.inside]
    if not who.common:
        plain = [home for home in alike if who.root in home.roots and not home.places]
        return _latest(home for home in plain if not home.number or is_number(home.number, who.number))
    if not who.first:
        return None
    known = [
        home
        for home in alike
        if _is_place_of(home.places.get(who.common), who) and not _became_another_project(home, who)
    ]
    return _latest(known) or _latest(home for home in alike if _has_moved(home, who))


def find_claimants(homes: Iterable[Home], who: Identity) -> list[Home]:
    """The homes of repositories that share a project's `origin`, are its `origin`, or have the project as theirs."""
    alike = [home for home in homes if home.inside == who.inside]
    named = {who.remote} - {""}
    return [
        home for home in alike
        if named & (_remotes(home) | home.places.keys()) or (who.common and who.common in _remotes(home))
    ]  # fmt: skip


def is_of(home: Home, who: Identity) -> bool:
    """Whether a home that a project's pointer names is still the project's: nothing shows that it is another project's.

    A copied folder takes its pointer along, and may become another project.
    """
    remotes = _remotes(home)
    if not who.common or not home.places or (who.remote and who.remote in remotes | set(home.places)):
        return True
    if who.common in home.places:
        return not _became_another_project(home, who)
    if who.remote and remotes:
        return False
    firsts = {place.first for place in home.places.values() if place.first}
    numbers = {place.number for common, place in home.places.items() if not os.path.isdir(common)}
    is_alike = who.first in firsts or not (who.first and firsts)
    return is_alike or who.common in remotes or any(is_number(number, who.number) for number in numbers - {""})


def _is_place_of(place: ClonedRepository | None, who: Identity) -> bool:
    """Whether a repository's log begins with the entry that the home's record has."""
    return place is not None and place.first == who.first


def _became_another_project(home: Home, who: Identity) -> bool:
    """Whether a repository's `origin` was changed while other clones keep the former one: it has become another project."""
    here = home.places[who.common]
    others = {place.remote for common, place in home.places.items() if common != who.common}
    return bool(who.remote and here.remote) and who.remote not in _remotes(home) and here.remote in others


def _has_moved(home: Home, who: Identity) -> bool:
    """Whether git's folder was moved on the same disk since the home recorded it."""
    return any(
        place.first == who.first and is_number(place.number, who.number) and place.remote in ("", who.remote) and not os.path.isdir(common)
        for common, place in home.places.items()
    )  # fmt: skip


def _remotes(home: Home) -> set[str]:
    return {place.remote for place in home.places.values() if place.remote}


def _latest(homes: Iterable[Home]) -> Home | None:
    """The home whose record was written last."""
    return max(homes, key=_find_write_time, default=None)


def _find_write_time(home: Home) -> tuple[int, str]:
    try:
        return (home.folder / _RECORD).stat().st_mtime_ns, home.id
    except OSError:
        return 0, home.id


def _read_record(folder: Path) -> dict[str, Any]:
    """The whole record of a home; empty if it is missing or damaged."""
    try:
        record = read_json((folder / _RECORD).read_text(encoding="utf-8"))
        _parse_home("", folder, record)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}
    return dict(record)


def _parse_home(home_id: str, folder: Path, record: dict[str, Any]) -> Home:
    # Skip the values that a newer version added to a repository.
    known = [each.name for each in fields(ClonedRepository)]
    places = {
        str(common): ClonedRepository(*(str(each.get(name, "")) for name in known))
        for common, each in record["places"].items()
    }
    return Home(
        id=home_id, folder=folder, inside=str(record["inside"]), roots=tuple(map(str, record["roots"])), places=places,
        number=str(record.get("number", "")), waits_for=str(record.get("waits_for", "")), removed_at=str(record["removed_at"]),
    )  # fmt: skip
