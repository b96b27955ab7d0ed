"""The files in which an open project keeps its memories, so that they travel with the code (`memory.files`)."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from rag_ls import memory
from rag_ls.engine.events import MemoryChange, MemoryChanged
from rag_ls.memory.file_exchange import EVERYTHING, Exchanged, FileExchange
from rag_ls.model import Anchor
from rag_ls.storage import MemoryStore
from rag_ls.util.paths import is_inner_path, leads_out
from rag_ls.util.text import utc_stamp

if TYPE_CHECKING:
    from rag_ls.engine.events import Event
    from rag_ls.engine.open_project import OpenProject

_log = logging.getLogger(__name__)

STATE_FILE = "memory-files.json"


class MemoryFolder:
    """Keeps the memories of one project and their files the same. Safe from several threads."""

    def __init__(self, project: OpenProject) -> None:
        self._project = project
        self._lock = threading.Lock()
        self._changes: SimpleQueue[str] = SimpleQueue()
        self._changed: set[str] = set()
        self._seen: object = None
        self._files: FileExchange | None = None
        self.problem = ""
        """The reason why some files are not taken in, or none are exchanged; empty where all are."""
        self._stop = project.engine.events.listen(self._note_change)

    @property
    def is_wanted(self) -> bool:
        """Whether the settings name a folder."""
        return bool(self._project.settings.memory.files)

    def exchange(self, store: MemoryStore) -> None:
        """Take in what was changed in files, and write what was changed here. A failure is logged, and told by `problem`."""
        with self._lock:
            if (files := self._find_files()) is None:
                return
            stamp = files.stamp()
            with suppress(Empty):
                while True:
                    self._changed.add(self._changes.get_nowait())
            if stamp == self._seen and not self._changed:
                return
            try:
                done = files.exchange(store, utc_stamp(memory.utc_now()), self._changed)
            except OSError as error:
                self._tell(f"memories are not kept in {files.folder}: {error.strerror or error}")
                return
            if done is None:
                return
            self._changed.clear()
            self._seen = files.stamp()
            self._tell("; ".join(done.problems))
        self._report(done)

    def close(self) -> None:
        """End listening to changes."""
        self._stop()

    def _report(self, done: Exchanged) -> None:
        if done.taken or done.deleted:
            root = self._project.root
            _log.info("%s: %d memories were taken from files, %d deleted", root, done.taken, done.deleted)
            self._project.engine.events.tell(MemoryChanged(MemoryChange.CHANGED, "files", root))

    def _note_change(self, event: Event) -> None:
        if isinstance(event, MemoryChanged) and event.root == self._project.root and event.by != "files":
            self._changes.put(event.memory_id or EVERYTHING)

    def _find_files(self) -> FileExchange | None:
        """The files that the settings name; None for none, and where the folder must not be used."""
        project, named = self._project, self._project.settings.memory.files.strip().rstrip("/")
        if not named:
            return None
        folder = project.root / named
        if not is_inner_path(named) or leads_out(project.root, folder):
            self._tell(f"memory.files is {named[:100]!r}: name a folder of the project, e.g. docs/memory")
        elif not project.engine.memory_homes.trusts(project.folder):
            self._tell(
                f"the memories in {named} are not read: `rag-ls trust` takes them in, if you know who wrote them"
            )
        else:
            if self._files is None or self._files.folder != folder:
                state_file = project.folder.data_folder / STATE_FILE
                self._files = FileExchange(project.root, named, state_file, self._anchor_to)
                self._seen = None
            return self._files
        return None

    def _tell(self, problem: str) -> None:
        if problem and problem != self.problem:
            _log.warning("%s: %s", self._project.root, problem)
        self.problem = problem

    def _anchor_to(self, place: str) -> Anchor | None:
        """An anchor for a place as the saved files are; it is looked up again whenever the memory is shown."""
        path, _, within = place.partition(":")
        if not is_inner_path(path):
            return None
        index = self._project.index.checkout
        document, anchoring = index.document(path), memory.Anchoring(index)
        line = int(within) if within.isdecimal() else 0
        found = None
        if document is not None and line and (row := index.chunks.at(document.id, line)) is not None:
            found = anchoring.to_line(row, line)
        elif document is not None and within and not line:
            found = anchoring.to_symbol(document, within)
        if found is not None:
            return found
        return Anchor(path, "" if line else within, start_line=line, file_hash=document.sha256 if document else "")
