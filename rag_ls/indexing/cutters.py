"""Cuts documents in processes of their own: a grammar that crashes, hangs or swells ends only its process."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from rag_ls.chunking import (
    Budget,
    Cut,
    approximate_token_offsets,
    cut,
    cut_rules,
    embedding_text,
    outline_of_document,
    recognise,
    rule_kind,
)
from rag_ls.errors import StoreError
from rag_ls.indexing.files import FAILED, FileRules, Rejected, Source, file_state, read_source
from rag_ls.languages import holds_language
from rag_ls.model import Outline
from rag_ls.storage import DISK, DocumentRecord, FileState, NewChunk, columns_of
from rag_ls.util.guarded_processes import GuardedProcesses, Limits, ProcessEnded, R
from rag_ls.util.paths import compose
from rag_ls.util.records import dataclass, replace

_log = logging.getLogger(__name__)

J = TypeVar("J")

_MAX_PROCESSES = 8
# One process works; a second one is for several editors that type at once.
_MAX_TYPED_PROCESSES = 2
# An idle process ends after this time: pauses in typing are longer than those between two folders of a first index.
_TYPED_REST_S, _BULK_REST_S = 120.0, 3.0
_MAX_BATCH_FILES = 12
# Batches per process: one that it works on, and others that wait while the caller stores results.
_MAX_BATCHES_AHEAD = 4
# Files of a survey per batch: it takes a fraction of a second.
_SURVEY_BATCH_FILES = 40
# The parser itself gives up after a few seconds; a longer run hangs where the parser cannot check the time.
_FILE = Limits(cpu_s=20.0)
_BATCH = Limits(cpu_s=60.0)
# Cutting needs neither databases nor the walk through the tree: without them a process is up in half the time.
_POSTPONED = ("rag_ls.indexing", "rag_ls.storage", "rag_ls.search")


class Cutters:
    """The processes that cut the documents of all projects. Started on demand, ended by `close` or when they rest.

    A text that ends its process is cut by lines, and its result says why. Safe from several threads. Each call raises
    `NoProcess` after `close`, and where the system starts no process.
    """

    def __init__(self, count: int = 0, *, is_brief: bool = False) -> None:
        """`count` is the number of processes for many files, 0 for one a core; in a command that `is_brief` they do all."""
        self._count = count or min(os.cpu_count() or 1, _MAX_PROCESSES)
        self._bulk = GuardedProcesses(self._count, nice=5, rest_s=_BULK_REST_S, postponed=_POSTPONED)
        typed = partial(GuardedProcesses, _MAX_TYPED_PROCESSES, rest_s=_TYPED_REST_S, postponed=_POSTPONED)
        self._typed = self._bulk if is_brief else typed()

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        self._typed.close()
        self._bulk.close()

    def cut_text(
        self, path: str, source: Source, language: str, cutting: Cutting, ended: Ended, session: str
    ) -> CutFile:
        """Cut the text of an editing session. Raises `ProcessEnded` where no process survives even its lines."""
        try:
            return _call(self._typed, _FILE, cut_source, path, source, language, cutting, ended, session)
        except ProcessEnded as error:
            _log.warning("the unsaved text of %s is cut by lines: when it was parsed, %s", path, error)
            ended = {source.sha256: str(error)}
            return _call(self._typed, _FILE, cut_source, path, source, language, cutting, ended, session)

    def cut_file(self, tree: Tree, job: Job) -> Outcome:
        """Read and cut one file."""
        return _cut_alone(self._typed, tree, job)

    def call(self, function: Callable[..., R], *arguments: object) -> R:
        """The result of another function that parses one text. Raises `ProcessEnded` where it ends its process."""
        return _call(self._typed, _FILE, function, *arguments)

    def call_or(self, otherwise: R, lost: str, function: Callable[..., R], *arguments: object) -> R:
        """As `call`; where it ends its process, `otherwise`, and the log says what is `lost`."""
        try:
            return self.call(function, *arguments)
        except ProcessEnded as error:
            _log.warning("%s: when it was parsed, %s", lost, error)
            return otherwise

    def outline(self, text: str, path: str, language: str) -> Outline:
        """The outline of a text; empty where it ends its process."""
        return self.call_or(Outline(), f"{path} has no outline", outline_of_document, text, path, language)

    def call_many(self, function: Callable[[Sequence[J]], list[R]], items: Sequence[J]) -> Iterator[R | None]:
        """Yield in order the results of another function that parses files; None for an item that ends its process."""
        batches = [items[start : start + _SURVEY_BATCH_FILES] for start in range(0, len(items), _SURVEY_BATCH_FILES)]
        with ThreadPoolExecutor(self._count, thread_name_prefix="cutters") as threads:
            for results in threads.map(partial(_call_batch, self._bulk, function), batches):
                yield from results

    def cut_many(self, tree: Tree, jobs: Iterable[Job], *, parallel: bool) -> Generator[list[tuple[Job, Outcome]]]:
        """Yield jobs in order with their outcomes. Finished batches come together, to share one commit.

        `parallel` uses all processes, which pays for many files.
        """
        processes, count = (self._bulk, self._count) if parallel else (self._typed, 1)
        threads = ThreadPoolExecutor(count, thread_name_prefix="cutters")
        left, size = iter(jobs), 1
        running: deque[tuple[list[Job], Future[list[Outcome]]]] = deque()
        try:
            while True:
                while len(running) < _MAX_BATCHES_AHEAD * count and (batch := list(islice(left, size))):
                    running.append((batch, threads.submit(_cut_batch, processes, tree, batch)))
                    # Start with small batches: a question may wait for the first files.
                    size = min(size + 1, _MAX_BATCH_FILES)
                if not running:
                    return
                finished = [running.popleft()]
                finished[0][1].result()
                while running and running[0][1].done():
                    finished.append(running.popleft())
                yield [item for batch, future in finished for item in zip(batch, future.result(), strict=True)]
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def _call_batch(
    processes: GuardedProcesses, function: Callable[[Sequence[J]], list[R]], batch: Sequence[J]
) -> list[R | None]:
    try:
        return [*_call(processes, _BATCH if len(batch) > 1 else _FILE, function, batch)]
    except ProcessEnded as error:
        if len(batch) > 1:
            return [each for item in batch for each in _call_batch(processes, function, [item])]
        _log.warning("%s is left out: when it was parsed, %s", batch[0], error)
        return [None]


def _cut_batch(processes: GuardedProcesses, tree: Tree, batch: list[Job]) -> list[Outcome]:
    try:
        return processes.call(cut_batch, tree, batch, limits=_BATCH)
    except ProcessEnded:
        return [_cut_alone(processes, tree, job) for job in batch]


def _cut_alone(processes: GuardedProcesses, tree: Tree, job: Job) -> Outcome:
    try:
        return _call(processes, _FILE, cut_batch, tree, [job])[0]
    except ProcessEnded as error:
        _log.warning("%s is cut by lines: when it was parsed, %s", job.path, error)
        reason = str(error)
    try:
        return _call(processes, _FILE, cut_batch, tree, [replace(job, ended=reason)])[0]
    except ProcessEnded as error:
        return failed(tree.root, job.path, str(error))


def _call(processes: GuardedProcesses, limits: Limits, function: Callable[..., R], *arguments: object) -> R:
    """A call that is made again if somebody else may have ended the process."""
    try:
        return processes.call(function, *arguments, limits=limits)
    except ProcessEnded as error:
        if error.by_call:
            raise
    return processes.call(function, *arguments, limits=limits)


# Raise this when chunks or outlines change: documents cut by another version are then cut again.
CHUNKER_VERSION = 21


@dataclass(frozen=True, slots=True)
class Cutting:
    """The settings by which documents are cut; `fingerprint` changes when their chunks would.

    Tokens are counted approximately: a model's own tokenizer takes longer than all the rest of cutting.
    """

    budget: Budget
    by_lines: bool = False
    """Windows of lines, whatever the language."""
    languages: tuple[str, ...] = ()
    """The languages to index; empty for all."""
    rules: FileRules = FileRules()
    max_file_bytes: int = 1_000_000

    @property
    def fingerprint(self) -> str:
        """Everything that chunks depend on besides the documents."""
        settings = self.budget, self.by_lines, ",".join(self.languages), self.rules, self.max_file_bytes
        return ":".join(map(str, (CHUNKER_VERSION, *settings)))

    def language_of(self, path: str, text: str) -> str | None:
        """The language of a document: as the user's rules name it, else as its name and text say."""
        return self.rules.language_of(path) or recognise(path, text)

    def refuses(self, path: str, language: str) -> str:
        """The reason why a document in a language is not indexed; empty where it is."""
        wanted = not self.languages or any(holds_language(each, language, path) for each in self.languages)
        return "" if wanted else "language not enabled"


