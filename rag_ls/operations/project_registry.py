"""Operations on the list of projects: what is known, what joins it, what leaves it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from rag_ls.config import Settings
from rag_ls.engine.client import Client
from rag_ls.errors import InvalidRequest, NotFound, ProjectUnavailable
from rag_ls.indexing import Depth
from rag_ls.operations.answers import Json, status_json
from rag_ls.operations.arguments import Arguments
from rag_ls.operations.indexing import Report, follow
from rag_ls.operations.projects import Projects
from rag_ls.project import Project, current_branch, find_project, user_config_file
from rag_ls.registry.catalogue import CONFIG, OPENED, KnownProject, called, names_of, off_branch, root_meant
from rag_ls.registry.entries import ALL, lines_of
from rag_ls.storage import IndexSummary, count_memories, derived_files, index_summary, memory_files, total_bytes


class ProjectOperations:
    """Operations on the projects of this machine. What removes files is offered by the shell alone."""

    def __init__(self, client: Client, projects: Projects) -> None:
        self._client = client
        self._projects = projects

    def list_repos(self, arguments: object = None) -> Json:
        """All projects that can be named, and how each stands."""
        Arguments("list_repos", arguments, ())
        known = self._client.known_projects()
        listed = {project.root for project in known}
        # What cannot be written down is known to this client all the same.
        unlisted = [
            KnownProject(view.project.root, view.project.name, OPENED)
            for view in self._client.projects()
            if view.project.root not in listed and not self._client.is_scratch(view.project.root)
        ]
        answer: Json = {"repos": [self._repo(project) for project in (*known, *unlisted)]}
        problems = self._problems()
        return {**answer, "problems": problems} if problems else answer

    def scan(self, arguments: object = None) -> Json:
        """How the named projects stand, once they were indexed (see `before_scan`)."""
        args = Arguments("scan", arguments, ("project", "words_only"))
        statuses = [status_json(view.status()) for view in self._projects.named(_wanted(args))]
        return {"complete": all(status["complete"] for status in statuses), "projects": statuses}

    def before_scan(self, arguments: object, report: Report) -> None:
        """Index the named projects, one after the other."""
        args = Arguments("scan", arguments, ("project", "words_only"))
        depth = Depth.WORDS if args.flag("words_only") else Depth.EMBEDDINGS
        for view in self._projects.named(_wanted(args)):
            view.indexing.index_tree(depth)
            follow(view, report, embeddings=depth is Depth.EMBEDDINGS)

    def add_project(self, arguments: object) -> Json:
        """Make a project known by name; nothing is indexed by that."""
        args = Arguments("add_project", arguments, ("path", "name"))
        path, name = args.text("path", required=True), args.text("name").strip()
        if not os.path.isdir(path):
            raise ProjectUnavailable(f"{path!r} is not a folder; give the path of an existing one")
        project = find_project(path)
        settings = self._client.load_settings(project).settings
        known = self._client.known_projects()
        listed = next((item for item in known if (item.root, item.source) == (project.root, CONFIG)), None)
        if listed is not None and name not in ("", listed.name):
            raise InvalidRequest(f"{user_config_file()} calls {project.root} {listed.name!r}: change its name there")
        if listed is None:
            former = next((item.name for item in known if item.root == project.root), project.name)
            _check_name(name or former, project.root, known)
            name = self._client.engine.registry.add(project.root, name).name
        else:
            name = listed.name
        index = settings.index
        return {
            "name": name,
            "root": str(project.root),
            "source": listed.source if listed else OPENED,
            "include": list(index.include),
            "exclude": list(index.exclude),
            "branch": index.branch,
            "note": off_branch(index.branch, project.root),
        }

    def plan_removal(self, arguments: object) -> Json:
        """What `remove_projects` would do with the projects of one name, or the one with this root."""
        args = Arguments("plan_removal", arguments, ("project", "memories"))
        wanted, memories = args.text("project", required=True).strip(), args.flag("memories")
        known = self._client.known_projects()
        if not (chosen := called(known, wanted)):
            raise NotFound(f"no known project is called {wanted!r}; known are {names_of(known)}")
        return self._plan(chosen, "asked for", memories)

    def plan_pruning(self, arguments: object = None) -> Json:
        """What would go with projects whose folder is gone, or that the user's settings list no longer."""
        Arguments("plan_pruning", arguments, ())
        self._check_settings()
        registered = {item.root: item for item in self._client.engine.registry.projects()}
        view = [item for item in self._client.known_projects() if item.source == OPENED]
        gone = [item for item in view if item.is_missing]
        unlisted = [item for item in view if not item.is_missing and registered[str(item.root)].from_config]
        plans = [self._plan(gone, "its folder is gone"), self._plan(unlisted, "the settings list it no longer")]
        return {"projects": [item for plan in plans for item in plan["projects"]], "memories": False}

    def remove_projects(self, arguments: object) -> Json:
        """Forget projects and delete their indexes, which are derived; memories too only where that is asked for."""
        args = Arguments("remove_projects", arguments, ("roots", "memories"))
        memories = args.flag("memories")
        known = {str(item.root): item for item in self._client.known_projects()}
        roots = args.strings("roots")
        for root in roots:
            if root not in known:
                raise NotFound(f"{root} is no known project; known are {names_of(known.values())}")
            if not self._client.engine.close_unused(Path(root)):
                raise ProjectUnavailable(
                    f"{root} is open in an editor or agent: close it there (`rag-ls status` shows them), then do it again"
                )
        plan = self._plan([known[root] for root in roots], "asked for", memories)
        for item in plan["projects"]:
            for file in item["files"]:
                Path(file).unlink(missing_ok=True)
        self._client.engine.registry.remove(roots)
        return {"removed": plan["projects"], "memories": memories}

    def _repo(self, known: KnownProject) -> Json:
        project = Project(known.root)
        view = next((item for item in self._client.projects() if item.project.root == known.root), None)
        held = index_summary(project) or IndexSummary()
        is_seen = view is None or (view.indexing.scanned and not view.indexing.unseen())
        repo: Json = {
            "name": known.name,
            "root": str(known.root),
            "source": known.source,
            "open": view is not None,
            "documents": held.documents,
            "chunks": held.chunks,
            "complete": held.complete and is_seen,
            "branch": current_branch(known.root),
            "bytes": total_bytes(derived_files(project)),
            "last_opened": known.opened_at,
        }
        if known.is_missing:
            return {**repo, "missing": True}
        note = off_branch(self._settings(project).index.branch, known.root)
        return {**repo, "note": note} if note else repo

    def _settings(self, project: Project) -> Settings:
        return self._client.load_settings(project).settings

    def _plan(self, chosen: Iterable[KnownProject], reason: str, memories: bool = False) -> Json:
        return {"projects": [_removal(item, reason, memories) for item in chosen], "memories": memories}

    def _problems(self) -> list[str]:
        """What is wrong with the user's settings file."""
        problems = self._client.load_settings().problems
        return [str(problem) for problem in problems if problem.source == str(user_config_file())]

    def _check_settings(self) -> None:
        """A settings file that cannot be read must not look like one that lists nothing."""
        if problems := self._problems():
            raise InvalidRequest(f"nothing is pruned while the settings are wrong; mend this first: {problems[0]}")


