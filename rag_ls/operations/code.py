"""Operations on the index: status, indexing, and what comes before a question."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import TypeVar

from rag_ls import __version__
from rag_ls.arguments import Arguments
from rag_ls.client import Client, merged
from rag_ls.indexing import Depth, Phase, Progress
from rag_ls.model import SearchAnswer
from rag_ls.operations.projects import Projects
from rag_ls.wire import Json, engine_json, hosted_json, status_json
from rag_ls.workspace import OpenProject

# A question at the shell is worth a short wait for files that changed since the last one.
_CATCH_UP_S = 3.0
_LOOK_S = 0.25
# An agent's first question is worth more than that: what it is told of the code it goes by.
_FIRST_INDEX_S = 20.0
_LONGEST_WAIT_S = 600

T = TypeVar("T")
Report = Callable[[str, Progress], None]
"""Told of the progress of a project, by its name."""


class CodeOperations:
    """Operations on the indexes of a client's projects."""

    def __init__(self, client: Client, projects: Projects, *, patience_s: float) -> None:
        """Before a question, a model that is still loading is waited for `patience_s` in the caller's thread."""
        self._client = client
        self._projects = projects
        self._patience_s = patience_s

    def index_status(self, arguments: object = None) -> Json:
        """How each open project stands, and the engine."""
        args = Arguments("index_status", arguments, ("project", "wait_s"))
        statuses = [status_json(opened.status()) for opened in self._projects.named(args.strings("project"))]
        return {
            "version": __version__,
            "complete": all(status["complete"] for status in statuses),
            "projects": statuses,
            "engine": engine_json(self._client.engine),
        }

    def engine_status(self, arguments: object = None) -> Json:
        """How each open project stands, and the engine with its clients and latencies."""
        return {**self.index_status(arguments), "engine": engine_json(self._client.engine, full=True)}

    def status(self, arguments: object = None) -> Json:
        """How the first open project stands, and the engine with all its projects and clients."""
        opened = self._projects.first()
        engine = self._client.engine
        others = [hosted_json(hosted, users) for hosted, users in engine.projects()]
        return {**status_json(opened.status()), "engine": engine_json(engine, full=True), "projects": others}

    def index(self, arguments: object = None) -> Json:
        """How the first open project stands, once it was indexed (see `_index`)."""
        Arguments("index", arguments, ("words_only",))
        return status_json(self._projects.first().status())

    def reindex(self, arguments: object = None) -> Json:
        """Compare the files with the index again, in the background."""
        args = Arguments("reindex", arguments, ("project",))
        projects = self._projects.named(args.strings("project"))
        for opened in projects:
            opened.indexing.index_tree()
        return {"started": [str(opened.project.root) for opened in projects]}

    # --- what takes long, before the answer

    def before_index(self, arguments: object, report: Report) -> None:
        args = Arguments("index", arguments, ("words_only",))
        depth = Depth.WORDS if args.raw("words_only") else Depth.EMBEDDINGS
        for opened in self._projects.all():
            opened.indexing.index_tree(depth)
            follow(opened, report, embeddings=depth is Depth.EMBEDDINGS)

    def _look(self, question: Callable[[], T]) -> T:
        return self._client.submit("look", question).result()

    def before_compare(self, arguments: object, report: Report) -> None:
        for opened in self._projects.all():
            opened.indexing.compare()
            opened.indexing.wait_for_scan(_CATCH_UP_S)

    def before_catch_up(self, arguments: object, report: Report) -> None:
        """Take in what changed while nobody looked: all of a project never seen, else what a moment suffices for."""
        kinds = arguments.get("kinds") if isinstance(arguments, dict) else None
        for opened in self._projects.all():
            indexing = opened.indexing
            # Looked up in the engine's threads: one that comes and goes with a client would need a connection of its own.
            if self._look(functools.partial(opened.hosted.model, 0.0)) is None:
                opened.hosted.model(self._patience_s)
            if kinds and "code" not in kinds:
                # Memories do not wait for files.
                continue
            if indexing.scanned:
                if self._look(opened.store.has_queued):
                    # Whoever asked for these files left before they were read.
                    indexing.resume()
                    indexing.wait_until_idle(_CATCH_UP_S, embeddings=False)
                continue
            if opened.hosted.never_indexed:
                indexing.index_tree(Depth.WORDS)
                report(opened.project.name, Progress(Phase.SCANNING))
                follow(opened, report, embeddings=False)
            else:
                indexing.index_tree()
                indexing.wait_until_idle(_CATCH_UP_S, embeddings=False)
                if indexing.progress.phase is not Phase.WAITING:
                    indexing.wait_until_idle(_CATCH_UP_S / 3)

    def before_first_index(self, arguments: object, report: Report) -> None:
        """Give the first index of a project a while: an answer from the first few files helps nobody."""
        wanted = arguments.get("project") if isinstance(arguments, dict) else None
        names = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
        if not all(isinstance(name, str) for name in names):
            return
        deadline = time.monotonic() + _FIRST_INDEX_S
        for opened in self._projects.named(names):
            if self._look(functools.partial(_is_first_index, opened)):
                report(opened.project.name, opened.indexing.progress)
                follow(opened, report, embeddings=False, deadline=deadline)

    def before_wait(self, arguments: object, report: Report) -> None:
        args = Arguments("index_status", arguments, ("project", "wait_s"))
        wait_s = args.integer("wait_s", least=0) or 0
        deadline = time.monotonic() + min(wait_s, _LONGEST_WAIT_S)
        for opened in self._projects.named(args.strings("project")) if wait_s else ():
            follow(opened, report, embeddings=True, deadline=deadline)


def _is_first_index(opened: OpenProject) -> bool:
    """Whether a project is being indexed that was not there as a whole before."""
    if opened.indexing.progress.phase not in (Phase.SCANNING, Phase.READING):
        return False
    if opened.hosted.never_indexed:
        return True
    counts = opened.store.counts()
    return counts.queued_documents > counts.documents


def follow(opened: OpenProject, report: Report, *, embeddings: bool, deadline: float | None = None) -> None:
    """Report a project's progress until it is indexed, or indexing was cancelled."""
    indexing = opened.indexing
    while not indexing.wait_until_idle(_LOOK_S, embeddings=embeddings):
        if indexing.progress.phase is Phase.CANCELLED or (deadline is not None and time.monotonic() > deadline):
            return
        report(opened.project.name, indexing.progress)


def one(query: str, answers: list[SearchAnswer], k: int) -> SearchAnswer:
    """The answers of several projects as one."""
    return answers[0] if len(answers) == 1 else merged(query, answers, k)
