"""Operations on the list of known projects: list, add, and index those that are named."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from rag_ls.config import ALL, CONFIG, OPENED, KnownProject, off_branch, root_of_path
from rag_ls.errors import AccessRefused, InvalidRequest, ProjectUnavailable, StoreUnavailable
from rag_ls.locations import user_config_file
from rag_ls.operations.fields import argument, optional
from rag_ls.operations.operation import WRITES, Caller, Opens, Report, Tool, Verb, operation
from rag_ls.operations.projects.status import ProjectStatusRecord, describe_project, index_and_wait
from rag_ls.project import Project, current_branch, find_project
from rag_ls.storage import IndexSummary, derived_files, index_summary, total_bytes
from rag_ls.util.records import dataclass


@dataclass(frozen=True, slots=True)
class ListRepos:
    here_alone: bool = argument(False, "not those that the team published: its server is not asked", flag="-")


@dataclass(frozen=True, slots=True)
class RepoRecord:
    """A project that can be named."""

    name: str
    root: str
    source: str
    open: bool
    documents: int
    chunks: int
    complete: bool
    branch: str
    bytes: int
    last_opened: str | None
    missing: bool = optional(False)
    note: str = optional("")


@dataclass(frozen=True, slots=True)
class ReposAnswer:
    """The projects that can be named."""

    repos: tuple[RepoRecord, ...]
    problems: tuple[str, ...] = optional(())
    published: tuple[str, ...] = optional(())
    """Projects that a team published on its server: only search_code knows them."""


@operation(
    needs_code=False,
    tool=Tool("code", "The projects that the argument project of other tools takes.", (), ("repos",)),
    command="ragLs.listRepos",
    verb=Verb("project list", "list the projects of the settings, and those that were opened", in_project=False),
)
def list_repos(caller: Caller, request: ListRepos) -> ReposAnswer:
    """The projects that can be named, and how each stands."""
    known = caller.client.known_projects()
    listed = {project.root for project in known}
    # The client knows its open projects, even if the registry file could not be written.
    unlisted = [
        KnownProject(view.project.root, view.project.name, OPENED)
        for view in caller.client.projects()
        if view.project.root not in listed and not caller.client.is_scratch(view.project.root)
    ]
    published, problems = [], [*find_problems(caller), *filter(None, (caller.client.why_limited,))]
    try:
        published = [] if request.here_alone else caller.projects.published_names()
    except StoreUnavailable as error:
        problems.append(f"what the team published cannot be told: {error}")
    repos = tuple(_make_repo(caller, project) for project in (*known, *unlisted))
    return ReposAnswer(repos, tuple(problems), tuple(published))


def _make_repo(caller: Caller, known: KnownProject) -> RepoRecord:
    project = Project(known.root)
    view = next((item for item in caller.client.projects() if item.project.root == known.root), None)
    held = index_summary(project) or IndexSummary()
    is_seen = view is None or (view.indexing.scanned and not view.indexing.inbox.paths())
    is_complete = held.is_complete(caller.client.engine.models.count_awaited)
    note = (
        "" if known.is_missing else off_branch(caller.client.load_settings(project).settings.index.branch, known.root)
    )
    return RepoRecord(
        name=known.name, root=str(known.root), source=known.source, open=view is not None, documents=held.documents,
        chunks=held.chunks, complete=is_complete and is_seen, branch=current_branch(known.root),
        bytes=total_bytes(derived_files(project)), last_opened=known.opened_at, missing=known.is_missing, note=note,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class AddProject:
    path: str = argument(doc="a folder of the project", is_path=True, is_root=True)
    name: str = argument("", "what to call it (default: the folder's name)")


@dataclass(frozen=True, slots=True)
class AddedProjectAnswer:
    """A project that is known by name now."""

    name: str
    root: str
    source: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    branch: str
    note: str


@operation(
    effects=WRITES,
    manages=True,
    needs_code=False,
    verb=Verb(
        "project add",
        "make a project known by name",
        ("path",),
        in_project=False,
        example="rag-ls project add ~/work/shop --name shop",
    ),
)
def add_project(caller: Caller, request: AddProject) -> AddedProjectAnswer:
    """Make a project known by name; nothing is indexed by that."""
    name = request.name.strip()
    if not os.path.isdir(request.path):
        raise ProjectUnavailable(f"{request.path!r} is not a folder; give the path of an existing one")
    project = find_project(request.path)
    index = caller.client.load_settings(project).settings.index
    known = caller.client.known_projects()
    listed = next((item for item in known if (item.root, item.source) == (project.root, CONFIG)), None)
    if listed is not None and name not in ("", listed.name):
        raise InvalidRequest(f"{user_config_file()} calls {project.root} {listed.name!r}: change its name there")
    if listed is None:
        _check_may_name(caller, name, project)
        former = next((item.name for item in known if item.root == project.root), project.name)
        _check_name(name or former, project.root, known)
        name = caller.client.engine.registry.add(project.root, name).name
    else:
        name = listed.name
    return AddedProjectAnswer(
        name=name, root=str(project.root), source=listed.source if listed else OPENED, include=index.include,
        exclude=index.exclude, branch=index.branch, note=off_branch(index.branch, project.root),
    )  # fmt: skip


def _check_may_name(caller: Caller, name: str, project: Project) -> None:
    """Refuse a name of a caller that sees some projects alone: by it others' collections would become its own."""
    known = (item.name for item in caller.client.known_projects() if item.root == project.root)
    if name and not caller.client.sees_all and name not in known:
        raise AccessRefused("a token of some projects cannot give a project another name")