def _wanted(args: Arguments) -> tuple[str, ...]:
    wanted = args.strings("project")
    if not wanted:
        raise InvalidRequest(f"name a project, or {ALL} for all of them; `rag-ls projects list` shows them")
    return wanted


def _check_name(name: str, root: Path, known: Iterable[KnownProject]) -> None:
    if not name or name.lower() == ALL or "/" in name or root_meant(name):
        raise InvalidRequest(f"{name!r} cannot be a project's name: give one that is not {ALL!r} and holds no /")
    for item in known:
        if item.name == name and item.root != root:
            raise InvalidRequest(f"{item.root} is called {name!r} already; give another name with --name")


def _removal(known: KnownProject, reason: str, memories: bool) -> Json:
    project = Project(known.root)
    held = index_summary(project) or IndexSummary()
    files = derived_files(project)
    remembered = memory_files(project)
    chosen = [*files, *remembered] if memories else files
    return {
        "name": known.name,
        "root": str(known.root),
        "source": known.source,
        "reason": reason,
        "documents": held.documents,
        "chunks": held.chunks,
        "embeddings": held.embeddings,
        "bytes": total_bytes(files),
        "memories": count_memories(project),
        "memory_bytes": total_bytes(remembered),
        "files": [str(file) for file in chosen],
        "config": _config_lines(known) if known.source == CONFIG else None,
    }


def _config_lines(known: KnownProject) -> Json:
    """Where the user's settings list a project."""
    file = user_config_file()
    try:
        found = lines_of(file.read_text(encoding="utf-8"), known.name)
    except (OSError, UnicodeDecodeError):
        found = None
    return {"file": str(file), "first_line": found[0] if found else None, "last_line": found[1] if found else None}
