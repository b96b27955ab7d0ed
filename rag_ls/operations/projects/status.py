"""Operations that tell how projects and the engine stand."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence

from rag_ls import __version__
from rag_ls.engine import OpenProject, ProjectSession
from rag_ls.errors import StoreUnavailable
from rag_ls.indexing import UNKNOWN_ENCODING, Depth, Phase, Progress
from rag_ls.model import Coverage
from rag_ls.operations.fields import argument, join_notes, make_record, optional
from rag_ls.operations.operation import Caller, Report, Tool, Verb, operation
from rag_ls.project import CONFIG_FILE
from rag_ls.util.processes import used_memory_bytes, used_processor_s
from rag_ls.util.records import dataclass, replace

_POLL_S = 0.25
_CATCH_UP_S = 3.0
_MAX_WAIT_S = 600
_MAX_SKIPPED_FILES = 200
_GOES_ON = "the index goes on being made: meanwhile searches answer from what is read, and have the files read first that hold their words"
_FORCED = "index.force indexes it"
_REMEDIES = {
    "name not UTF-8": "rename it", UNKNOWN_ENCODING: "name it in index.encodings", "too large": "index.max_file_bytes is the limit",
    "data": _FORCED, "generated": _FORCED, "minified": _FORCED,
    "other repository": "open it as a project of its own, or make it a submodule",
    "not checked out": "git's sparse checkout leaves it out; `git sparse-checkout add` brings it",
    "other checkout": "a further work tree of a repository; open it as a project of its own",
    "submodule without its files": "git submodule update --init", "submodule": "index.submodules leaves it out",
    "unreadable folder": "make it readable", "unreadable": "make it readable",
}  # fmt: skip
"""The setting that indexes a skipped file, by the reason why it is skipped."""


def index_and_wait(view: ProjectSession, report: Report, *, words_only: bool) -> None:
    """Index one project, and wait for it."""
    depth = Depth.WORDS if words_only else Depth.EMBEDDINGS
    view.indexing.index_tree(depth)
    # Report at least once, even if all is indexed at once.
    report(view.project.name, Progress(Phase.SCANNING))
    follow_indexing(view, report, embeddings=not words_only)


def follow_indexing(view: ProjectSession, report: Report, *, embeddings: bool, deadline: float | None = None) -> None:
    """Report a project's progress until it is indexed, or indexing was cancelled.

    Raises `StoreUnavailable` where it cannot go on (a full disk); it does in the background when it can.
    """
    indexing = view.indexing
    while not indexing.wait_until_idle(_POLL_S, embeddings=embeddings):
        if indexing.progress.phase is Phase.CANCELLED or (deadline is not None and time.monotonic() > deadline):
            return
        if problem := indexing.problem:
            raise StoreUnavailable(problem, "index")
        report(view.project.name, indexing.activity)


@dataclass(frozen=True, slots=True)
class LanguageRecord:
    """The share of a language."""

    documents: int
    chunks: int


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """A file that is not indexed, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ClientRecord:
    """A client that is connected to the engine."""

    surface: str
    name: str
    pid: int | None
    connected_at: str


@dataclass(frozen=True, slots=True)
class LatencyRecord:
    """The latency of an operation, in milliseconds."""

    count: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A model that is loaded."""

    model: str
    ready: bool
    worker_pid: int | None


@dataclass(frozen=True, slots=True)
class EngineRecord:
    """The engine; with its clients and latencies, where they are asked for."""

    mode: str
    pid: int
    version: str
    uptime_s: float
    address: str | None = optional()
    log: str | None = optional()
    memory_bytes: int | None = optional()
    processor_s: float | None = optional()
    models: tuple[ModelRecord, ...] | None = optional()
    clients: tuple[ClientRecord, ...] | None = optional()
    latency: Mapping[str, LatencyRecord] | None = optional()


@dataclass(frozen=True, slots=True)
class OpenProjectRecord:
    """One of the engine's projects, in short."""

    root: str
    documents: int
    chunks: int
    queued_documents: int
    pending_embeddings: int
    activity: str
    clients: int


