"""A project's memories: found by whose they are, and copied to the project's data folder.

They live in the user's data, where no `git clean`, no removed work tree and no deleted checkout reaches them, one set for
all work trees and clones of a repository. The copy serves where the user's data is lost: a container that is thrown away.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from filelock import Timeout

from rag_ls.config import Home, MemoryHomes, Settings, find_claimants, identity_of, write_pointer
from rag_ls.errors import RagLsError, StoreUnavailable
from rag_ls.memory.uniting import United, unite
from rag_ls.model import Scope
from rag_ls.project import Project
from rag_ls.storage import (
    Connections,
    MemoryStore,
    count_memories,
    has_memory_file,
    holds_memories,
    is_sealed_copy,
    open_memories,
    open_memory_copy,
    set_copy_aside,
    take_over_memories,
)
from rag_ls.util.paths import file_identity, is_same_file
from rag_ls.util.records import dataclass
from rag_ls.util.text import fold, utc_stamp

_log = logging.getLogger(__name__)

# Writing the copy takes at most a twentieth of the time, and happens at most this often.
_COPY_EVERY_S = 3.0
_PAUSES_PER_COPY = 20
_MAX_LEFT = 3
_MAX_NAME_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class MemoryLocation:
    """The place of a project's memories."""

    home: Home | None
    """None where the user's data cannot be written: they are in the project's data folder then."""
    folder: Path
    was_copied: bool = False
    """Whether its store was made of the copy in the project."""
    note: str = ""
    strays: tuple[Path, ...] = ()
    """Other folders with memories of a project at this root."""
    had_root: bool = False
    """Whether the home had memories of this root before, so that what strays hold now was stored meanwhile."""
    awaited: Home | None = None
    """The home of clones with the same remote, which waits until the folder is trusted."""
    left: Home | None = None
    """The project's own home until now, whose memories go to `home`: the folder is trusted."""


class ProjectMemories:
    """The open memories of a project. Safe from several threads."""

    def __init__(self, project: Project, settings: Settings, homes: MemoryHomes, connections: Connections) -> None:
        """Find the memories, or make a place for them. Raises `StoreDamaged` and `StoreUnavailable`."""
        self._project = project
        self._homes = homes
        self._lock = threading.Lock()
        found = find_or_make(project, homes)
        self._is_awaited = found.awaited is not None
        self.folder = found.folder
        self.store: MemoryStore = open_memories(found.folder, Scope.PROJECT, settings, connections)
        self._identity = file_identity(self.store.place)
        self._copy = open_memory_copy(project.data_folder, self.store) if found.home else None
        self._due_at = 0.0
        self._said = ""
        self.waiting = 0
        """The number of memories that came with the folder, and wait until it is trusted."""
        self._note = found.note
        if found.home is not None and found.left is not None:
            self._take_in(found.left, found.home, settings, connections)
        self.exchange(is_taken=found.was_copied)
        for folder in found.strays:
            self._take_stray(folder, is_new=found.had_root)
        if awaited := tell_awaited(project, homes):
            self._note = "; ".join(filter(None, (self._note, f"{awaited}: {UNITE_REMEDY}")))
        elif not self.store.count():
            self._note = self._note or _left_behind(homes, project, self.folder)

    @property
    def is_lost(self) -> bool:
        """Whether the opened file was deleted or replaced."""
        return not is_same_file(self.store.place, self._identity)

    @property
    def is_elsewhere(self) -> bool:
        """Whether the project's memories are others by now: its folder is trusted, and other clones have some."""
        return self._is_awaited and self._homes.trusts(self._project)

    def _take_in(self, left: Home, home: Home, settings: Settings, connections: Connections) -> None:
        """Unite the memories that a folder had before it was trusted with those of the other clones."""
        own = open_memories(left.folder, Scope.PROJECT, settings, connections)
        try:
            united, stamp = _unite_now(self.store, own)
        finally:
            own.close()
        with self._homes.lock():
            write_pointer(self._project, home)
            self._homes.note_removed(left, stamp)
        self._note_united(left.folder, united)

    def take_note(self) -> str:
        """The events of the memories, in words for the user; told once."""
        with self._lock:
            note, self._note = self._note, ""
        return note

    def take_in_trusted(self) -> None:
        """Take in the memories that waited, if the folder is trusted by now."""
        if self.waiting and self._homes.trusts(self._project):
            self.exchange()

    def exchange_if_due(self) -> None:
        """As `exchange`, but not too often."""
        if time.monotonic() >= self._due_at:
            self.exchange()

    def exchange(self, *, is_taken: bool = False) -> None:
        """Take in what another process wrote to the copy in the project, then bring the copy up to date.

        `is_taken` says that the store was just made of it. A failure is only logged: the memories are safe.
        """
        if self._copy is None or not self._project.data_folder.is_dir():
            return
        started = time.monotonic()
        united: list[United] = []
        take = partial(_unite_into, united)

        with self._lock:
            try:
                done = self._copy.exchange(take, is_taken=is_taken, is_trusted=self._homes.trusts(self._project))
            except (RagLsError, OSError) as error:
                _log.warning("the copy of the memories in %s was not written: %s", self._project.data_folder, error)
                return
            finally:
                now = time.monotonic()
                self._due_at = now + max(_COPY_EVERY_S, _PAUSES_PER_COPY * (now - started))
            self.waiting = done.waiting
            problem = done.problem or (
                f"{tell_waiting(self._project, done.waiting)}: {TRUST_REMEDY}" if done.waiting else ""
            )
            if problem and problem != self._said:
                self._said = self._note = problem
                _log.warning("%s", problem)
            if done.taken and united:
                self._note_united(self._project.data_folder, united[0])

    def _take_stray(self, folder: Path, *, is_new: bool) -> None:
        """Take in what was stored in another folder while this one could not be told to be the project's; that one stays as it is."""
        united: list[United] = []
        try:
            if open_memory_copy(folder, self.store).take(partial(_unite_into, united) if is_new else None):
                self._note_united(folder, united[0])
        except (RagLsError, OSError) as error:
            self._note = f"memories in {folder} may be this project's, and cannot be read: {error}"

    def _note_united(self, taken: Path, counts: United) -> None:
        self._note = (
            f"the memories in {taken} were united with those in {self.folder}: {counts.added:,} added, "
            f"{counts.changed:,} changed, {counts.deleted:,} deleted"
        )
        _log.info("%s", self._note)

    def close(self, *, is_lost: bool = False) -> None:
        """Close them. Of a project that `is_lost` nothing is written any more."""
        if not is_lost:
            self.exchange()
        self.store.close()


