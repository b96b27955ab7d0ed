"""Synchronises a project's memories with the Markdown files in one of its folders, so that a team shares them through git.

A change goes to the files of the checkout in which it was made; git brings it to the others. A changed file changes its
memory, and a deleted file deletes it, which an undo reverts. Switching to other commits is no such change: a file that the
switch removes, or sets to a text that the memory had before, changes nothing. Pulls and merges do count.
"""

from __future__ import annotations

import errno
import hashlib
import os
import threading
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from rag_ls.errors import InvalidRequest
from rag_ls.memory.batches import carry_out
from rag_ls.memory.exchange_state import ExchangeState, KnownFile, load_state, save_state
from rag_ls.memory.markdown_memory import (
    MAX_FILE_BYTES,
    MemoryFile,
    derive_id,
    make_file,
    may_be_written,
    name_file,
    parse_file,
    render_file,
)
from rag_ls.memory.uniting import CONSOLIDATED, absorb
from rag_ls.memory.work_tree import WorkTree
from rag_ls.model import PRIVATE, Anchor, Memory
from rag_ls.storage import MemoryStore
from rag_ls.util.files import read_regular, whole_file
from rag_ls.util.paths import file_stamp
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of

FILES = "files"
"""The kind of a batch of changes that came from files."""
EVERYTHING = ""
"""Stands for all memories among the ids of memories to write."""
_MAX_FILES = 20_000
_MAX_PROBLEMS = 5
_LOCK_S = 0.2
# These files describe the folder and are no memories.
_NO_MEMORIES = ("readme.md",)


@dataclass(frozen=True, slots=True)
class Exchanged:
    """The outcome of one exchange, as numbers of memories."""

    taken: int = 0
    deleted: int = 0
    written: int = 0
    problems: tuple[str, ...] = ()
    """The files that were not taken in, each with the reason."""


@dataclass(frozen=True, slots=True)
class _UnreadFile:
    """A file that cannot be taken in, and why."""

    name: str
    problem: str


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """A file as it is now."""

    name: str
    digest: str
    file: MemoryFile


