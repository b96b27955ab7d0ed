"""Has the files read that a question about code needs, those that it is about first."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Sequence

from rag_ls.chunking import rule_kind
from rag_ls.engine import ProjectSession
from rag_ls.errors import RagLsError
from rag_ls.indexing import Depth, Phase, files_holding
from rag_ls.languages import detect_language
from rag_ls.operations.operation import Caller, MustWait, Report, ignore_progress
from rag_ls.search import analyse
from rag_ls.util.path_globs import glob_matcher, relative_globs
from rag_ls.util.records import dataclass

# The files that hold a question's words, up to this many bytes, answer it nearly as well as all files do (docs/quality.md).
FIRST_BYTES = 1_000_000
_LOOK_S = 0.2
# A question without words reads at most this many of the files that match its pattern.
_MAX_FIRST_FILES = 100


@dataclass(frozen=True, slots=True)
class QuestionScope:
    """The subject of a question, unchecked."""

    text: str = ""
    path: str = ""
    glob: str = ""
    rules: bool = False
    """Whether the documents of rules are read too."""

    def find_named(self, session: ProjectSession, queued: Sequence[str]) -> list[str]:
        """Return the queued files without which there is no answer: the one that is named, and documents of rules."""
        place = self._find_place(session)
        return [path for path in queued if path == place or (self.rules and rule_kind(path) is not None)]

    def choose_holders(self, session: ProjectSession, queued: Sequence[str]) -> list[str]:
        """Return the queued files that hold the words, the best first, as far as a short look finds them."""
        glob = relative_globs(self.glob, str(session.project.root))
        matches = glob_matcher(glob, set(queued)) if glob else None
        allowed = queued if matches is None else [path for path in queued if matches(path)]
        query, roles = analyse(self.text), session.project.roles
        if not query.terms:
            return [*allowed[: _MAX_FIRST_FILES * (matches is not None)]]
        return files_holding(
            session.project.root,
            allowed,
            query.terms,
            most_bytes=FIRST_BYTES,
            largest=session.settings.index.max_file_bytes,
            longest_s=_LOOK_S,
            weight=lambda path: roles.likelihood(query, path, detect_language(path) or "text"),
        )

    def _find_place(self, session: ProjectSession) -> str:
        try:
            return session.relative(self.path) if self.path else ""
        except RagLsError:
            return ""


# How long a question at the shell waits for files that changed since the last question.
_CATCH_UP_S = 1.0
# The longest preparation of one question, for any number of projects.
_MAX_WAIT_S = 30.0
# The longest wait for a comparison, which usually takes a second or two.
_SCAN_S = 15.0
# The longest wait until all files are read.
_ALL_S = 180.0
# The time in which the best of the files that a question is about are read; the others follow behind the answer.
_BEST_S = 0.1
_BEST_FILES = 6
# The longest wait for a comparison where the index already holds nearly all files.
_HURRIED_S = 1.0
# A further wait after the first files, in which a small project becomes complete.
_MOMENT_S = 0.5
_SMALL_QUEUE_FILES = 200
# A queue this short is read as fast as it is searched for the question's words.
_MAX_READ_AT_ONCE = 12
# The index counts as able to answer if it holds more than this many documents for each file that was never read.
_KNOWN_PER_UNKNOWN = 20
_TELL_S = 0.25


def prepare_shell_question(caller: Caller, query: str, path_glob: str, kinds: Sequence[str], report: Report) -> None:
    """Prepare a question at the shell. It also starts indexing, which perhaps no other client has done."""
    about_code = not kinds or "code" in kinds or "rules" in kinds
    about_memories = not kinds or "memory" in kinds
    wait, goes_on = _Wait(time.monotonic() + _MAX_WAIT_S, report), bool(caller.client.engine.address)
    for session in caller.projects.all():
        if _lacks_model(session, about_code, about_memories):
            session.project.model(caller.patience_s)
        if about_code:
            # Memories do not wait for files.
            _start_indexing(session, goes_on=goes_on)
            _read_first(session, QuestionScope(query, glob=path_glob), wait)


def read_first(
    caller: Caller, sessions: Sequence[ProjectSession], scope: QuestionScope, *, compares: bool = False
) -> None:
    """Have the files read that a question is about: an answer from the few that happen to be read so far would be useless.

    `compares`: first compare projects that this process has not compared with their files yet. Raises `MustWait` for a
    caller that can wait, if there is anything to wait for.
    """
    if not caller.can_wait:
        return
    new = [session for session in sessions if compares and _needs_start(session)]
    goes_on = bool(caller.client.engine.address)
    for session in sessions if goes_on and compares else ():
        # It was paused when its last client went, for example while the machine was too busy to embed.
        if session not in new and session.indexing.is_left_over:
            session.indexing.go_on_alone()
    unread = [session for session in sessions if session in new or _has_unread(session)]
    if not unread:
        return

    def start_and_wait(report: Report) -> None:
        for session in new:
            _start_indexing(session, goes_on=goes_on)
        wait_for_files(unread, scope, report)

    raise MustWait(start_and_wait)


def wait_for_files(sessions: Iterable[ProjectSession], scope: QuestionScope, report: Report = ignore_progress) -> None:
    """Wait for a limited time until the files are read that a question is about."""
    wait = _Wait(time.monotonic() + _MAX_WAIT_S, report)
    for session in sessions:
        _read_first(session, scope, wait)


def read_all(caller: Caller, session: ProjectSession) -> None:
    """Have all files of a project read, for a question about what no longer fits anywhere.

    Raises `MustWait` for a caller that can wait.
    """
    if not caller.can_wait:
        return

    def start_and_wait(report: Report) -> None:
        _start_indexing(session, goes_on=bool(caller.client.engine.address))
        is_over = functools.partial(_has_read_all, session)
        _Wait(time.monotonic() + _ALL_S, report).until(is_over, session, _ALL_S)

    raise MustWait(start_and_wait)


def _has_read_all(session: ProjectSession) -> bool:
    """Whether there is nothing more to read, or no use in waiting (the disk is full)."""
    is_read = not session.indexing.comparison.is_awaited and not session.store.queue.has_any()
    return is_read or bool(session.indexing.problem)


def _start_indexing(session: ProjectSession, *, goes_on: bool) -> None:
    """Start comparing the project with its files, or resume its queue.

    An engine that `goes_on` when the question is answered indexes until all is embedded.
    """
    indexing = session.indexing
    if indexing.comparison.is_awaited:
        indexing.resume()
    elif indexing.scanned:
        if session.store.queue.has_any():
            # The question that asked for these files ended before they were read.
            indexing.resume()
    elif session.project.never_indexed:
        # A process that ends with its answer has no time to embed.
        indexing.index_tree(Depth.EMBEDDINGS if goes_on else Depth.WORDS)
    else:
        indexing.index_tree()
        if indexing.wait_until_idle(_CATCH_UP_S, embeddings=False):
            indexing.wait_until_idle(_CATCH_UP_S)
    if goes_on:
        indexing.go_on_alone()


def _needs_start(session: ProjectSession) -> bool:
    """Whether this process has not compared the project with its files, or left some unread when its last client went."""
    indexing = session.indexing
    is_left = not indexing.reads and indexing.progress.phase is not Phase.CANCELLED and session.store.queue.has_any()
    return is_left or not indexing.scanned


def _has_unread(session: ProjectSession) -> bool:
    """Whether this process reads the project, and is not done."""
    indexing = session.indexing
    return indexing.reads and (indexing.comparison.is_awaited or session.store.queue.has_any())


def _read_first(session: ProjectSession, scope: QuestionScope, wait: _Wait) -> None:
    indexing, queue, started_ns = session.indexing, session.store.queue, time.time_ns()
    if not _has_unread(session):
        return
    answers = _holds_nearly_all(session)
    # A former state of a document of rules would deny its new rules.
    is_hurried = answers and not scope.rules
    wait.until(lambda: not indexing.comparison.is_awaited, session, _HURRIED_S if is_hurried else _SCAN_S)
    if not (queued := queue.paths()):
        return
    wait.tell(session)
    named = queued if len(queued) <= _MAX_READ_AT_ONCE else scope.find_named(session, queued)
    holders = [] if named is queued else scope.choose_holders(session, queued)
    indexing.read_first([*named, *holders])
    session.project.documents.index_now(holders[:_BEST_FILES], _BEST_S)
    if named:
        # Compare the times of reading, not the queue: a comparison in between may queue the files again.
        wait.until(functools.partial(queue.all_read_since, named, started_ns), session, _MAX_WAIT_S)
    if len(queued) <= _SMALL_QUEUE_FILES:
        wait.until(lambda: not queue.has_any(), session, _MOMENT_S)


@dataclass(frozen=True, slots=True)
class _Wait:
    """A wait for a question's files: its deadline, and the function to report progress to meanwhile."""

    deadline: float
    report: Report

    def until(self, is_done: Callable[[], bool], session: ProjectSession, longest_s: float) -> None:
        """Wait until `is_done`, for `longest_s` at most, and only while this process reads the project."""
        indexing, deadline = session.indexing, min(self.deadline, time.monotonic() + longest_s)

        def is_over() -> bool:
            return not indexing.reads or is_done()

        while (left := deadline - time.monotonic()) > 0 and not indexing.wait_until(is_over, min(_TELL_S, left)):
            self.tell(session)

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
    return has_vectors and session.project.model() is None
