"""Compares a project's files with its index, and queues the differences."""

from __future__ import annotations

import itertools
import json
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from rag_ls.indexing.documents import DocumentIndexer
from rag_ls.indexing.files import FOR_ROOT_ALONE, UNREADABLE, file_state, is_examined
from rag_ls.indexing.ignore_files import NOT_CHECKED_OUT, is_sparse
from rag_ls.indexing.listing import Patterns, list_files
from rag_ls.model import Freshness
from rag_ls.project import Project
from rag_ls.storage import SCANNED, CheckoutIndex, DocumentRecord, FileState, Skipped
from rag_ls.util.path_globs import nearest_to_glob
from rag_ls.util.paths import project_file, unknown_folders
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass
from rag_ls.util.text import count_of, nearest_text, without_surrogates

_FINGERPRINT = "cutting"
_RULES_NOTE = "ignore rules"
_MOUNTS, _UNKNOWN = "mounts", "unknown"
# A pattern that matches nothing is compared with the names of this many files.
_MAX_COMPARED_FILES = 5000
_MOUNT_TABLE = Path("/proc/self/mounts")
_ESCAPED = lazy_pattern(rb"\\([0-7]{3})")
_UNMOUNTED = "not mounted"


@dataclass(frozen=True, slots=True)
class Scan:
    """The outcome of comparing the tree with the index."""

    files: int
    queued: int
    removed: int
    contested: int = 0
    """Files that were not found, and that somebody read or looked at meanwhile: only another comparison tells whether they are there."""


def scan_tree(
    project: Project,
    store: CheckoutIndex,
    documents: DocumentIndexer,
    patterns: Patterns,
    *,
    give_way: Callable[[], None] = lambda: None,
) -> Scan:
    """Queue every new or changed file, and drop files that are gone or ignored now. Documents whose files cannot be read now are kept.

    If the cutting settings changed since the last scan, every file is queued. `give_way` is called between files; an
    exception from it ends the scan and leaves the index as it was.
    """
    fingerprint, began_ns = documents.cutting.fingerprint, time.time_ns()
    cuts_anew = not is_cut_as_now(store, documents)
    stored, skipped = store.documents(), store.skipped()
    changed: list[tuple[str, int]] = []
    seen: set[str] = set()
    reasons: dict[str, None] = {}
    visibility = visibility_of(project.root, store)
    unknown: dict[str, str] = {}
    absent: list[str] = []
    for path in list_files(project.root, patterns, reasons.setdefault):
        give_way()
        state = file_state(project.root / path)
        if state is None:
            absent.append(path)
            continue
        if path != (shown := without_surrogates(path)):
            # git and the file system allow names that are not UTF-8; the store does not.
            store.skip(Skipped(shown, "name not UTF-8", state))
            seen.add(shown)
            continue
        seen.add(path)
        if path in stored and not is_examined(state):
            unknown[path] = visibility.fault_of(path) or UNREADABLE
            continue
        if path in stored and not stored[path].state.same_stamp(state) and not _can_read(project.root, path):
            unknown[path] = UNREADABLE
            continue
        record = stored.get(path) or skipped.get(path)
        if not is_examined(state) and isinstance(record, Skipped) and record.reason == UNREADABLE:
            # The system gives no state to compare: to read it again would say the same.
            continue
        if cuts_anew or record is None or not record.state.same_stamp(state) or not _is_unchanged(record, documents):
            changed.append((path, max(state.mtime_ns, state.ctime_ns)))
    for folder in _find_top_absent(project.root, absent) if absent and is_sparse(project.root) else ():
        seen.add(folder)
        if (known_skip := skipped.get(folder)) is None or known_skip.reason != NOT_CHECKED_OUT:
            store.skip(Skipped(folder, NOT_CHECKED_OUT, FileState(0, 0, 0, began_ns)))
    # A queued file may be ignored by now.
    known = dict.fromkeys((*stored, *skipped, *store.queue.paths()))
    unseen = [path for path in known if path not in seen]
    unknown.update((path, fault) for path in unseen if (fault := visibility.fault_of(path)))
    gone = [path for path in unseen if path not in unknown]
    if cuts_anew:
        store.forget_digests()
    # A file that still exists, but must not be read any more, leaves nothing behind.
    excluded = [path for path in gone if path in stored and os.path.lexists(project.root / path)]
    # Another process may have read or queued one since.
    removed = store.forget_documents(excluded, seen_ns=began_ns) + store.remove_documents(gone, seen_ns=began_ns)
    contested = max(0, sum(path in stored for path in gone) - removed)
    if patterns.include and not seen and (reason := _explain_include(project, patterns)):
        reasons[reason] = None
    _note_unknown(store, stored, skipped, unknown, reasons)
    if cuts_anew:
        # Files in hand are cut by the former settings.
        store.queue.add(path for path, _ in changed)
    else:
        store.queue.add_seen(changed)
    store.set_meta(_MOUNTS, json.dumps(visibility.mounts()))
    store.set_meta(_FINGERPRINT, fingerprint)
    store.set_meta(_RULES_NOTE, "; ".join(reasons))
    store.set_meta(SCANNED, "yes")
    return Scan(len(seen), len(changed), len(gone), contested)