class FileExchange:
    """Exchanges the memories of one store with the files of one folder. Safe from several threads and processes."""

    def __init__(self, root: Path, folder: str, state_file: Path, anchor_to: Callable[[str], Anchor | None]) -> None:
        """`folder` lies in the project at `root`; `state_file` keeps what the files were after the last exchange.

        `anchor_to` makes an anchor for `PATH`, `PATH:LINE` or `PATH:SYMBOL`.
        """
        self.folder = root / folder
        self.anchor_to = anchor_to
        self.tree = WorkTree(root)
        self._state_file = state_file
        self._lock = threading.Lock()
        self._cache: dict[str, tuple[tuple[int, int], _ReadFile | _UnreadFile]] = {}

    def stamp(self) -> object:
        """A value that changes when a file is written, made or deleted, or when git changes the checkout."""
        return self.tree.stamp(), tuple((name, file_stamp(self.folder / name)) for name in self._list_names())

    def exchange(self, store: MemoryStore, now: str, changed: Collection[str] = ()) -> Exchanged | None:
        """Take in what the files say, then write the memories that were `changed` here (ids, or `EVERYTHING`).

        `now` is RFC 3339, UTC. None where git or another process is at work on the files: call it again.
        Raises `OSError` and `StoreUnavailable`.
        """
        if self.tree.is_changing():
            return None
        try:
            with self._lock, FileLock(self._state_file.with_suffix(".lock"), timeout=_LOCK_S, mode=0o600):
                state = load_state(self._state_file, self.folder)
                done, state = _Pass(self, store, now, self._read_files(), state).run(changed)
                save_state(self._state_file, self.folder, state)
                return done
        except Timeout:
            return None

    def read_all(self) -> list[tuple[str, MemoryFile]]:
        """The names and contents of the files that can be read."""
        return [(each.name, each.file) for each in self._read_files() if isinstance(each, _ReadFile)]

    def read_at(self, commit: str, name: str) -> bytes:
        """A file of the folder as it was in a commit; empty for none."""
        return self.tree.read_at(commit, (self.folder / name).relative_to(self.tree.root).as_posix())

    def write(self, name: str, file: MemoryFile) -> str:
        """Write a file; returns its digest."""
        data = render_file(file)
        self.folder.mkdir(parents=True, exist_ok=True)
        with whole_file(self.folder / name, mode=0o644) as stream:
            stream.write(data.decode("utf-8"))
        return _digest(data)

    def was_written_since(self, name: str) -> bool:
        """Whether a file was written after it was read."""
        return name in self._cache and file_stamp(self.folder / name) != self._cache[name][0]

    def _list_names(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        return sorted(
            name
            for name in names
            if name.lower().endswith(".md") and not name.startswith(".") and name.lower() not in _NO_MEMORIES
        )[:_MAX_FILES]

    def _read_files(self) -> list[_ReadFile | _UnreadFile]:
        """The files; in place of a file that cannot be read, its problem."""
        former, self._cache = self._cache, {}
        for name in self._list_names():
            stamp = file_stamp(self.folder / name)
            known = former.get(name)
            self._cache[name] = known if known and known[0] == stamp else (stamp, self._read(name))
        return [read for _, read in self._cache.values()]

    def _read(self, name: str) -> _ReadFile | _UnreadFile:
        try:
            data = read_regular(self.folder / name, MAX_FILE_BYTES, follow=False)
            return _ReadFile(name, _digest(data), parse_file(data))
        except (OSError, ValueError) as error:
            return _UnreadFile(name, f"{name} {_describe(error)}")


class _Pass:
    """One run of an exchange: takes files in, then writes memories."""

    def __init__(
        self,
        files: FileExchange,
        store: MemoryStore,
        now: str,
        read: list[_ReadFile | _UnreadFile],
        state: ExchangeState | None,
    ) -> None:
        self._files = files
        self._store = store
        self._now = now
        unread = [each for each in read if isinstance(each, _UnreadFile)]
        self._problems = [each.problem for each in unread]
        self._former_head, self._known = (state.head, state.files) if state else ("", {})
        self._is_first = state is None
        self._tree_stamp = files.tree.stamp()
        self._head = files.tree.find_head()
        # It may have moved away and back again.
        self._head_moved = state is None or (state.head, state.tree_stamp) != (self._head, self._tree_stamp)
        self._head_moved_forward = self._head_moved and files.tree.leads_to(self._former_head, self._head)
        self._unread = {each.name for each in unread}
        self._read = self._group_by_id([each for each in read if isinstance(each, _ReadFile)])
        self._written = self._taken = 0
        self._changed: set[str] = set()
        self._anchors: dict[str, Anchor | None] = {}

    def run(self, changed: Collection[str]) -> tuple[Exchanged, ExchangeState]:
        changed = self._changed = set(changed)
        gone = [memory_id for memory_id, known in self._known.items() if self._is_gone(memory_id, known)]
        incoming = [(memory_id, read) for memory_id, read in self._read.items() if self._must_be_taken(memory_id, read)]
        if incoming:
            # Outside the transaction, because finding code asks another store.
            self._anchors = {memory_id: self._find_anchor(memory_id, read.file.place) for memory_id, read in incoming}
            self._store.backup()
            with self._store.transaction():
                for memory_id, read in incoming:
                    self._take(memory_id, read, is_changed=bool({memory_id, EVERYTHING} & changed))
        deleted = self._delete(gone)
        # An undo passes the id of its batch, which no memory has.
        is_batch = any(each not in self._known and self._store.get(each) is None for each in changed)
        if is_batch or (self._is_first and not self._read):
            changed.add(EVERYTHING)
        for memory in self._memories_to_write(changed):
            self._write(memory)
        self._remove_files_of_deleted(changed)
        left = len(self._problems) - _MAX_PROBLEMS
        more = (f"and {count_of(left, 'more file')}",) if left > 0 else ()
        done = Exchanged(self._taken, deleted, self._written, (*self._problems[:_MAX_PROBLEMS], *more))
        return done, ExchangeState(self._head, self._tree_stamp, self._known)

    def _group_by_id(self, files: list[_ReadFile]) -> dict[str, _ReadFile]:
        """The files by the ids of their memories; a second one with the same id is a problem."""
        found: dict[str, _ReadFile] = {}
        names = {known.name: memory_id for memory_id, known in self._known.items()}
        # The file that had an id before keeps it.
        for each in sorted(files, key=lambda each: (names.get(each.name) != each.file.id, each.name)):
            memory_id = each.file.id or names.get(each.name) or derive_id(each.name, each.file.content)
            if memory_id in found:
                self._problems.append(
                    f"{each.name} has the id of {found[memory_id].name}: take that line out, and it gets its own"
                )
            else:
                found[memory_id] = each
        return found

    def _must_be_taken(self, memory_id: str, read: _ReadFile) -> bool:
        """Whether a file must be taken in."""
        known = self._known.get(memory_id)
        if known is not None and known.digest == read.digest:
            self._known[memory_id] = replace(known, name=read.name)
            return False
        is_brought = self._is_first if known is None else not self._is_deliberate(known)
        if not is_brought or all(read.file.content != each.memory.content for each in self._store.history(memory_id)):
            return True
        present = self._store.get(memory_id)
        self._known[memory_id] = KnownFile(read.name, read.digest, present.version if present else 0)
        return False

    def _is_deliberate(self, known: KnownFile) -> bool:
        """Whether a file was changed or deleted by a person or by later commits, rather than by a switch to other ones."""
        if not self._head_moved:
            return True
        return self._head_moved_forward and known.digest == _digest(self._files.read_at(self._former_head, known.name))

    def _take(self, memory_id: str, read: _ReadFile, *, is_changed: bool) -> None:
        """Make a file's content the present version of its memory. Runs in a transaction."""
        present, known = self._store.get(memory_id), self._known.get(memory_id)
        if present is not None and PRIVATE in present.metadata.tags:
            self._problems.append(
                f"{read.name} is a former text of a private memory, and changes nothing: delete the file"
            )
            return
        file = replace(read.file, id=memory_id)
        try:
            base = present or next((each.memory for each in self._store.history(memory_id)), None)
            memory = file.change(base) if base else file.make_memory(self._store.scope, self._now)
        except InvalidRequest as error:
            self._problems.append(f"{read.name}: {error}")
            return
        memory = replace(memory, anchor=self._anchors[memory_id])
        copy = present if present and is_changed and known and present.version != known.version else None
        if memory != present:
            twin = self._store.twin(memory)
            if twin is not None and twin.id in self._read:
                self._problems.append(f"{read.name} says the same as {self._read[twin.id].name}: keep one of them")
                return
            memory = self._store_version(memory, present, twin)
        if copy is not None and copy.content != memory.content:
            self._keep_both(copy, read.name)
        digest = read.digest if read.file.id else self._files.write(read.name, file)
        self._known[memory_id] = KnownFile(read.name, digest, memory.version)

    def _find_anchor(self, memory_id: str, place: str) -> Anchor | None:
        """The anchor of a memory, made anew if its file names another place."""
        present = self._store.get(memory_id)
        if present is not None and make_file(present).place == place:
            return present.anchor
        return self._files.anchor_to(place)

    def _store_version(self, memory: Memory, present: Memory | None, twin: Memory | None) -> Memory:
        if twin is not None:
            memory = absorb(memory, twin)
            self._store.delete(twin.id, reason=CONSOLIDATED)
        newest = max((each.memory.version for each in self._store.history(memory.id)), default=0)
        memory = replace(memory, version=max(newest, present.version if present else 0) + 1, updated_at=self._now)
        if present is None:
            self._store.insert(memory)
        else:
            self._store.replace(memory)
        self._taken += 1
        return memory

    def _keep_both(self, ours: Memory, name: str) -> None:
        """Store a text that was changed here while its file was changed too as a second memory."""
        tags = tuple(dict.fromkeys((*ours.metadata.tags, "conflict")))
        copy = replace(ours, id=str(uuid.uuid4()), version=1, metadata=replace(ours.metadata, tags=tags))
        self._store.insert(copy)
        self._changed.add(copy.id)
        self._problems.append(
            f"{name} was changed in the file and in rag-ls at once: both texts are kept, the other one as {copy.id[:8]}"
        )

    def _is_gone(self, memory_id: str, known: KnownFile) -> bool:
        """Whether the file of a memory was deleted."""
        return bool(known.digest) and memory_id not in self._read and known.name not in self._unread

    def _delete(self, gone: Collection[str]) -> int:
        """Delete the memories whose files were deleted; returns their number."""
        is_whole_folder = not self._files.folder.is_dir()
        if is_whole_folder and gone and not self._head_moved:
            self._problems.append(
                f"{self._files.folder.name} is gone: its {count_of(len(gone), 'memory', 'memories')} stay; a change of one writes "
                "its file again"
            )
        doomed = []
        for memory_id in gone:
            present = self._store.get(memory_id)
            known = self._known[memory_id]
            is_changed = present is not None and present.version != known.version
            if is_whole_folder or is_changed or not self._is_deliberate(known):
                # The memory stays. This checkout has no file for it until it is changed here.
                self._known[memory_id] = replace(known, digest="")
                continue
            del self._known[memory_id]
            doomed += [memory_id] if present else []
        if doomed:
            carry_out(self._store, FILES, lambda: [self._store.delete(each) for each in doomed], stamp=self._now)
        return len(doomed)

    def _memories_to_write(self, changed: Collection[str]) -> Iterator[Memory]:
        """The memories to write."""
        memories = self._store.all() if EVERYTHING in changed else self._store.by_ids(changed).values()
        for memory in memories:
            known = self._known.get(memory.id)
            if (known is None or known.version != memory.version) and may_be_written(memory):
                yield memory

    def _write(self, memory: Memory) -> None:
        known, read = self._known.get(memory.id), self._read.get(memory.id)
        if read is not None and known is None:
            # Its file was reported as a problem.
            return
        name = read.name if read else known.name if known else name_file(memory)
        if name in self._unread or (read is not None and self._files.was_written_since(name)):
            # The next exchange takes in a file that was written just now.
            return
        digest = self._files.write(name, make_file(memory, read.file if read else None))
        self._known[memory.id] = KnownFile(name, digest, memory.version)
        self._written += 1

    def _may_stay(self, memory_id: str) -> bool:
        """Whether a memory may have a file."""
        present = self._store.get(memory_id)
        return present is not None and PRIVATE not in present.metadata.tags

    def _remove_files_of_deleted(self, changed: Collection[str]) -> None:
        """Remove the files of memories that were deleted, or became private, here."""
        wanted = self._known if EVERYTHING in changed else changed
        for memory_id in [each for each in wanted if each in self._known and not self._may_stay(each)]:
            known = self._known.pop(memory_id)
            if known.digest and memory_id in self._read:
                with suppress(FileNotFoundError):
                    (self._files.folder / known.name).unlink()
                self._written += 1


def _describe(error: OSError | ValueError) -> str:
    """The fault of a file, in words that follow its name."""
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "is a link: put the file itself there"
    reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return reason.removeprefix("it ")


def _digest(data: bytes) -> str:
    # git may check a file out with other line ends than it stores.
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()