def _unite_now(store: MemoryStore, other: MemoryStore) -> tuple[United, str]:
    """Take into `store` what `other` holds; the numbers of changes, and the time."""
    stamp = utc_stamp(datetime.now(UTC))
    return unite(store, other, stamp), stamp


def _unite_into(united: list[United], store: MemoryStore, other: MemoryStore) -> None:
    united.append(_unite_now(store, other)[0])


UNITE_REMEDY = "`rag-ls trust` unites them with those of this folder, if you know that it is a clone of yours"
TRUST_REMEDY = "`rag-ls trust` takes in what the folder brought, if you know who wrote it; else delete the file"


def tell_waiting(project: Project, count: int) -> str:
    """The message about memories that came with a folder."""
    is_one = count == 1
    file = project.data_folder / "memories.db"
    return f"{count:,} {'memory' if is_one else 'memories'} came with the folder, in {file}, and {'waits' if is_one else 'wait'}"


def tell_awaited(project: Project, homes: MemoryHomes) -> str:
    """The message about memories of other clones, which wait while the remote alone says that a folder is one too.

    Empty where there are none. Opens no store.
    """
    home = None if homes.trusts(project) else homes.find_claimed(project, homes.find_own(project))
    count = count_memories(home.folder) if home is not None else 0
    if home is None or not count:
        return ""
    is_one = count == 1
    name = fold(identity_of(project.root).remote, _MAX_NAME_CHARACTERS) or home.name
    place = f", kept for {fold(home.roots[-1])}," if home.roots else ""
    return f"{count:,} {'memory' if is_one else 'memories'} of {name}{place} {'waits' if is_one else 'wait'}"


def count_foreign(project: Project, homes: MemoryHomes) -> int | None:
    """The number of memories in a project's folder that no process of this user wrote there; None if they cannot be read.

    Nothing of a trusted folder is foreign. Opens no store.
    """
    folder = project.data_folder
    if not holds_memories(folder) or homes.trusts(project) or is_sealed_copy(folder):
        return 0
    return count_memories(folder)


def find_or_make(project: Project, homes: MemoryHomes) -> MemoryLocation:
    """The place of a project's memories; makes a home for them where there is none, of those in its data folder.

    Raises `StoreDamaged` for damaged ones there, which stay as they are, and `StoreUnavailable`.
    """
    try:
        with homes.lock():
            return _find_memories(project, homes)
    except Timeout as error:
        raise StoreUnavailable(
            f"another process has been looking for the memories of {project.root} for too long; try again",
            "project memories",
        ) from error
    except OSError as error:
        if (home := homes.find(project)) is not None and has_memory_file(home.folder):
            return MemoryLocation(home, home.folder)
        _log.warning("the memories of %s stay in it: the user's data cannot be written: %s", project.root, error)
        note = (
            f"the memories are in {project.data_folder} alone, since the user's data cannot be written: {error}; "
            "once it can, `rag-ls trust` takes them in"
        )
        return MemoryLocation(None, project.data_folder, note=note)