@dataclass(frozen=True, slots=True)
class ProjectStatusRecord:
    """The state of a project."""

    root: str
    complete: bool
    documents: int
    chunks: int
    queued_documents: int
    pending_embeddings: int
    indexed_percent: Coverage
    unsaved_buffers: int
    skipped: Mapping[str, int]
    activity: str
    sync: str
    last_sync: str | None
    model: str
    model_ready: bool
    memories: Mapping[str, int]
    note: str = optional("")
    share_problem: str = optional("")
    """The reason why vectors or memories are not shared with the team."""
    languages: Mapping[str, LanguageRecord] | None = optional()
    """Told with `details` alone, as what follows."""
    skipped_files: tuple[SkippedRecord, ...] | None = optional()
    engine: EngineRecord | None = optional()
    projects: tuple[OpenProjectRecord, ...] | None = optional()


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """The state of a client's projects, and of the engine."""

    version: str
    complete: bool
    projects: tuple[ProjectStatusRecord, ...]
    engine: EngineRecord
    note: str = optional("")


@dataclass(frozen=True, slots=True)
class IndexStatus:
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")
    wait_s: int | None = argument(None, "wait so long for the index to be complete", least=0)
    skipped: bool = argument(False, "name the skipped files")


def prepare_index_status(caller: Caller, request: IndexStatus, report: Report) -> None:
    """Wait for the index, if the request asks for it."""
    deadline = time.monotonic() + min(request.wait_s or 0, _MAX_WAIT_S)
    for view in caller.projects.find(request.project) if request.wait_s else ():
        follow_indexing(view, report, embeddings=True, deadline=deadline)


@operation(
    prepare=prepare_index_status,
    tool=Tool(
        "code",
        "Is the index of code complete? skipped: the files left out, and why.",
        ("wait_s", "skipped"),
        ("complete",),
    ),
    shared_command="ragLs.status",
    shared_verb="status",
)
def index_status(caller: Caller, request: IndexStatus) -> StatusAnswer:
    """The state of each open project."""
    answer = _describe_projects(caller, request.project, skipped=request.skipped, full=False)
    goes_on = not answer.complete and any(map(_is_at_work, caller.projects.find(request.project)))
    return replace(answer, note=_GOES_ON) if goes_on else answer


def _is_at_work(view: ProjectSession) -> bool:
    indexing, (queued, pending) = view.indexing, view.count_awaited()
    has_unread = indexing.comparison.is_awaited or queued > 0
    return (indexing.reads and has_unread) or (indexing.embeds and pending > 0)


@dataclass(frozen=True, slots=True)
class EngineStatus:
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")
    details: bool = argument(False, "what each project is made of, too")
    open_only: bool = argument(False, "only projects that the engine has open: no other is opened for this")


@operation(needs_code=False, command="ragLs.status")
def engine_status(caller: Caller, request: EngineStatus) -> StatusAnswer:
    """The state of each open project, and of the engine with its clients and latencies."""
    names, client = request.project, caller.client
    if request.open_only and not names:
        known = {item.root for item in client.known_projects()}
        names = tuple(str(project.root) for project, _ in client.engine.projects() if project.root in known)
        if not names:
            return StatusAnswer(__version__, True, (), _describe_engine(caller, full=True))
    return _describe_projects(caller, names, skipped=request.details, details=request.details, full=True)


def _describe_projects(
    caller: Caller, names: Sequence[str], *, skipped: bool = False, details: bool = False, full: bool
) -> StatusAnswer:
    sees_none = caller.client.asks_all and not names and not caller.client.known_projects()
    views = () if sees_none else caller.projects.find(names)
    # An editor without a folder has nothing to tell of, before something is typed.
    told = [view for view in views if not view.is_scratch or view.store.counts().documents]
    statuses = tuple(
        _add_problems(caller, view, describe_project(view, skipped=skipped, details=details)) for view in told
    )
    complete = all(status.complete for status in statuses)
    return StatusAnswer(__version__, complete, statuses, _describe_engine(caller, full=full))


