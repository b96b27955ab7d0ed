"""The folders whose files memories are kept in besides: a project's (`memory.files`) and the user's (`memory.global_files`)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from rag_ls import memory
from rag_ls.engine.events import Event, Events, MemoryChange, MemoryChanged
from rag_ls.errors import RagLsError
from rag_ls.memory import EVERYTHING, FileExchange, MemoryInbox, MemoryProposal
from rag_ls.model import Anchor
from rag_ls.storage import MemoryStore
from rag_ls.util.paths import is_inner_path, leads_out
from rag_ls.util.text import utc_stamp

if TYPE_CHECKING:
    from rag_ls.engine.open_project import OpenProject

_log = logging.getLogger(__name__)

STATE_FILE = "memory-files.json"
_BY = "files"


class MemoryFolder:
    """Keeps the memories of one store and their files the same. Safe from several threads."""

    def __init__(
        self, events: Events, root: Path | None, state_file: Path, anchor_to: Callable[[str], Anchor | None],
        exchange_now: Callable[[], None],
    ) -> None:  # fmt: skip
        """`root` is the project whose memories they are, None for the user's. See `FileExchange`.

        `exchange_now` calls `exchange`: after each change, so that its file is there once the change is answered.
        """
        self._events = events
        self._root = root
        self._state_file = state_file
        self._anchor_to = anchor_to
        self._exchange_now = exchange_now
        self._lock = threading.Lock()
        self._noting = threading.Lock()
        self._changed: frozenset[str] = frozenset()
        self._seen: object = None
        self._files: FileExchange | None = None
        self.problem = ""
        """The reason why some files are not taken in, or none are exchanged; empty where all are."""
        self._stop = events.listen(self._note_change)

    def exchange(self, store: MemoryStore, root: Path, folder: str) -> None:
        """Take in what was changed in the files of a folder below `root`, and write what was changed here.

        A failure is logged, and told by `problem`.
        """
        with self._lock:
            if self._files is None or self._files.folder != root / folder:
                self._files, self._seen = FileExchange(root, folder, self._state_file, self._anchor_to), None
            files, changed = self._files, self._changed
            try:
                stamp = files.stamp()
                if stamp == self._seen and not changed:
                    return
                done = files.exchange(store, utc_stamp(memory.utc_now()), changed)
            except OSError as error:
                self.note_problem(f"memories are not kept in {files.folder}: {error.strerror or error}")
                return
            if done is None:
                return
            with self._noting:
                self._changed -= changed
            # As it was before: what somebody writes meanwhile is looked at the next time.
            self._seen = stamp
            self.note_problem("; ".join(done.problems))
        if done.taken or done.deleted:
            _log.info("%s: %d memories were taken from files, %d deleted", files.folder, done.taken, done.deleted)
            self._events.tell(MemoryChanged(MemoryChange.CHANGED, _BY, self._root))

    def note_problem(self, problem: str) -> None:
        """Note the present problem; log a new one."""
        if problem and problem != self.problem:
            _log.warning("%s", problem)
        self.problem = problem

    def close(self) -> None:
        """End listening to changes."""
        self._stop()

    def _note_change(self, event: Event) -> None:
        if not (isinstance(event, MemoryChanged) and event.root == self._root and event.by != _BY):
            return
        with self._noting:
            self._changed |= {event.memory_id or EVERYTHING}
        try:
            self._exchange_now()
        except (RagLsError, OSError) as error:
            _log.warning("memories were not written to their files: %s", error)


class ProjectMemoryFolder:
    """The folder in which a project's settings keep its memories; of a folder that is not trusted, they are proposals."""

    def __init__(self, project: OpenProject) -> None:
        self._project = project
        state_file = project.folder.data_folder / STATE_FILE
        self._folder = MemoryFolder(
            project.engine.events, project.root, state_file, self._anchor_to, lambda: project.memories.exchange_files()
        )
        self._proposed: object = None

    @property
    def problem(self) -> str:
        """See `MemoryFolder`."""
        return self._folder.problem if self.is_wanted else ""

    @property
    def is_wanted(self) -> bool:
        """Whether the settings name a folder."""
        return bool(self._project.settings.memory.files)

    def exchange(self, store: MemoryStore, open_inbox: Callable[[], AbstractContextManager[MemoryInbox]]) -> None:
        """As `MemoryFolder`, where the folder may be used."""
        project, named = self._project, self._project.settings.memory.files.strip().rstrip("/")
        is_own = (project.root / named).is_relative_to(project.folder.data_folder)
        if not is_inner_path(named) or is_own or leads_out(project.root, project.root / named):
            self._folder.note_problem(
                f"memory.files is {named[:100]!r}, which is no folder of the project that git keeps, or a link out of it: name "
                "another, e.g. docs/memory"
            )
        elif project.engine.memory_homes.trusts(project.folder):
            self._folder.exchange(store, project.root, named)
        else:
            self._folder.note_problem(
                f"the memories in {named} are only proposed (`rag-ls inbox`): `rag-ls trust` takes them in, if you know who "
                "wrote them"
            )
            files = FileExchange(project.root, named, project.folder.data_folder / STATE_FILE, self._anchor_to)
            if (stamp := files.stamp()) != self._proposed:
                self._proposed = stamp
                with open_inbox() as inbox:
                    inbox.propose(
                        MemoryProposal(
                            file.content, f"file {named}/{name}", "it came with a folder that is not trusted"
                        )
                        for name, file in files.read_all()
                    )

    def close(self) -> None:
        """End listening to changes."""
        self._folder.close()

    def _anchor_to(self, place: str) -> Anchor | None:
        """An anchor for a place as the saved files are; it is looked up again whenever the memory is shown."""
        path, _, within = place.partition(":")
        if not is_inner_path(path):
            return None
        index = self._project.index.checkout
        self._project.take_in(path)
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