@dataclass(frozen=True, slots=True)
class CutFile:
    """A document with its chunks and outline, ready to be stored."""

    record: DocumentRecord
    chunks: list[NewChunk]
    outline: Outline
    uses: bytes = b""
    """The uses of names in it, packed (`chunking.read_uses`)."""
    ended: str = ""
    """The reason why it was cut by lines although its language has a grammar: what parsing it did to a process."""


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read and cut."""

    path: str
    known: DocumentRecord | None = None
    """The indexed document, if any: a file with the same text is not cut again."""
    ended: str = ""
    """The harm that parsing the file has just done to a process: it is now cut by lines."""


Ended = Mapping[str, str]
"""The texts, by their SHA-256, that must not be parsed, and what parsing each did to its process."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The settings by which the files of a project are read and cut."""

    root: Path
    cutting: Cutting
    ended: Ended


Outcome = CutFile | DocumentRecord | Rejected
"""The result for a file: cut chunks; an unchanged document with its new state; or a rejection."""


def cut_batch(tree: Tree, jobs: Sequence[Job]) -> list[Outcome]:
    """Read and cut some files; one that cannot be cut does not fail the others."""
    outcomes: list[Outcome] = []
    for job in jobs:
        try:
            outcomes.append(read_and_cut(tree, job))
        except StoreError:
            # The failure says nothing about the file.
            raise
        except Exception as error:
            print(f"{job.path} cannot be indexed: {error!r}", file=sys.stderr)
            outcomes.append(failed(tree.root, job.path, type(error).__name__))
    return outcomes


