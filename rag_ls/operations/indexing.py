"""Operations on the index: status and indexing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rag_ls import __version__
from rag_ls.engine.client import Client, merged
from rag_ls.engine.project_view import ProjectView
from rag_ls.indexing import Depth, Phase, Progress
from rag_ls.model import SearchAnswer
from rag_ls.operations.answers import Json, engine_json, shared_project_json, status_json
from rag_ls.operations.arguments import Arguments
from rag_ls.operations.projects import Projects

_CATCH_UP_S = 3.0
_LOOK_S = 0.25
_LONGEST_WAIT_S = 600
_MOST_SKIPPED = 200

Report = Callable[[str, Progress], None]
"""Told of the progress of a project, by its name."""


class IndexOperations:
    """Operations on the indexes of a client's projects."""

    def __init__(self, client: Client, projects: Projects) -> None:
        self._client = client
        self._projects = projects

    def index_status(self, arguments: object = None) -> Json:
        """How each open project stands, and the engine."""
        args = Arguments("index_status", arguments, ("project", "wait_s"))
        return self._standing(args.strings("project"), status_of, full=False)

    def engine_status(self, arguments: object = None) -> Json:
        """How each open project stands, and the engine with its clients and latencies; with `details`, what each project is made of."""
        args = Arguments("status", arguments, ("project", "details"))
        tell = detailed_status_of if args.flag("details") else status_of
        return self._standing(args.strings("project"), tell, full=True)

    def _standing(self, names: Sequence[str], tell: Callable[[ProjectView], Json], *, full: bool) -> Json:
        statuses = [tell(view) for view in self._projects.named(names)]
        return {
            "version": __version__,
            "complete": all(status["complete"] for status in statuses),
            "projects": statuses,
            "engine": engine_json(self._client.engine, full=full),
        }

    def status(self, arguments: object = None) -> Json:
        """How the first open project stands, and the engine with all its projects and clients."""
        view = self._projects.first()
        engine = self._client.engine
        others = [shared_project_json(shared, users) for shared, users in engine.projects()]
        return {**status_json(view.status()), "engine": engine_json(engine, full=True), "projects": others}

    def index(self, arguments: object = None) -> Json:
        """How the first open project stands, once it was indexed (see `_index`)."""
        Arguments("index", arguments, ("words_only",))
        return status_json(self._projects.first().status())

    def reindex(self, arguments: object = None) -> Json:
        """Compare the files with the index again, in the background."""
        args = Arguments("reindex", arguments, ("project",))
        projects = self._projects.named(args.strings("project"))
        for view in projects:
            view.indexing.index_tree()
        return {"started": [str(view.project.root) for view in projects]}

    # --- what takes long, before the answer

    def before_index(self, arguments: object, report: Report) -> None:
        args = Arguments("index", arguments, ("words_only",))
        depth = Depth.WORDS if args.raw("words_only") else Depth.EMBEDDINGS
        for view in self._projects.all():
            view.indexing.index_tree(depth)
            follow(view, report, embeddings=depth is Depth.EMBEDDINGS)

    def before_compare(self, arguments: object, report: Report) -> None:
        for view in self._projects.all():
            view.indexing.compare()
            view.indexing.wait_for_scan(_CATCH_UP_S)

    def before_wait(self, arguments: object, report: Report) -> None:
        args = Arguments("index_status", arguments, ("project", "wait_s"))
        wait_s = args.integer("wait_s", least=0) or 0
        deadline = time.monotonic() + min(wait_s, _LONGEST_WAIT_S)
        for view in self._projects.named(args.strings("project")) if wait_s else ():
            follow(view, report, embeddings=True, deadline=deadline)


def status_of(view: ProjectView) -> Json:
    """How a project stands."""
    return status_json(view.status())


def detailed_status_of(view: ProjectView) -> Json:
    """How a project stands, what it is made of, and the first of the files that are left out, with why."""
    skipped = view.store.skipped(_MOST_SKIPPED).values()
    return {
        **status_of(view),
        "languages": {
            language: {"documents": documents, "chunks": chunks}
            for language, (documents, chunks) in view.store.language_counts().items()
        },
        "skipped_files": [{"path": item.path, "reason": item.reason} for item in skipped],
    }


def follow(view: ProjectView, report: Report, *, embeddings: bool, deadline: float | None = None) -> None:
    """Report a project's progress until it is indexed, or indexing was cancelled."""
    indexing = view.indexing
    # Said at once, however fast the rest is.
    report(view.project.name, Progress(Phase.SCANNING))
    while not indexing.wait_until_idle(_LOOK_S, embeddings=embeddings):
        if indexing.progress.phase is Phase.CANCELLED or (deadline is not None and time.monotonic() > deadline):
            return
        report(view.project.name, indexing.progress)


def one(query: str, answers: list[SearchAnswer], k: int) -> SearchAnswer:
    """The answers of several projects as one."""
    return answers[0] if len(answers) == 1 else merged(query, answers, k)