def visibility_of(root: Path, store: CheckoutIndex) -> Visibility:
    """The visibility of a tree's folders; it knows the file systems that were mounted in it at the last comparison."""
    return Visibility(root, json.loads(store.meta(_MOUNTS) or "[]"))


def is_cut_as_now(store: CheckoutIndex, documents: DocumentIndexer) -> bool:
    """Whether the documents were cut by the present settings and version, as far as the last comparison knew."""
    return store.meta(_FINGERPRINT) == documents.cutting.fingerprint


def _find_top_absent(root: Path, absent: Iterable[str]) -> set[str]:
    """The outermost folders that are missing with these files, else the files."""
    there: dict[str, bool] = {}
    found = set()
    for path in map(without_surrogates, absent):
        places = [path[:at] for at, letter in enumerate(path) if letter == "/"]
        for place in (*places, path):
            if place not in there:
                there[place] = os.path.lexists(root / place)
            if not there[place]:
                found.add(place)
                break
    return found


def _can_read(root: Path, path: str) -> bool:
    """Whether a file can be read now: permissions alone do not tell that (network drives, faults of a disk).

    A path that holds no regular file (any more) is never read, so nothing prevents that.
    """
    try:
        if not stat.S_ISREG(os.lstat(root / path).st_mode):
            return True
        with project_file(root, path) as stream:
            stream.read(1)
    except OSError:
        return False
    return True


def _note_unknown(
    store: CheckoutIndex,
    stored: Mapping[str, DocumentRecord],
    skipped: Mapping[str, Skipped],
    unknown: Mapping[str, str],
    reasons: dict[str, None],
) -> None:
    """Keep the documents that cannot be looked at, with a note; drop the note on those that can be looked at again."""
    kept = [path for path in unknown if path in stored]
    for path in kept:
        if path not in skipped:
            store.skip(Skipped(path, UNREADABLE, stored[path].state), keeps_document=True)
    store.unskip(path for path in skipped if path in stored and path not in unknown)
    if kept:
        files = count_of(len(kept), "file")
        reasons[
            f"{files} cannot be looked at ({kept[0]}: {unknown[kept[0]]}): the index has them as they were last read"
        ] = None
    store.set_meta(_UNKNOWN, "yes" if kept else "")


def is_all_known(store: CheckoutIndex) -> bool:
    """Whether the last scan could look at all that the index holds."""
    return not store.meta(_UNKNOWN)


