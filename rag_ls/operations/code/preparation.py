"""Prepares questions about code: waits for changed files to be indexed, those that the question is about first."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from rag_ls.engine.client import Client
from rag_ls.engine.session import ProjectSession
from rag_ls.indexing import Depth
from rag_ls.operations.caller import Caller
from rag_ls.operations.code.relevant_files import QuestionScope
from rag_ls.operations.engine.progress import Report

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


class CodeQuestion(Protocol):
    """A request about code."""

    @property
    def project(self) -> tuple[str, ...]:
        """Names or roots of projects; all open ones where there is none."""
        ...

    @property
    def scope(self) -> QuestionScope:
        """The subject of the question."""
        ...


def prepare_shell_question(caller: Caller, query: str, path_glob: str, kinds: Sequence[str], report: Report) -> None:
    """Prepare a question at the shell. It also starts indexing, which perhaps no other client has done."""
    about_code = not kinds or "code" in kinds or "rules" in kinds
    about_memories = not kinds or "memory" in kinds
    wait = _Wait(caller.client, time.monotonic() + _MAX_WAIT_S, report)
    for session in caller.projects.all():
        if wait.ask(functools.partial(_lacks_model, session, about_code, about_memories)):
            session.model(caller.patience_s)
        if about_code:
            # Memories do not wait for files.
            _start_indexing(session, wait)
            _wait_for_files(session, QuestionScope(query, glob=path_glob), wait)


def read_first(caller: Caller, request: CodeQuestion, report: Report) -> None:
    """Have the files read that a question is about: an answer from the few that happen to be read so far would be useless."""
    scope, wait = request.scope, _Wait(caller.client, time.monotonic() + _MAX_WAIT_S, report)
    if os.path.isabs(scope.path):
        sessions = [caller.projects.find_holding(scope.path, request.project)]
    else:
        sessions = caller.projects.find_with_published(request.project)[0]
    for session in sessions:
        _wait_for_files(session, scope, wait)


def index_and_read_first(caller: Caller, request: CodeQuestion, report: Report) -> None:
    """As `read_first`, but first start comparing projects that this process has not compared with their files yet."""
    wait = _Wait(caller.client, time.monotonic() + _MAX_WAIT_S, report)
    for session in caller.projects.find(request.project):
        if not session.indexing.scanned:
            _start_indexing(session, wait)
    read_first(caller, request, report)


def _start_indexing(session: ProjectSession, wait: _Wait) -> None:
    """Start comparing the project with its files, or resume its queue; a shared engine goes on until all is embedded."""
    indexing = session.indexing
    is_shared = bool(wait.client.engine.address)
    if indexing.is_comparing:
        indexing.resume()
    elif indexing.scanned:
        if wait.ask(session.store.queue.has_any):
            # The question that asked for these files ended before they were read.
            indexing.resume()
    elif session.project.never_indexed:
        # A process that ends with its answer has no time to embed.
        indexing.index_tree(Depth.EMBEDDINGS if is_shared else Depth.WORDS)
    else:
        indexing.index_tree()
        if indexing.wait_until_idle(_CATCH_UP_S, embeddings=False):
            indexing.wait_until_idle(_CATCH_UP_S)
    if is_shared:
        indexing.go_on_alone()


def _wait_for_files(session: ProjectSession, scope: QuestionScope, wait: _Wait) -> None:
    indexing, started_ns = session.indexing, time.time_ns()
    if not indexing.reads or not (indexing.is_comparing or wait.ask(session.store.queue.has_any)):
        return
    with indexing.choosing():
        answers = wait.ask(functools.partial(_holds_nearly_all, session))
        wait.until(lambda: not indexing.is_comparing, session, _HURRIED_S if answers else _SCAN_S)
        if not (queued := wait.ask(session.store.queue.paths)):
            return
        wait.tell(session)
        first = queued if len(queued) <= _MAX_READ_AT_ONCE else scope.choose_files(session, queued, hurried=answers)
        indexing.read_first(first)
    # Ask when they were read, not whether they are queued: a comparison in between may queue them again.
    is_read = functools.partial(session.store.queue.all_read_since, first, started_ns)
    wait.until(lambda: wait.ask(is_read), session, _HURRIED_S if answers else _FIRST_S)
    if len(queued) <= _SMALL_QUEUE:
        wait.until(lambda: not wait.ask(session.store.queue.has_any), session, _MOMENT_S)


@dataclass(frozen=True, slots=True)
class _Wait:
    """The client that waits for a question's files, its deadline, and the function to report progress to meanwhile."""

    client: Client
    deadline: float
    report: Report

    def ask(self, question: Callable[[], T]) -> T:
        """Ask in the engine's threads: this thread would need its own database connection."""
        return self.client.submit("look", question).result()

    def until(self, is_done: Callable[[], bool], session: ProjectSession, longest_s: float) -> None:
        """Wait until `is_done`, for `longest_s` at most, and only while this process reads the project."""
        pause, told = 0.005, time.monotonic()
        deadline = min(self.deadline, told + longest_s)
        while session.indexing.reads and not is_done() and (now := time.monotonic()) < deadline:
            if now - told > _TELL_S:
                told = now
                self.tell(session)
            time.sleep(pause)
            pause = min(0.05, 1.5 * pause)

    def tell(self, session: ProjectSession) -> None:
        """Tell of a project's progress."""
        self.report(session.project.name, session.indexing.progress)


def _holds_nearly_all(session: ProjectSession) -> bool:
    """Whether the index holds nearly all files, though perhaps not in their present state."""
    return _KNOWN_PER_UNKNOWN * session.store.queue.unknown_count() < session.store.counts().documents


def _lacks_model(session: ProjectSession, about_code: bool, about_memories: bool) -> bool:
    """Whether there are vectors to search but the model is not ready."""
    has_vectors = (about_code and bool(session.store.embeddings.active_model())) or (
        about_memories and any(session.memories.counts().values())
    )
    return has_vectors and session.model() is None