def memories_folder(project: Project, homes: MemoryHomes) -> Path:
    """The folder of a project's memories as it is now: its home, else its data folder. Changes nothing."""
    home = homes.find(project)
    return home.folder if home is not None and holds_memories(home.folder) else project.data_folder


def _find_memories(project: Project, homes: MemoryHomes) -> MemoryLocation:
    who, pointer, own = identity_of(project.root), homes.read_pointer(project), homes.find_own(project)
    claimed = homes.find_claimed(project, own)
    home, left = (claimed, own) if claimed is not None and homes.trusts(project) else (own, None)
    awaited = claimed if claimed is not home else None
    # Where another `HOME` of the user has its own memories, the data folder was there all the time.
    known_roots = home.roots if home and not homes.has_foreign_pointer(project) else ()
    is_copied = _may_take(project, homes, pointer) and (home is None or not has_memory_file(home.folder))
    if is_copied:
        # Opened before any file is made: damaged memories must be reported, not replaced.
        folder = home.folder if home else None
        home = home or homes.create(who, pointer, awaited.id if awaited else "")
        try:
            take_over_memories(project.data_folder, home.folder)
        except RagLsError:
            if folder is None:
                homes.discard(home)
            raise
    had_root = home is not None and who.root in home.roots
    home = homes.note(home, who) if home else homes.create(who, pointer, awaited.id if awaited else "")
    if left is None:
        write_pointer(project, home)
    others = [project.data_folder_elsewhere, *(each.folder for each in homes.made_without_git(home, who))]
    strays = tuple(each for each in others if each != project.data_folder and holds_memories(each))
    note = _note(project, home, known_roots, pointer, is_copied=is_copied)
    return MemoryLocation(home, home.folder, is_copied, note, strays, had_root=had_root, awaited=awaited, left=left)


def _may_take(project: Project, homes: MemoryHomes, pointer: str) -> bool:
    """Whether the data folder has memories to take over: this user's own, or those that came with a trusted folder.

    Those that the user had deleted are set aside.
    """
    known = homes.called(pointer) if pointer else None
    if known is not None and known.removed_at and holds_memories(project.data_folder):
        set_copy_aside(project.data_folder, f"removed-{known.id[:8]}")
    return holds_memories(project.data_folder) and (is_sealed_copy(project.data_folder) or homes.trusts(project))


def _note(project: Project, home: Home, roots: tuple[str, ...], pointer: str, *, is_copied: bool) -> str:
    root = str(project.root)
    if is_copied:
        return f"the memories of {project.data_folder} are in {home.folder} from now on, where no `git clean` reaches them; a copy stays"
    if not roots or pointer == home.id:
        return ""
    if root in roots:
        if project.why_elsewhere:
            return ""
        return f"{project.data_folder} was gone; its memories were kept in {home.folder}, and the index is made anew"
    others = [each for each in roots if os.path.isdir(each)]
    whose = f"shared with {others[-1]}" if others else f"of {roots[-1]}, which is gone"
    return f"the memories here are those {whose}: they are in {home.folder}, one set for all work trees and clones"


def _left_behind(homes: MemoryHomes, project: Project, folder: Path) -> str:
    """Names memories that may be this project's, of folders that are gone or of its own folder as another repository.

    Empty where there are none. `folder` holds those that the project has now.
    """
    root = str(project.root)
    kept = [
        home for home in homes.all() if home.folder != folder and not home.removed_at and holds_memories(home.folder)
    ]
    had = [f"those that {root} had before, in {home.folder / 'memories.db'}" for home in kept if root in home.roots]
    left = [
        f"those of {home.roots[-1]}, which is gone, in {home.folder / 'memories.db'}"
        for home in kept
        if home.is_left and home.roots and home.name == project.name
    ]
    shared = [
        f"those of {home.roots[-1]}, which names the same remote, in {home.folder / 'memories.db'}"
        for home in find_claimants(kept, identity_of(project.root))
        if home.roots and root not in home.roots and not home.is_left
    ]
    lines = [*had, *left, *shared][:_MAX_LEFT]
    if not lines:
        return ""
    return (
        f"memories are kept that may be this project's: {'; '.join(lines)}. If they are, "
        "`rag-ls restore --backup FILE` takes them over"
    )
