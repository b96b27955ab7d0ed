"""One document's way into the index: text -> chunks -> rows."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from rag_ls.chunking import Budget, TokenOffsets, chunk_text, detect_language, embedding_text
from rag_ls.indexing.files import Rejected, Source, file_state, read_source, reason_by_content
from rag_ls.project import Project
from rag_ls.storage import DISK, DocumentRecord, FileState, IndexStore, NewChunk, Replaced, Skipped

T = TypeVar("T")
Prepared = Callable[[], Replaced | None]
"""Stores what became of a file that was read."""

# Chunks made by another version of the chunker are cut again. Raise it when chunks would come out otherwise.
CHUNKER_VERSION = 1


@dataclass(frozen=True, slots=True)
class Cutting:
    """How documents are cut; `fingerprint` changes when their chunks would."""

    budget: Budget
    token_offsets: TokenOffsets
    tokenizer: str
    by_lines: bool = False
    """Windows of lines, whatever the language."""
    languages: tuple[str, ...] = ()
    """Only these; all where there are none."""

    @property
    def fingerprint(self) -> str:
        """What the chunks of an index depend on besides the documents."""
        return f"{CHUNKER_VERSION}:{self.budget}:{self.tokenizer}:{self.by_lines}:{','.join(self.languages)}"

    def refuses(self, language: str) -> str:
        """Why documents in a language are left out; empty where they are not."""
        wanted = not self.languages or language in self.languages
        return "" if wanted else "language not enabled"


@dataclass(slots=True)
class Spent:
    """Seconds spent by step; benchmarks read it."""

    reading: float = 0.0
    chunking: float = 0.0
    storing: float = 0.0
    embedding: float = 0.0


class DocumentIndexer:
    """Puts documents of one project into its store. Safe from several threads."""

    def __init__(self, project: Project, store: IndexStore, cutting: Cutting, *, max_file_bytes: int) -> None:
        self._project = project
        self._store = store
        self._cutting = cutting
        self._max_file_bytes = max_file_bytes
        self.spent = Spent()

    def index_file(self, path: str, *, priority: int = 0) -> Replaced | None:
        """Read a file and store its chunks; None when nothing had to be cut (unchanged, gone, or not for the index)."""
        return self.prepare(path, priority=priority)()

    def index_files(self, prepared: Iterable[Prepared]) -> None:
        """Store what was prepared in one transaction: a commit takes as long as a file."""
        with self._store.together():
            for store in prepared:
                store()

    def prepare(self, path: str, *, priority: int = 0) -> Prepared:
        """Read and cut a file; what this returns stores the outcome. A file with known text is not cut again."""
        started = time.perf_counter()
        source = read_source(self._project.root, path, limit=self._max_file_bytes)
        self.spent.reading += time.perf_counter() - started
        if isinstance(source, Rejected):
            if source.gone:
                return lambda: _nothing(self._store.remove_documents, [path])
            skipped = Skipped(path, source.reason, source.state)
            return lambda: _nothing(self._store.skip, skipped)
        if refusal := self._cutting.refuses(_language_of(path, source.text) or "text"):
            skipped = Skipped(path, refusal, source.state)
            return lambda: _nothing(self._store.skip, skipped)
        known = self._store.document(path)
        if known and known.sha256 == source.sha256:
            record = DocumentRecord(path, known.language, source.sha256, source.state)
            return lambda: _nothing(self._store.touch_document, record)
        record, chunks = self._cut(path, source, DISK)
        return lambda: self._replace(record, chunks, priority)

    def skip_failed(self, path: str, reason: str) -> None:
        """Record that a file could not be cut, until it changes."""
        state = file_state(self._project.root / path)
        if state is not None:
            self._store.skip(Skipped(path, reason, state))
        else:
            self._store.remove_documents([path])

    def refuses(self, path: str, text: str) -> str:
        """Why an editor's text of one of the project's files is not indexed; empty where it is."""
        refusal = self._cutting.refuses(_language_of(path, text) or "text")
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
        self, path: str, text: str, session: str, *, language: str | None = None, priority: int = 1
    ) -> Replaced:
        """Store an editor's unsaved text of a document."""
        data = text.encode("utf-8", "surrogatepass")
        state = FileState(len(data), 0, 0, time.time_ns())
        source = Source(text, hashlib.sha256(data).hexdigest(), state)
        return self._replace(*self._cut(path, source, session, language), priority)

    def drop_buffer(self, path: str, session: str) -> None:
        """Forget an editor's unsaved text; the file's own text answers again."""
        self._store.remove_documents([path], session)

    def read(self, path: str) -> Source | Rejected:
        """The file's text as it is now."""
        return read_source(self._project.root, path, limit=self._max_file_bytes)

    def _cut(
        self, path: str, source: Source, session: str, language: str | None = None
    ) -> tuple[DocumentRecord, list[NewChunk]]:
        language = _language_of(path, source.text) or language
        record = DocumentRecord(path, language or "text", source.sha256, source.state, session)
        chunks = _timed(self.spent, "chunking", lambda: self._chunks(source.text, record))
        return record, chunks

    def _chunks(self, text: str, record: DocumentRecord) -> list[NewChunk]:
        cutting = self._cutting
        language = None if cutting.by_lines else record.language
        found = chunk_text(
            text, record.path, language=language, budget=cutting.budget, token_offsets=cutting.token_offsets
        )
        if cutting.by_lines:
            found = [replace(chunk, language=record.language) for chunk in found]
        return [
            NewChunk(chunk, hashlib.sha256(embedding_text(chunk).encode("utf-8", "surrogatepass")).digest())
            for chunk in found
        ]

    def _replace(self, record: DocumentRecord, chunks: list[NewChunk], priority: int) -> Replaced:
        return _timed(self.spent, "storing", lambda: self._store.replace_document(record, chunks, priority=priority))


def _language_of(path: str, text: str) -> str | None:
    return detect_language(path, text[:200].split("\n", 1)[0])


def _nothing(work: Callable[[T], object], argument: T) -> None:
    """Do something that cuts nothing."""
    work(argument)


def _timed(spent: Spent, step: str, work: Callable[[], T]) -> T:
    started = time.perf_counter()
    try:
        return work()
    finally:
        setattr(spent, step, getattr(spent, step) + time.perf_counter() - started)
