"""Operations on the index: status and indexing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from rag_ls import __version__
from rag_ls.engine.client import Client
from rag_ls.engine.project_view import ProjectView
from rag_ls.indexing import Depth, Phase, Progress
from rag_ls.operations.projects import Projects
from rag_ls.operations.records import (
    EngineRecord,
    LanguageRecord,
    ProjectStatusRecord,
    ReindexAnswer,
    SkippedRecord,
    StatusAnswer,
)
from rag_ls.operations.records_of import engine_record, open_project_record, status_record
from rag_ls.operations.requests import EngineStatus, IndexProject, IndexStatus, OfProjects, Status
from rag_ls.project import CONFIG_FILE

_CATCH_UP_S = 3.0
_POLL_S = 0.25
_MAX_WAIT_S = 600
_MAX_SKIPPED_FILES = 200

Report = Callable[[str, Progress], None]
"""Called with a project's name and its progress."""


class IndexOperations:
    """Operations on the indexes of a client's projects."""

    def __init__(self, client: Client, projects: Projects) -> None:
        self._client = client
        self._projects = projects

    def index_status(self, asked: IndexStatus) -> StatusAnswer:
        """The state of each open project, and of the engine."""
        return self._standing(asked.project, with_skipped_files if asked.skipped else status_of, full=False)

    def engine_status(self, asked: EngineStatus) -> StatusAnswer:
        """As `index_status`, plus the engine's clients and latencies; `details` adds languages and skipped files."""
        names = asked.project
        if asked.open_only and not names:
            names = self._open_roots()
            if not names:
                return StatusAnswer(__version__, True, (), self._engine(full=True))
        return self._standing(names, detailed_status_of if asked.details else status_of, full=True)

    def _open_roots(self) -> tuple[str, ...]:
        """The projects that the engine has open, among those that the client sees."""
        known = {item.root for item in self._client.known_projects()}
        return tuple(
            str(shared.project.root) for shared, _ in self._client.engine.projects() if shared.project.root in known
        )

    def _standing(
        self, names: Sequence[str], tell: Callable[[ProjectView], ProjectStatusRecord], *, full: bool
    ) -> StatusAnswer:
        sees_none = self._client.asks_all and not names and not self._client.known_projects()
        views = () if sees_none else self._projects.named(names)
        statuses = tuple(self._with_problems(view, tell(view)) for view in views)
        complete = all(status.complete for status in statuses)
        return StatusAnswer(__version__, complete, statuses, self._engine(full=full))

    def _with_problems(self, view: ProjectView, status: ProjectStatusRecord) -> ProjectStatusRecord:
        """A project's state with what is wrong with its settings, for clients that hear of it nowhere else."""
        loaded = self._client.load_settings(view.project)
        problems = loaded.problems
        if not self._client.sees_all:
            # The user's settings may tell of any project.
            problems = tuple(problem for problem in problems if problem.source == str(view.project.root / CONFIG_FILE))
        wrong = (*map(str, problems), loaded.waiting_note())
        return replace(status, note="; ".join(filter(None, (status.note, *wrong))))

    def _engine(self, *, full: bool) -> EngineRecord:
        return engine_record(self._client.engine, full=full and self._client.sees_all)

    def status(self, asked: Status) -> ProjectStatusRecord:
        """The state of the first open project, and of the engine with all its projects and clients."""
        view, engine = self._projects.first(), self._client.engine
        found = with_skipped_files(view) if asked.skipped else status_of(view)
        if not self._client.sees_all:
            return replace(found, engine=engine_record(engine))
        others = tuple(open_project_record(shared, users) for shared, users in engine.projects())
        return replace(found, engine=engine_record(engine, full=True), projects=others)

    def index(self, asked: IndexProject) -> ProjectStatusRecord:
        """The state of the first open project after `prepare_index` has indexed it."""
        return status_of(self._projects.first())

    def reindex(self, asked: OfProjects) -> ReindexAnswer:
        """Compare the files with the index again, in the background."""
        views = self._projects.named(asked.project)
        for view in views:
            view.indexing.index_tree()
        return ReindexAnswer(tuple(str(view.project.root) for view in views))

    # --- slow work before the answer

    def prepare_index(self, asked: IndexProject, report: Report) -> None:
        """Index the client's projects, and wait for it."""
        for view in self._projects.all():
            index_and_wait(view, report, words_only=asked.words_only)

    def prepare_status(self, asked: Status, report: Report) -> None:
        """Compare the files with the index."""
        for view in self._projects.all():
            view.indexing.compare()
            view.indexing.wait_for_scan(_CATCH_UP_S)

    def prepare_index_status(self, asked: IndexStatus, report: Report) -> None:
        """Wait for the index, if the request asks for it."""
        deadline = time.monotonic() + min(asked.wait_s or 0, _MAX_WAIT_S)
        for view in self._projects.named(asked.project) if asked.wait_s else ():
            follow(view, report, embeddings=True, deadline=deadline)


def status_of(view: ProjectView) -> ProjectStatusRecord:
    """The state of a project."""
    return status_record(view.status())


def detailed_status_of(view: ProjectView) -> ProjectStatusRecord:
    """The state of a project, its languages, and the first of its skipped files with the reasons."""
    return replace(
        with_skipped_files(view),
        languages={
            language: LanguageRecord(documents, chunks)
            for language, (documents, chunks) in view.store.language_counts().items()
        },
    )


def with_skipped_files(view: ProjectView) -> ProjectStatusRecord:
    """The state of a project with the first of its skipped files, and those whose syntax is skipped."""
    by_lines = sorted(view.shared.documents.cut_by_lines().items())[:_MAX_SKIPPED_FILES]
    skipped = view.store.skipped(_MAX_SKIPPED_FILES).values()
    named = [SkippedRecord(path, f"cut by lines: when it was parsed, {reason}") for path, reason in by_lines]
    named += [SkippedRecord(item.path, item.reason) for item in skipped]
    return replace(status_of(view), skipped_files=tuple(named))


def index_and_wait(view: ProjectView, report: Report, *, words_only: bool) -> None:
    """Index one project, and wait for it."""
    depth = Depth.WORDS if words_only else Depth.EMBEDDINGS
    view.indexing.index_tree(depth)
    # Report at least once, even if indexing is done at once.
    report(view.project.name, Progress(Phase.SCANNING))
    follow(view, report, embeddings=not words_only)


def follow(view: ProjectView, report: Report, *, embeddings: bool, deadline: float | None = None) -> None:
    """Report a project's progress until it is indexed, or indexing was cancelled."""
    indexing = view.indexing
    while not indexing.wait_until_idle(_POLL_S, embeddings=embeddings):
        if indexing.progress.phase is Phase.CANCELLED or (deadline is not None and time.monotonic() > deadline):
            return
        report(view.project.name, indexing.activity)
