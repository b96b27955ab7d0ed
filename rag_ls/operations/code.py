"""Operations on code and on the index: search, look around, status, indexing."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import TypeVar

from rag_ls import __version__
from rag_ls.arguments import Arguments
from rag_ls.client import Client, merged
from rag_ls.errors import NotFound
from rag_ls.indexing import Depth, Phase, Progress
from rag_ls.model import SearchAnswer
from rag_ls.operations.projects import Projects
from rag_ls.requests import SearchRequest
from rag_ls.search import Filters
from rag_ls.wire import Json, answer_json, engine_json, hit_json, hosted_json, status_json
from rag_ls.workspace import OpenProject

# A question at the shell is worth a short wait for files that changed since the last one.
_CATCH_UP_S = 3.0
_LOOK_S = 0.25
_LONGEST_WAIT_S = 600

T = TypeVar("T")
Report = Callable[[str, Progress], None]
"""Told of the progress of a project, by its name."""


class CodeOperations:
    """Operations on the code of a client's projects."""

    def __init__(self, client: Client, projects: Projects, *, patience_s: float, wait_s: float) -> None:
        """A question waits `wait_s` for a model that is still loading; before it, in the caller's thread, `patience_s`."""
        self._client = client
        self._projects = projects
        self._patience_s = patience_s
        self._wait_s = wait_s

    def search_code(self, arguments: object) -> Json:
        """Chunks that answer a question, over all open projects or one."""
        args = Arguments("search_code", arguments, ("query", "k", "language", "path_glob", "min_score", "project"))
        request = SearchRequest(
            query=args.text("query", required=True),
            k=args.integer("k"),
            filters=Filters(args.text("language").strip(), args.text("path_glob").strip()),
            min_score=args.fraction("min_score") or 0.0,
        )
        projects = self._projects.named(args.text("project"))
        answers = [opened.search(request, wait_for_model_s=self._wait_s) for opened in projects]
        return answer_json(one(request.query, answers, request.k or projects[0].settings.search.code_k))

    def get_chunk(self, arguments: object) -> Json:
        """One chunk by its id."""
        args = Arguments("get_chunk", arguments, ("id",))
        chunk_id = args.text("id", required=True)
        error: NotFound | None = None
        for opened in self._projects.all():
            try:
                return hit_json(opened.get_chunk(chunk_id))
            except NotFound as not_here:
                error = not_here
        assert error is not None
        raise error

    def find_related(self, arguments: object) -> Json:
        """Code close to a place, a symbol or a snippet."""
        known = ("path", "line", "symbol", "snippet", "k", "min_score", "language", "path_glob", "project")
        args = Arguments("find_related", arguments, known)
        path = args.text("path")
        answer = self._projects.holding(path, args.text("project")).find_related(
            path=path,
            line=args.integer("line", least=1) or 0,
            symbol=args.text("symbol").strip(),
            snippet=args.text("snippet"),
            k=args.integer("k"),
            minimum=args.fraction("min_score") or 0.0,
            filters=Filters(args.text("language").strip(), args.text("path_glob").strip()),
        )
        return answer_json(answer)

    def index_status(self, arguments: object = None) -> Json:
        """How each open project stands, and the engine."""
        args = Arguments("index_status", arguments, ("project", "wait_s"))
        statuses = [status_json(opened.status()) for opened in self._projects.named(args.text("project"))]
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
        projects = self._projects.named(args.text("project"))
        for opened in projects:
            opened.indexing.index_tree()
        return {"started": [str(opened.project.root) for opened in projects]}

    # --- what takes long, before the answer

    def before_index(self, arguments: object, report: Report) -> None:
        args = Arguments("index", arguments, ("words_only",))
        depth = Depth.WORDS if args.raw("words_only") else Depth.EMBEDDINGS
        for opened in self._projects.all():
            opened.indexing.index_tree(depth)
            _follow(opened, report, embeddings=depth is Depth.EMBEDDINGS)

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
                _follow(opened, report, embeddings=False)
            else:
                indexing.index_tree()
                indexing.wait_until_idle(_CATCH_UP_S, embeddings=False)
                if indexing.progress.phase is not Phase.WAITING:
                    indexing.wait_until_idle(_CATCH_UP_S / 3)

    def before_wait(self, arguments: object, report: Report) -> None:
        args = Arguments("index_status", arguments, ("project", "wait_s"))
        wait_s = args.integer("wait_s", least=0) or 0
        deadline = time.monotonic() + min(wait_s, _LONGEST_WAIT_S)
        for opened in self._projects.named(args.text("project")) if wait_s else ():
            _follow(opened, report, embeddings=True, deadline=deadline)


def _follow(opened: OpenProject, report: Report, *, embeddings: bool, deadline: float | None = None) -> None:
    """Report a project's progress until it is indexed, or indexing was cancelled."""
    indexing = opened.indexing
    while not indexing.wait_until_idle(_LOOK_S, embeddings=embeddings):
        if indexing.progress.phase is Phase.CANCELLED or (deadline is not None and time.monotonic() > deadline):
            return
        report(opened.project.name, indexing.progress)


def one(query: str, answers: list[SearchAnswer], k: int) -> SearchAnswer:
    """The answers of several projects as one."""
    return answers[0] if len(answers) == 1 else merged(query, answers, k)
