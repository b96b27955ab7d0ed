"""Documents' way into the index: cut, then stored."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from rag_ls.chunking import recognise
from rag_ls.indexing.cutters import Cutters
from rag_ls.indexing.cutting import CutFile, Cutting, Job, Outcome, cut_source, read_and_cut
from rag_ls.indexing.files import Rejected, Source, file_state, read_source, reason_by_content
from rag_ls.project import Project
from rag_ls.storage import CheckoutIndex, DocumentRecord, FileState, Priority, Replaced, Skipped

T = TypeVar("T")
Prepared = Callable[[], Replaced | None]
"""Stores what became of a file that was read."""

_CUT_BY_LINES = "cut_by_lines"
_RECENT_NS = 14 * 86_400 * 10**9


@dataclass(slots=True)
class Spent:
    """Seconds spent by step; benchmarks read it."""

    cutting: float = 0.0
    """Reading included; in this process."""
    storing: float = 0.0
    embedding: float = 0.0


class DocumentIndexer:
    """Puts documents of one project into its store. Safe from several threads."""

    def __init__(
        self,
        project: Project,
        store: CheckoutIndex,
        cutting: Cutting,
        *,
        max_file_bytes: int,
        on_indexed: Callable[[Collection[str]], None] = lambda paths: None,
    ) -> None:
        """`on_indexed` is called with the paths of documents once the store has them as they are now, or no longer."""
        self._on_indexed = on_indexed
        self._project = project
        self._store = store
        self._cutting = cutting
        self._max_file_bytes = max_file_bytes
        self.spent = Spent()

    def index_file(self, path: str, *, priority: Priority = Priority.REST) -> Replaced | None:
        """Read a file and store its chunks; None when nothing had to be cut (unchanged, gone, or not for the index)."""
        replaced = self.prepare(path, priority=priority)()
        self._on_indexed((path,))
        return replaced

    def index_files(self, prepared: Mapping[str, Prepared]) -> None:
        """Store what was prepared, by path, in one transaction: a commit takes as long as a file."""
        with self._store.together():
            for store in prepared.values():
                store()
        self._on_indexed(prepared.keys())

    def prepare(self, path: str, *, priority: Priority = Priority.REST) -> Prepared:
        """Read and cut a file; what this returns stores the outcome. A file with known text is not cut again."""
        job, cutting = self._job(path), self._cutting_of(path)
        outcome = _timed(
            self.spent, "cutting", lambda: read_and_cut(self._project.root, job, cutting, self._max_file_bytes)
        )
        return self._storing(path, outcome, priority)

    def cutters(self) -> Cutters:
        """Processes that cut files of this project; the caller closes them."""
        return Cutters(self._project.root, self._max_file_bytes)

    def prepare_many(self, cutters: Cutters, paths: Iterable[str]) -> Iterator[dict[str, Prepared]]:
        """As `prepare` for each of many files of the queue, in processes of their own; batches by path, in order.

        One that is not queued any more when its turn to be stored comes is passed over.
        """
        for batch in cutters.cut(map(self._job, paths), self._cutting):
            self._distrust(job.path for job, _, sound in batch if not sound)
            yield {job.path: self._if_queued(job.path, outcome) for job, outcome, _ in batch}

    def _if_queued(self, path: str, outcome: Outcome) -> Prepared:
        store = self._storing(path, outcome, Priority.REST)
        return lambda: store() if self._store.queue.holds(path) else None

    def _job(self, path: str) -> Job:
        return Job(path, self._store.document(path))

    def _storing(self, path: str, outcome: Outcome, priority: Priority) -> Prepared:
        state = outcome.record.state if isinstance(outcome, CutFile) else outcome.state

        def store() -> Replaced | None:
            known = self._store.document(path)
            if known is not None and state.read_ns < known.state.read_ns <= time.time_ns():
                # Another thread read it again after this one had. (One from the future is from before the clock was set back.)
                return None
            if isinstance(outcome, CutFile):
                return self._replace(outcome, max(priority, _usual_priority(state)))
            if isinstance(outcome, DocumentRecord):
                self._store.touch_document(outcome)
            elif outcome.gone:
                self._store.remove_documents([path])
            else:
                self._store.skip(Skipped(path, outcome.reason, outcome.state))
            return None

        return store

    def _distrust(self, paths: Iterable[str]) -> None:
        """Remember files whose grammar crashes or hangs on them: this process must not cut them by it either."""
        if found := set(paths) - self._by_lines():
            self._store.set_meta(_CUT_BY_LINES, json.dumps(sorted(found | self._by_lines())))

    def _by_lines(self) -> set[str]:
        return set(json.loads(self._store.meta(_CUT_BY_LINES) or "[]"))

    def _cutting_of(self, path: str) -> Cutting:
        return replace(self._cutting, by_lines=True) if path in self._by_lines() else self._cutting

    def skip_failed(self, path: str, reason: str) -> None:
        """Record that a file could not be cut, until it changes."""
        state = file_state(self._project.root / path)
        if state is not None:
            self._store.skip(Skipped(path, reason, state))
        else:
            self._store.remove_documents([path])

    def refuses(self, path: str, text: str) -> str:
        """Why an editor's text of one of the project's files is not indexed; empty where it is."""
        refusal = self._cutting.refuses(recognise(path, text) or "text")
        return refusal or reason_by_content(path, text.encode("utf-8", "replace"), self._max_file_bytes)

    def cut_as(self, cutting: Cutting, *, max_file_bytes: int) -> None:
        """Cut documents in another way from now on; those that are in the index are cut again at the next scan."""
        self._cutting = cutting
        self._max_file_bytes = max_file_bytes

    @property
    def fingerprint(self) -> str:
        """What the index depends on besides the documents."""
        return f"{self._cutting.fingerprint}:{self._max_file_bytes}"

    def index_buffer(
        self,
        path: str,
        text: str,
        session: str,
        *,
        language: str | None = None,
        priority: Priority = Priority.INTERACTIVE,
    ) -> Replaced:
        """Store an editor's unsaved text of a document."""
        data = text.encode("utf-8", "surrogatepass")
        state = FileState(len(data), 0, 0, time.time_ns())
        source = Source(text, hashlib.sha256(data).hexdigest(), state)
        known = recognise(path, text) or language or "text"
        cutting = self._cutting_of(path)
        cut = _timed(self.spent, "cutting", lambda: cut_source(path, source, known, cutting, session))
        replaced = self._replace(cut, priority)
        self._on_indexed((path,))
        return replaced

    def drop_buffer(self, path: str, session: str) -> None:
        """Forget an editor's unsaved text; the file's own text answers again."""
        self._store.remove_documents([path], session)
        self._on_indexed((path,))

    def read(self, path: str) -> Source | Rejected:
        """The file's text as it is now."""
        return read_source(self._project.root, path, limit=self._max_file_bytes)

    def _replace(self, cut: CutFile, priority: Priority) -> Replaced:
        return _timed(
            self.spent,
            "storing",
            lambda: self._store.replace_document(cut.record, cut.chunks, outline=cut.outline, priority=priority),
        )


def _usual_priority(state: FileState) -> Priority:
    is_recent = time.time_ns() - state.mtime_ns < _RECENT_NS
    return Priority.RECENT if is_recent else Priority.REST


def _timed(spent: Spent, step: str, work: Callable[[], T]) -> T:
    started = time.perf_counter()
    try:
        return work()
    finally:
        setattr(spent, step, getattr(spent, step) + time.perf_counter() - started)