def _explain_include(project: Project, patterns: Patterns) -> str:
    """The reason why the index is empty though there are files; empty if there are none."""
    others = list(itertools.islice(list_files(project.root, Patterns(patterns.exclude)), _MAX_COMPARED_FILES))
    near = nearest_text(path for glob in patterns.include for path in nearest_to_glob(glob, others))
    what = f"index.include ({', '.join(patterns.include)}) matches no file, so nothing is indexed; {near}"
    return what.removesuffix("; ") if others else ""


def rules_note(store: CheckoutIndex) -> str:
    """The reason why the last scan could not apply the ignore rules as git would, and the remedy; empty if it could."""
    return store.meta(_RULES_NOTE) or ""


def find_differing_files(project: Project, store: CheckoutIndex, patterns: Patterns) -> list[str]:
    """The files that were added, changed or removed since they were indexed, by their stamps."""
    known: dict[str, DocumentRecord | Skipped] = {**store.skipped(), **store.documents()}
    found = {without_surrogates(path): file_state(project.root / path) for path in list_files(project.root, patterns)}
    there = {path: state for path, state in found.items() if state is not None}
    changed = {path for path, state in there.items() if path not in known or not known[path].state.same_stamp(state)}
    return sorted(changed | (known.keys() - there.keys()))


def _is_unchanged(known: DocumentRecord | Skipped, documents: DocumentIndexer) -> bool:
    """Whether a file whose stamp did not change is the same; compares it where the stamp proves nothing."""
    if isinstance(known, Skipped) and known.reason == FOR_ROOT_ALONE:
        # The rights of the folders above decide, too.
        return documents.is_still_skipped(known)
    if not known.state.racy:
        return True
    if isinstance(known, Skipped):
        return documents.is_still_skipped(known)
    return documents.freshness(known) is Freshness.DISK


class Visibility:
    """Knows which folders of a tree can be looked at now. Each is tried once."""

    def __init__(self, root: Path, former_mounts: Collection[str] = ()) -> None:
        """`former_mounts` are the folders in which other file systems were mounted at the last look."""
        self._root = root
        self._mounts = mounts_below(root)
        self._former_mounts = frozenset(former_mounts) - self._mounts
        self._faults: dict[str, str] = {}

    def fault_of(self, path: str) -> str:
        """The reason why nobody can tell whether a file that was there is gone; empty where it can be told."""
        if fault := self._fault_of_folder(path.rpartition("/")[0]):
            return fault
        try:
            os.lstat(self._root / path)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def mounts(self) -> list[str]:
        """The folders in which other file systems are mounted, or were, and lie empty now."""
        return sorted(self._mounts | {folder for folder in self._former_mounts if self._fault_of_folder(folder)})

    def _fault_of_folder(self, folder: str) -> str:
        if not self._faults:
            self._faults[""] = self._look_at("")
        for each in unknown_folders(folder, self._faults):
            self._faults[each] = self._faults[each.rpartition("/")[0]] or self._look_at(each)
        return self._faults[folder]

    def _look_at(self, folder: str) -> str:
        place = self._root / folder
        try:
            if folder and os.path.islink(place):
                return ""
            with os.scandir(place) as entries:
                is_empty = next(entries, None) is None
        except (FileNotFoundError, NotADirectoryError) as error:
            # If the root cannot be seen, nothing of the tree is known; a missing folder below it is gone.
            return "" if folder else error.strerror or "it is gone"
        except OSError as error:
            return error.strerror or str(error)
        return _UNMOUNTED if is_empty and folder in self._former_mounts else ""


def mounts_below(root: Path) -> frozenset[str]:
    """The folders below a root in which other file systems are mounted, where the system tells them (Linux)."""
    try:
        lines = _MOUNT_TABLE.read_bytes().splitlines()
    except OSError:
        return frozenset()
    places = (os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), line.split(b" ")[1])) for line in lines)
    prefix = str(root).rstrip("/") + "/"
    return frozenset(place.removeprefix(prefix) for place in places if place.startswith(prefix))
