"""Indexes documents: decides whether the file's or the editor's text counts, cuts it and stores the chunks."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

from rag_ls.chunking import with_open_cells
from rag_ls.errors import StoreFull
from rag_ls.indexing.cutters import CutFile, Cutters, Cutting, Job, Outcome, Tree
from rag_ls.indexing.files import (
    UNREADABLE,
    Rejected,
    Source,
    file_state,
    read_source,
    reason_by_content,
)
from rag_ls.model import Freshness
from rag_ls.project import Project
from rag_ls.storage import DISK, CheckoutIndex, DocumentRecord, FileState, Priority, Replaced, Skipped
from rag_ls.util.paths import is_behind_link
from rag_ls.util.secret_texts import blank_secrets

Prepared = Callable[[], Replaced | None]
"""Stores the outcome of reading and cutting a file."""

_log = logging.getLogger(__name__)

# From this many files on, several processes save time.
MIN_FILES_FOR_PROCESSES = 200
# Of the files that a question has read at once: how many are cut at the same time, and how many are read in any case.
_MAX_AT_ONCE, _MIN_READ_NOW = 2, 3
_BOM = "\ufeff"
_BOM_BYTES = len(_BOM.encode())
_ENDED = "ended_processes"
_MAX_ENDED = 500


class DocumentIndexer:
    """Reads, cuts and stores documents of one project. Safe from several threads."""

    def __init__(
        self,
        project: Project,
        store: CheckoutIndex,
        cutting: Cutting,
        cutters: Cutters,
        on_indexed: Callable[[Collection[str]], None] = lambda paths: None,
    ) -> None:
        """`on_indexed` is called with the paths of documents once the store has updated or removed them."""
        self._on_indexed = on_indexed
        self._cutters = cutters
        self._project = project
        self._store = store
        self.cutting = cutting
        """Other settings count from the next scan on, which cuts indexed documents again."""
        # Documents whose chunks are known to be the file's text, because this process cut or compared them: SHA-256 by path.
        self._proven: dict[str, str] = {}

    def index_file(self, path: str, *, priority: Priority = Priority.REST) -> Replaced | None:
        """Read a file and store its chunks; None when nothing had to be cut (unchanged, gone, or not for the index)."""
        replaced = self.prepare(path, priority=priority)()
        self._on_indexed((path,))
        return replaced

    def index_files(self, prepared: Mapping[str, Prepared]) -> None:
        """Store prepared files (keyed by path) in one transaction, because a commit takes as long as a file."""
        with self._store.together():
            for store in prepared.values():
                store()
        self._on_indexed(prepared.keys())

    def prepare(self, path: str, *, priority: Priority = Priority.REST) -> Prepared:
        """Read and cut a file; the returned function stores the outcome. A file with known text is not cut again."""
        tree, job = self._tree(), self._job(path)
        outcome = self._cutters.cut_file(tree, job)
        return self._storing(path, outcome, priority)

    def index_now(self, paths: Sequence[str], longest_s: float) -> None:
        """Read some queued files beside the thread that reads the queue, in this order, until `longest_s` seconds are over.

        The first three are read in any case.
        """
        deadline = time.monotonic() + longest_s

        def index(place: int) -> None:
            if (place < _MIN_READ_NOW or time.monotonic() < deadline) and self._store.queue.holds(paths[place]):
                self.index_file(paths[place])

        with ThreadPoolExecutor(_MAX_AT_ONCE, thread_name_prefix="question") as threads:
            list(threads.map(index, range(len(paths))))

    def prepare_many(self, paths: Iterable[str], *, parallel: bool) -> Generator[dict[str, Prepared]]:
        """Prepare many queued files; yields batches in order, keyed by path. `parallel` uses all processor cores.

        A file that has left the queue by the time it would be stored is passed over.
        """
        with closing(self._cutters.cut_many(self._tree(), map(self._job, paths), parallel=parallel)) as batches:
            for batch in batches:
                yield {job.path: self._if_queued(job.path, outcome) for job, outcome in batch}

    def _tree(self) -> Tree:
        return Tree(self._project.root, self.cutting, self._list_ended())

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
                # Another thread read the file later than this one did. (If the time lies in the future, the clock was set
                # back.)
                return None
            if isinstance(outcome, CutFile):
                return self._replace(outcome, priority)
            if isinstance(outcome, DocumentRecord):
                self._store.touch_document(outcome)
            elif outcome.gone:
                self._store.remove_documents([path], seen_ns=state.read_ns)
            else:
                skipped = Skipped(path, outcome.reason, outcome.state)
                self._store.skip(skipped, keeps_document=outcome.reason == UNREADABLE)
            return None

        return store

    def cut_by_lines(self) -> dict[str, str]:
        """The indexed documents whose text ended a process that parsed it, by path, with what it did."""
        documents, ended = self._store.documents(), self._list_ended()
        reasons = {path: ended.get(record.sha256, "") for path, record in documents.items()} if ended else {}
        return {path: reason for path, reason in reasons.items() if reason}

    def _remember(self, cut: CutFile) -> None:
        """Keep what a text did to its process, so that no process parses it again."""
        known = self._list_ended()
        if cut.ended and cut.record.sha256 not in known:
            newest = [*known.items(), (cut.record.sha256, cut.ended)][-_MAX_ENDED:]
            self._store.set_meta(_ENDED, json.dumps(dict(newest)))

    def _list_ended(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self._store.meta(_ENDED) or "{}")
        return found

    def skip_failed(self, path: str, reason: str) -> None:
        """Record that a file could not be cut, until it changes."""
        state = file_state(self._project.root / path)
        if state is not None:
            self._store.skip(Skipped(path, reason, state))
        else:
            self._store.remove_documents([path])

    def refuses(self, path: str, text: str) -> str:
        """The reason why an editor's text of one of the project's files is not indexed; empty where it is."""
        refusal = self.cutting.refuses(path, self.cutting.language_of(path, text) or "text")
        return refusal or reason_by_content(
            path, text.encode("utf-8", "replace"), self.cutting.max_file_bytes, self.cutting.rules
        )

    def index_buffer(self, path: str, text: str, session: str, *, language: str | None = None) -> Replaced:
        """Store an editor's unsaved text of a document."""
        data = text.encode("utf-8", "surrogatepass")
        state = FileState(len(data), 0, 0, time.time_ns())
        blanked = blank_secrets(path, text)
        source = Source(blanked.text, hashlib.sha256(data).hexdigest(), state, blanked.lines)
        known = self.cutting.language_of(path, text) or language or "text"
        cut = self._cutters.cut_text(path, source, known, self.cutting, self._list_ended(), session)
        replaced = self._replace(cut, Priority.INTERACTIVE)
        self._on_indexed((path,))
        return replaced

    def drop_buffer(self, path: str, session: str) -> None:
        """Forget an editor's unsaved text; the file's own text answers again."""
        self._store.remove_documents([path], session)
        self._on_indexed((path,))

    def read(self, path: str) -> Source | Rejected:
        """The file's text as it is now."""
        return self.reader(path)

    @property
    def reader(self) -> Callable[[str], Source | Rejected]:
        """A function that reads as `read` does, in another process too."""
        return partial(read_source, self._project.root, limit=self.cutting.max_file_bytes, rules=self.cutting.rules)

    def equals_file(self, path: str, text: str) -> bool:
        """Whether a text is that of the file as it is now, its line ends apart.

        The file is read only if it is as long, or in another encoding.
        """
        # Some editors leave out a file's byte order mark, and some send LF for CRLF.
        plain = text.removeprefix(_BOM).replace("\r\n", "\n")
        length, state = len(plain.encode("utf-8", "surrogatepass")), file_state(self._project.root / path)
        ends, returns = plain.count("\n"), text.count("\r\n")
        lengths = {length + more + mark for more in (0, ends, returns) for mark in (0, _BOM_BYTES)}
        if state is None or (state.size not in lengths and not self._is_recoded(path)):
            return False
        source = self.read(path)
        if not isinstance(source, Source):
            return False
        return source.text.removeprefix(_BOM).replace("\r\n", "\n") == blank_secrets(path, plain).text

    def index_cells(self, path: str, cells: Sequence[str], session: str) -> None:
        """Store a notebook with the cells that an editor has open; without edited ones, index the file."""
        source = self.read(path)
        text = source.text if isinstance(source, Source) else ""
        opened = with_open_cells(text, [blank_secrets(path, cell).text for cell in cells])
        if opened == text:
            self.drop_buffer(path, session)
            self.index_file(path, priority=Priority.INTERACTIVE)
        else:
            self.index_buffer(path, opened, session)

    def _is_recoded(self, path: str) -> bool:
        """Whether the file, when it was read last, was in another encoding than UTF-8: its text has another length."""
        known = self._store.document(path)
        return known is not None and self._store.chunks.length(known.id) != known.state.size

    def is_gone(self, path: str) -> bool:
        """Whether nothing is at a path of the project now."""
        return not os.path.lexists(self._project.root / path)

    def freshness(self, document: DocumentRecord) -> Freshness | None:
        """Compare a document's indexed text with its file as it is now; None when the file is gone.

        Size and times decide where they can; otherwise the file is read and compared. Chunks that another process stored are
        compared once: if they are not the file's text, they are removed, and the file counts as gone.
        """
        if document.session != DISK:
            return Freshness.BUFFER
        state = file_state(self._project.root / document.path)
        if state is None or is_behind_link(self._project.root, document.path):
            return None
        is_same = document.state.same_stamp(state) and not document.state.racy and bool(document.sha256)
        if is_same and self._proven.get(document.path) == document.sha256:
            return Freshness.DISK
        source = self.read(document.path)
        if isinstance(source, Rejected):
            return None if source.gone else Freshness.CHANGED
        if source.sha256 != document.sha256:
            return Freshness.CHANGED
        if not self._matches_file(document, source.text):
            return None
        if not is_same:
            # Keep it for the next question. On a full disk this question is answered all the same.
            with contextlib.suppress(StoreFull):
                self._store.touch_document(
                    DocumentRecord(document.path, document.language, document.sha256, source.state)
                )
        return Freshness.DISK

    def _matches_file(self, document: DocumentRecord, text: str) -> bool:
        """Whether a document's chunks are a file's text. If not, somebody else wrote them, and they are removed."""
        if self._proven.get(document.path) == document.sha256:
            return True
        if self._store.chunks.text_of(document.id) == text:
            self._proven[document.path] = document.sha256
            return True
        known = self._store.document(document.path)
        if known is None or (known.id, known.sha256) != (document.id, document.sha256):
            # The document was stored again meanwhile, so it has other rows.
            return True
        _log.warning("%s was in the index with a text that its file does not hold: it is read again", document.path)
        self._store.remove_documents([document.path])
        return False

    def is_still_skipped(self, skipped: Skipped) -> bool:
        """Whether a file is still not indexed for the same reason: it is read, as its stamp proves nothing."""
        found = self.read(skipped.path)
        if not isinstance(found, Rejected) or found.gone or found.reason != skipped.reason:
            return False
        self._store.skip(Skipped(skipped.path, found.reason, found.state))
        return True

    def _replace(self, cut: CutFile, priority: Priority) -> Replaced:
        self._remember(cut)
        replaced = self._store.replace_document(
            cut.record, cut.chunks, outline=cut.outline, uses=cut.uses, priority=priority
        )
        if cut.record.session == DISK:
            self._proven[cut.record.path] = cut.record.sha256
        return replaced
