"""Prepares questions about code: waits for changed files to be indexed, those that the question is about first."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from rag_ls.chunking import stem_of
from rag_ls.engine.client import Client
from rag_ls.engine.project_view import ProjectView
from rag_ls.indexing import Depth
from rag_ls.operations.indexing import Report
from rag_ls.operations.projects import Projects
from rag_ls.operations.relevant_files import QuestionScope
from rag_ls.operations.requests import FindRelated, ListSymbols, RelatedTests, Search, SearchCode

# How long a question at the shell waits for files that changed since the last question.
_CATCH_UP_S = 1.0
# The longest preparation of one question, whatever the number of projects.
_MAX_WAIT_S = 20.0
# The longest wait for a comparison, which usually takes a second or two.
_SCAN_S = 15.0
_FIRST_S = 10.0
# The longest wait for changed files where the index already holds nearly all files.
_HURRIED_S = 1.0
# A further wait after the first files, in which a small project becomes complete.
_MOMENT_S = 0.5
_SMALL_QUEUE = 200
# A queue this short is read as fast as it is searched for the question's words.
_MAX_READ_AT_ONCE = 12
# The index counts as answering if it holds more than this many documents per file that was never read.
_KNOWN_PER_UNKNOWN = 20
_TELL_S = 0.25

T = TypeVar("T")


class Preparation:
    """Waits, in the caller's thread, for projects that are still being read."""

    def __init__(self, client: Client, projects: Projects, *, patience_s: float) -> None:
        """A question at the shell waits up to `patience_s` seconds for a model that is still loading."""
        self._client = client
        self._projects = projects
        self._patience_s = patience_s

    def search(self, asked: Search, report: Report) -> None:
        """Prepare a question at the shell. It also starts indexing, which perhaps no other client has done."""
        about_code, about_memories = (
            not asked.kinds or "code" in asked.kinds or "rules" in asked.kinds,
            not asked.kinds or "memory" in asked.kinds,
        )
        wait = _Wait(time.monotonic() + _MAX_WAIT_S, report)
        for view in self._projects.all():
            # In the engine's threads: this thread would need its own database connection.
            if self._ask(functools.partial(_lacks_model, view, about_code, about_memories)):
                view.model(self._patience_s)
            if about_code:
                # Memories do not wait for files.
                self._start(view)
                self._read_first(view, QuestionScope(asked.query, glob=asked.path_glob.strip()), wait)

    def search_code(self, asked: SearchCode, report: Report) -> None:
        """Prepare an agent's question: an answer from the few files that happen to be read so far would be useless."""
        self._read(QuestionScope(asked.query, glob=asked.path_glob.strip()), asked.project, report)

    def find_related(self, asked: FindRelated, report: Report) -> None:
        """As `search_code`."""
        text = f"{asked.symbol} {asked.snippet}"
        self._read(QuestionScope(text, asked.path.strip(), asked.path_glob.strip()), asked.project, report)

    def list_symbols(self, asked: ListSymbols, report: Report) -> None:
        """As `search_code`."""
        self._read(QuestionScope(asked.query, asked.path.strip(), asked.path_glob.strip()), asked.project, report)

    def related_tests(self, asked: RelatedTests, report: Report) -> None:
        """As `search_code`; tests are named after the file."""
        path = asked.path.strip()
        self._read(QuestionScope(f"{asked.symbol} tests {stem_of(path)}", path), asked.project, report)

    def _read(self, scope: QuestionScope, names: tuple[str, ...], report: Report) -> None:
        wait = _Wait(time.monotonic() + _MAX_WAIT_S, report)
        is_absolute = os.path.isabs(scope.path)
        views = [self._projects.holding(scope.path, names)] if is_absolute else self._projects.sought(names)[0]
        for view in views:
            self._read_first(view, scope, wait)

    def _start(self, view: ProjectView) -> None:
        """Start comparing the project with its files, or resume its queue; a shared engine goes on until all is embedded."""
        indexing = view.indexing
        is_shared = bool(self._client.engine.address)
        if indexing.is_comparing:
            indexing.resume()
        elif indexing.scanned:
            if self._ask(view.store.queue.has_any):
                # The question that asked for these files ended before they were read.
                indexing.resume()
        elif view.shared.never_indexed:
            # A process that ends with its answer has no time to embed.
            indexing.index_tree(Depth.EMBEDDINGS if is_shared else Depth.WORDS)
        else:
            indexing.index_tree()
            if indexing.wait_until_idle(_CATCH_UP_S, embeddings=False):
                indexing.wait_until_idle(_CATCH_UP_S)
        if is_shared:
            indexing.go_on_alone()

    def _read_first(self, view: ProjectView, scope: QuestionScope, wait: _Wait) -> None:
        indexing, asked_ns = view.indexing, time.time_ns()
        if not indexing.reads or not (indexing.is_comparing or self._ask(view.store.queue.has_any)):
            return
        with indexing.choosing():
            answers = self._ask(functools.partial(_answers, view))
            wait.until(lambda: not indexing.is_comparing, view, _HURRIED_S if answers else _SCAN_S)
            if not (queued := self._ask(view.store.queue.paths)):
                return
            wait.tell(view)
            first = queued if len(queued) <= _MAX_READ_AT_ONCE else scope.files(view, queued, hurried=answers)
            indexing.read_first(first)
        # Ask when they were read, not whether they are queued: a comparison in between may queue them again.
        is_read = functools.partial(view.store.queue.all_read_since, first, asked_ns)
        wait.until(lambda: self._ask(is_read), view, _HURRIED_S if answers else _FIRST_S)
        if len(queued) <= _SMALL_QUEUE:
            wait.until(lambda: not self._ask(view.store.queue.has_any), view, _MOMENT_S)

    def _ask(self, question: Callable[[], T]) -> T:
        return self._client.submit("look", question).result()


@dataclass(frozen=True, slots=True)
class _Wait:
    """The deadline of one question's waiting, and the function to report progress to meanwhile."""

    deadline: float
    report: Report

    def until(self, is_done: Callable[[], bool], view: ProjectView, longest_s: float) -> None:
        """Wait until `is_done`, for `longest_s` at most, and only while this process reads the project."""
        pause, told = 0.005, time.monotonic()
        deadline = min(self.deadline, told + longest_s)
        while view.indexing.reads and not is_done() and (now := time.monotonic()) < deadline:
            if now - told > _TELL_S:
                told = now
                self.tell(view)
            time.sleep(pause)
            pause = min(0.05, 1.5 * pause)

    def tell(self, view: ProjectView) -> None:
        """Tell of a project's progress."""
        self.report(view.project.name, view.indexing.progress)


def _answers(view: ProjectView) -> bool:
    """Whether the index holds nearly all files, though perhaps not in their present state."""
    return _KNOWN_PER_UNKNOWN * view.store.queue.unknown_count() < view.store.counts().documents


def _lacks_model(view: ProjectView, about_code: bool, about_memories: bool) -> bool:
    """Whether there are vectors to search but the model is not ready."""
    has_vectors = (about_code and bool(view.store.embeddings.active_model())) or (
        about_memories and any(view.memories.counts().values())
    )
    return has_vectors and view.model() is None
