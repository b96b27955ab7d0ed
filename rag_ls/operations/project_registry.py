"""Operations on the list of known projects: list, add, remove."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rag_ls.config import Settings
from rag_ls.engine.client import Client
from rag_ls.errors import AccessRefused, InvalidRequest, NotFound, ProjectUnavailable, StoreUnavailable
from rag_ls.memory import utc_now
from rag_ls.memory.project_memories import memories_folder
from rag_ls.operations.indexing import Report, index_and_wait, status_of
from rag_ls.operations.projects import Projects
from rag_ls.operations.records import (
    AddedProjectAnswer,
    ConfigLines,
    RemovalPlan,
    RemovalRecord,
    RemovedAnswer,
    RepoRecord,
    ReposAnswer,
    ScanAnswer,
)
from rag_ls.operations.requests import AddProject, ListRepos, NoArguments, PlanRemoval, RemoveProjects, Scan
from rag_ls.project import Project, current_branch, find_project, user_config_file, user_data_folder
from rag_ls.registry.catalogue import CONFIG, OPENED, KnownProject, called, names_of, off_branch, root_of_path
from rag_ls.registry.entries import ALL, lines_of
from rag_ls.storage import (
    IndexSummary,
    count_memories,
    derived_files,
    index_summary,
    memory_files,
    remove_data_folder,
    set_memories_aside,
    total_bytes,
)
from rag_ls.util.nearest import nearest, nearest_text
from rag_ls.util.text import utc_stamp


class ProjectOperations:
    """Operations on the projects of this machine. Only the shell offers those that remove files."""

    def __init__(self, client: Client, projects: Projects) -> None:
        self._client = client
        self._projects = projects
        self._homes = client.engine.memory_homes

    def list_repos(self, asked: ListRepos) -> ReposAnswer:
        """All projects that can be named, with their states."""
        known = self._client.known_projects()
        listed = {project.root for project in known}
        # The client knows its open projects even if the registry file could not be written.
        unlisted = [
            KnownProject(view.project.root, view.project.name, OPENED)
            for view in self._client.projects()
            if view.project.root not in listed and not self._client.is_scratch(view.project.root)
        ]
        published, problems = [], self._problems()
        try:
            published = [] if asked.here_alone else self._projects.published_names()
        except StoreUnavailable as error:
            problems.append(f"what the team published cannot be told: {error}")
        repos = tuple(self._repo(project) for project in (*known, *unlisted))
        return ReposAnswer(repos, tuple(problems), tuple(published))

    def scan(self, asked: Scan) -> ScanAnswer:
        """The states of the named projects after `prepare_scan` has indexed them."""
        statuses = tuple(status_of(view) for view in self._projects.named(_wanted(asked)))
        return ScanAnswer(all(status.complete for status in statuses), statuses)

    def prepare_scan(self, asked: Scan, report: Report) -> None:
        """Index the named projects, one after the other."""
        for view in self._projects.named(_wanted(asked)):
            index_and_wait(view, report, words_only=asked.words_only)

    def add_project(self, asked: AddProject) -> AddedProjectAnswer:
        """Register a project under a name. This indexes nothing."""
        name = asked.name.strip()
        if not os.path.isdir(asked.path):
            raise ProjectUnavailable(f"{asked.path!r} is not a folder; give the path of an existing one")
        project = find_project(asked.path)
        index = self._settings(project).index
        known = self._client.known_projects()
        listed = next((item for item in known if (item.root, item.source) == (project.root, CONFIG)), None)
        if listed is not None and name not in ("", listed.name):
            raise InvalidRequest(f"{user_config_file()} calls {project.root} {listed.name!r}: change its name there")
        if listed is None:
            self._check_may_name(name, project)
            former = next((item.name for item in known if item.root == project.root), project.name)
            _check_name(name or former, project.root, known)
            name = self._client.engine.registry.add(project.root, name).name
        else:
            name = listed.name
        return AddedProjectAnswer(
            name, str(project.root), listed.source if listed else OPENED, index.include, index.exclude, index.branch,
            off_branch(index.branch, project.root),
        )  # fmt: skip

    def _check_may_name(self, name: str, project: Project) -> None:
        """Refuse a name of a caller that sees some projects alone: by it others' collections would become its own."""
        known = (item.name for item in self._client.known_projects() if item.root == project.root)
        if name and not self._client.sees_all and name not in known:
            raise AccessRefused("a token of some projects cannot give a project another name")

    def plan_removal(self, asked: PlanRemoval) -> RemovalPlan:
        """What `remove_projects` would remove for the projects of this name or root."""
        wanted = asked.project.strip()
        known = self._client.known_projects()
        if not (chosen := called(known, wanted)):
            near = nearest_text(nearest(wanted, {item.name for item in known}))
            raise NotFound(f"no known project is called {wanted!r}; {near}known are {names_of(known)}")
        return RemovalPlan(self._removals(chosen, "asked for", asked.memories), asked.memories)

    def plan_pruning(self, asked: NoArguments) -> RemovalPlan:
        """What pruning would remove: projects whose folder is gone, or that the user's settings no longer list."""
        self._check_settings()
        registered = {item.root: item for item in self._client.engine.registry.projects()}
        opened = [item for item in self._client.known_projects() if item.source == OPENED]
        gone = [item for item in opened if item.is_missing]
        unlisted = [item for item in opened if not item.is_missing and registered[str(item.root)].from_config]
        reasons = ((gone, "its folder is gone"), (unlisted, "the settings list it no longer"))
        return RemovalPlan(tuple(plan for chosen, reason in reasons for plan in self._removals(chosen, reason)), False)

    def remove_projects(self, asked: RemoveProjects) -> RemovedAnswer:
        """Forget projects and delete their indexes, which can be rebuilt; delete memories only if asked to."""
        known = {str(item.root): item for item in self._client.known_projects()}
        for root in asked.roots:
            if root not in known:
                raise NotFound(f"{root} is no known project; known are {names_of(known.values())}")
            # A caller that asks about all projects has each of them open.
            self._client.close_aside(Path(root))
            if not self._client.engine.close_unused(Path(root)):
                raise ProjectUnavailable(
                    f"{root} is open in an editor or agent: close it there (`rag-ls status` shows them), then do it again"
                )
        removed = tuple(self._remove(known[root], asked.memories) for root in asked.roots)
        self._client.engine.registry.remove(asked.roots)
        return RemovedAnswer(removed, asked.memories)

    def _remove(self, known: KnownProject, memories: bool) -> RemovalRecord:
        """Delete a project's files; a copy of its memories stays with the user."""
        removal, project = self._removal(known, "asked for", memories), Project(known.root)
        if memories:
            at = f"{utc_now():%Y-%m-%dT%H%M%S}-{uuid.uuid4().hex[:6]}"
            copy = user_data_folder() / "removed" / f"{project.name}-{at}.db"
            if set_memories_aside(memories_folder(project, self._homes), copy):
                removal = replace(removal, copy=str(copy))
        home = self._homes.find(project)
        for file in removal.files:
            Path(file).unlink(missing_ok=True)
        if memories and home is not None:
            # Copies of them in other work trees are not taken over again.
            self._homes.note_removed(home, utc_stamp(utc_now()))
        remove_data_folder(project)
        return removal

    def _removals(
        self, chosen: Iterable[KnownProject], reason: str, memories: bool = False
    ) -> tuple[RemovalRecord, ...]:
        return tuple(self._removal(item, reason, memories) for item in chosen)

    def _removal(self, known: KnownProject, reason: str, memories: bool) -> RemovalRecord:
        project = Project(known.root)
        held = index_summary(project) or IndexSummary()
        home, folder = self._homes.find(project), memories_folder(project, self._homes)
        # The copy in the project goes too, or the memories would be taken from there again.
        remembered = sorted({*memory_files(folder), *memory_files(project.data_folder)})
        files = derived_files(project)
        chosen = [*files, *remembered] if memories else files
        others = [root for root in home.roots if root != str(known.root) and os.path.isdir(root)] if home else []
        return RemovalRecord(
            known.name, str(known.root), known.source, reason, held.documents, held.chunks, held.embeddings,
            total_bytes(files), count_memories(folder), total_bytes(remembered), tuple(str(file) for file in chosen),
            _config_lines(known) if known.source == CONFIG else None, shared_with=tuple(others),
        )  # fmt: skip

    def _repo(self, known: KnownProject) -> RepoRecord:
        project = Project(known.root)
        view = next((item for item in self._client.projects() if item.project.root == known.root), None)
        held = index_summary(project) or IndexSummary()
        is_seen = view is None or (view.indexing.scanned and not view.indexing.unseen())
        note = "" if known.is_missing else off_branch(self._settings(project).index.branch, known.root)
        return RepoRecord(
            known.name, str(known.root), known.source, view is not None, held.documents, held.chunks,
            held.complete and is_seen, current_branch(known.root), total_bytes(derived_files(project)), known.opened_at,
            known.is_missing, note,
        )  # fmt: skip

    def _settings(self, project: Project) -> Settings:
        return self._client.load_settings(project).settings

    def _problems(self) -> list[str]:
        """The problems of the user's settings file, which may tell of any project."""
        if not self._client.sees_all:
            return []
        problems = self._client.load_settings().problems
        return [str(problem) for problem in problems if problem.source == str(user_config_file())]

    def _check_settings(self) -> None:
        """Raise `InvalidRequest` if the settings file has problems: an unreadable file would seem to list nothing."""
        if problems := self._problems():
            raise InvalidRequest(f"nothing is pruned while the settings are wrong; mend this first: {problems[0]}")


def _wanted(asked: Scan) -> tuple[str, ...]:
    if not asked.project:
        raise InvalidRequest(f"name a project, or {ALL} for all of them; `rag-ls project list` shows them")
    return asked.project


def _check_name(name: str, root: Path, known: Iterable[KnownProject]) -> None:
    if not name or name.lower() == ALL or "/" in name or root_of_path(name):
        raise InvalidRequest(f"{name!r} cannot be a project's name: give one that is not {ALL!r} and holds no /")
    for item in known:
        if item.name == name and item.root != root:
            raise InvalidRequest(f"{item.root} is called {name!r} already; give another name with --name")


def _config_lines(known: KnownProject) -> ConfigLines:
    """The lines of the user's settings that list a project."""
    file = user_config_file()
    try:
        found = lines_of(file.read_text(encoding="utf-8"), known.name)
    except (OSError, UnicodeDecodeError):
        found = None
    return ConfigLines(str(file), found[0] if found else None, found[1] if found else None)