def _check_name(name: str, root: Path, known: Iterable[KnownProject]) -> None:
    if not name or name.lower() == ALL or "/" in name or root_of_path(name):
        raise InvalidRequest(f"{name!r} cannot be a project's name: give one that is not {ALL!r} and holds no /")
    for item in known:
        if item.name == name and item.root != root:
            raise InvalidRequest(f"{item.root} is called {name!r} already; give another name with --name")


@dataclass(frozen=True, slots=True)
class ScanProjects:
    project: tuple[str, ...] = argument((), "names or roots, or all", flag="-")
    words_only: bool = argument(False, "leave the embeddings to the editor or agent")


@dataclass(frozen=True, slots=True)
class ScanAnswer:
    """The state of the indexed projects."""

    complete: bool
    projects: tuple[ProjectStatusRecord, ...]


def prepare_scan(caller: Caller, request: ScanProjects, report: Report) -> None:
    """Index the named projects, one after the other."""
    for view in caller.projects.find(_check_named(request)):
        index_and_wait(view, report, words_only=request.words_only)


@operation(
    prepare=prepare_scan,
    effects=WRITES,
    manages=True,
    verb=Verb(
        "scan",
        "index projects by name, with a progress bar",
        ("project",),
        in_project=False,
        example="rag-ls scan shop",
    ),
)
def scan(caller: Caller, request: ScanProjects) -> ScanAnswer:
    """Index projects by name, and wait for it.

    `prepare_scan` does that; the answer is how they stand then.
    """
    statuses = tuple(describe_project(view) for view in caller.projects.find(_check_named(request)))
    return ScanAnswer(all(status.complete for status in statuses), statuses)


def _check_named(request: ScanProjects) -> tuple[str, ...]:
    if not request.project:
        raise InvalidRequest(f"name a project, or {ALL} for all of them; `rag-ls project list` shows them")
    return request.project


def find_problems(caller: Caller) -> list[str]:
    """The problems of the user's settings file and of the file of known projects, which may tell of any project."""
    if not caller.client.sees_all:
        return []
    problems = caller.client.load_settings().problems
    unread = caller.client.engine.registry.find_problem()
    return [str(each) for each in problems if each.source == str(user_config_file())] + ([unread] if unread else [])


@dataclass(frozen=True, slots=True)
class IndexProject:
    words_only: bool = argument(False, "leave the embeddings to the editor or agent")
    force: bool = argument(False, "index even your home folder, / or a folder of more than 100,000 files")


def prepare_index(caller: Caller, request: IndexProject, report: Report) -> None:
    """Index the client's projects, and wait for it."""
    for view in caller.projects.all():
        index_and_wait(view, report, words_only=request.words_only)


@operation(
    prepare=prepare_index,
    effects=WRITES,
    manages=True,
    opens=Opens.ON_PURPOSE,
    verb=Verb("index", "index a project, with a progress bar; the next time only what has changed is read"),
)
def index(caller: Caller, request: IndexProject) -> ProjectStatusRecord:
    """Index the project, and wait for it.

    `prepare_index` does that; the answer is how the project stands then.
    """
    return describe_project(caller.projects.first())


@dataclass(frozen=True, slots=True)
class OfProjects:
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")


@dataclass(frozen=True, slots=True)
class ReindexAnswer:
    """The projects whose files are being compared."""

    started: tuple[str, ...]


@operation(effects=WRITES, command="ragLs.reindex")
def reindex(caller: Caller, request: OfProjects) -> ReindexAnswer:
    """Compare the files with the index again, in the background."""
    views = caller.projects.find(request.project)
    for view in views:
        view.indexing.index_tree()
    return ReindexAnswer(tuple(str(view.project.root) for view in views))