def _add_problems(caller: Caller, view: ProjectSession, status: ProjectStatusRecord) -> ProjectStatusRecord:
    """A project's state with what is wrong with its settings, for clients that hear of it nowhere else."""
    loaded = caller.client.load_settings(view.project.folder)
    problems = loaded.problems
    if not caller.client.sees_all:
        # The user's settings may tell of any project.
        problems = tuple(problem for problem in problems if problem.source == str(view.project.root / CONFIG_FILE))
    wrong = (*map(str, problems), loaded.waiting_note())
    return replace(status, note=join_notes(status.note, *wrong))


@dataclass(frozen=True, slots=True)
class Status:
    skipped: bool = argument(False, "name the files that are skipped, with the reasons")


def prepare_status(caller: Caller, request: Status, report: Report) -> None:
    """Compare the files with the index."""
    for view in caller.projects.all():
        view.indexing.compare()
        view.indexing.wait_for_scan(_CATCH_UP_S)


@operation(
    prepare=prepare_status,
    verb=Verb(
        "status",
        "show how much is indexed, queued and skipped, and how the engine stands",
        example="rag-ls status --skipped",
    ),
)
def status(caller: Caller, request: Status) -> ProjectStatusRecord:
    """The state of the project and of the engine, after comparing the files with the index."""
    found = describe_project(caller.projects.first(), skipped=request.skipped)
    found = replace(found, engine=_describe_engine(caller, full=True))
    if not caller.client.sees_all:
        return found
    others = tuple(_describe_open(project, users) for project, users in caller.client.engine.projects())
    return replace(found, projects=others)


def _describe_engine(caller: Caller, *, full: bool) -> EngineRecord:
    """The engine; with `full`, its clients, models and latencies too, for a client that may see all."""
    engine = caller.client.engine
    mode = "shared" if engine.address else "standalone"
    record = EngineRecord(mode, os.getpid(), __version__, round(engine.uptime_s, 1))
    if not (full and caller.client.sees_all):
        return record
    return replace(
        record,
        address=engine.address,
        log=engine.log_file,
        memory_bytes=used_memory_bytes(),
        processor_s=round(used_processor_s(), 2),
        models=tuple(ModelRecord(item.model_id, True, item.worker_process_id) for item in engine.models.loaded()),
        clients=tuple(
            ClientRecord(each.surface, each.name, each.pid, each.connected_at.isoformat(timespec="seconds"))
            for each in engine.clients()
        ),
        latency={
            name: LatencyRecord(item.count, item.p50, item.p95, item.p99)
            for name, item in engine.workers.latencies.summary().items()
        },
    )


def _describe_open(project: OpenProject, users: int) -> OpenProjectRecord:
    """One of the engine's projects, in short."""
    counts = project.counts()
    return make_record(
        OpenProjectRecord, counts, root=str(project.root), activity=str(project.indexing.activity), clients=users,
        queued_documents=counts.queued_documents + len(project.indexing.inbox.paths()),
    )  # fmt: skip


def describe_project(view: ProjectSession, *, skipped: bool = False, details: bool = False) -> ProjectStatusRecord:
    """The state of a project; with the first of its `skipped` files and why, those whose syntax is skipped too; with its languages."""
    status = view.status()
    unknown = "" if status.scanned else "the files were not compared with the index yet since this process started"
    record = make_record(
        ProjectStatusRecord, status, indexed_percent=status.coverage, unsaved_buffers=status.buffers,
        activity=str(status.progress), note=join_notes(unknown, status.note),
    )  # fmt: skip
    if skipped:
        by_lines = sorted(view.project.documents.cut_by_lines().items())[:_MAX_SKIPPED_FILES]
        named = [SkippedRecord(path, f"cut by lines: when it was parsed, {reason}") for path, reason in by_lines]
        remedies = {reason: f"{reason} ({remedy})" for reason, remedy in _REMEDIES.items()}
        left_out = view.store.skipped(_MAX_SKIPPED_FILES).values()
        named += [SkippedRecord(item.path, remedies.get(item.reason, item.reason)) for item in left_out]
        record = replace(record, skipped_files=tuple(named))
    if details:
        counts = view.store.language_counts().items()
        record = replace(record, languages={language: LanguageRecord(*numbers) for language, numbers in counts})
    return record