def read_and_cut(tree: Tree, job: Job) -> Outcome:
    """Read one of a project's files, and cut it if it is new."""
    source = read_source(tree.root, job.path, limit=tree.cutting.max_file_bytes, rules=tree.cutting.rules)
    if isinstance(source, Rejected):
        return source
    language = tree.cutting.language_of(job.path, source.text) or "text"
    if refusal := tree.cutting.refuses(job.path, language):
        return Rejected(refusal, source.state)
    if job.known is not None and job.known.sha256 == source.sha256:
        return DocumentRecord(job.path, job.known.language, source.sha256, source.state)
    ended = {source.sha256: job.ended} if job.ended else tree.ended
    return cut_source(job.path, source, language, tree.cutting, ended)


def failed(root: Path, path: str, reason: str) -> Rejected:
    """The rejection of a file that could not be cut, with its present state."""
    looked_ns = time.time_ns()
    state = file_state(root / path)
    return Rejected(f"{FAILED}: {reason}", state or FileState(0, 0, 0, looked_ns), gone=state is None)


def cut_source(
    path: str, source: Source, language: str, cutting: Cutting, ended: Ended, session: str = DISK
) -> CutFile:
    """Cut a text, from disk or of an editing session."""
    reason = ended.get(source.sha256, "")
    found = _cut(path, source.text, language, replace(cutting, by_lines=True) if reason else cutting)
    found = found if source.text.isascii() else _with_composed_names(found)
    chunks = [
        NewChunk(
            chunk,
            hashlib.sha256(embedding_text(chunk).encode("utf-8", "surrogatepass")).digest(),
            columns_of(path, chunk.symbol, chunk.signature, chunk.doc, chunk.text),
        )
        for chunk in found.chunks
    ]
    record = DocumentRecord(path, language, source.sha256, source.state, session, secret_lines=source.secret_lines)
    return CutFile(record, chunks, found.outline, found.uses, reason)


def _with_composed_names(found: Cut) -> Cut:
    """The same with names of declarations composed, so that they are found however somebody types them."""
    symbols = tuple(replace(symbol, name=compose(symbol.name)) for symbol in found.outline.symbols)
    chunks = [replace(chunk, symbol=compose(chunk.symbol)) for chunk in found.chunks]
    return replace(found, chunks=chunks, outline=replace(found.outline, symbols=symbols))


def _cut(path: str, text: str, language: str, cutting: Cutting) -> Cut:
    if not cutting.by_lines:
        by_syntax = cut_rules if rule_kind(path) else cut
        return by_syntax(text, path, language=language, budget=cutting.budget, token_offsets=approximate_token_offsets)
    found = cut(text, path, language=None, budget=cutting.budget, token_offsets=approximate_token_offsets)
    return Cut([replace(chunk, language=language) for chunk in found.chunks], found.outline)
