"""Operations that forget projects and delete their indexes. Only the shell offers them."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from rag_ls.config import CONFIG, OPENED, KnownProject, called, names_of
from rag_ls.errors import InvalidRequest, NotFound, ProjectUnavailable
from rag_ls.locations import user_config_file, user_data_folder
from rag_ls.memory import memories_folder, utc_now
from rag_ls.operations.fields import NoArguments, argument, optional
from rag_ls.operations.operation import DELETES, Caller, Verb, operation
from rag_ls.operations.projects.listing import find_problems
from rag_ls.project import Project
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
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import nearest, nearest_text, utc_stamp


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The user's settings, which list a project."""

    file: str


@dataclass(frozen=True, slots=True)
class RemovalRecord:
    """The data that removing a project deletes."""

    name: str
    root: str
    source: str
    reason: str
    documents: int
    chunks: int
    embeddings: int
    bytes: int
    memories: int | None
    memory_bytes: int
    files: tuple[str, ...]
    config: ConfigFile | None
    copy: str = optional("")
    """The place where a copy of the deleted memories stays."""
    shared_with: tuple[str, ...] = optional(())
    """Other work trees and clones that have the same memories."""


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """The projects that would be removed."""

    projects: tuple[RemovalRecord, ...]
    memories: bool


@dataclass(frozen=True, slots=True)
class PlanRemoval:
    project: str = argument(doc="a name, or the path of a root")
    memories: bool = argument(False, "delete its memories too, with their backups")


@operation(
    manages=True,
    needs_code=False,
    verb=Verb(
        "project remove",
        "forget a project and delete its index, never its files; memories are kept",
        ("project",),
        in_project=False,
        example="rag-ls project remove shop",
    ),
)
def plan_removal(caller: Caller, request: PlanRemoval) -> RemovalPlan:
    """The data that removing a project would delete."""
    _check_registry(caller)
    wanted = request.project.strip()
    known = caller.client.known_projects()
    if not (chosen := called(known, wanted)):
        near = nearest_text(nearest(wanted, {item.name for item in known}))
        raise NotFound(f"no known project is called {wanted!r}; {near}known are {names_of(known)}")
    return RemovalPlan(
        tuple(_plan_one(caller, item, "asked for", request.memories) for item in chosen), request.memories
    )


@operation(
    manages=True,
    needs_code=False,
    verb=Verb(
        "project prune",
        "forget projects whose folder is gone, or that the settings list no longer; delete their indexes",
        in_project=False,
    ),
)
def plan_pruning(caller: Caller, request: NoArguments) -> RemovalPlan:
    """The data that would go with projects that are gone, or that the settings list no longer."""
    # An unreadable file would seem to list nothing.
    if problems := find_problems(caller):
        raise InvalidRequest(f"nothing is pruned before this is mended: {problems[0]}")
    registered = {item.root: item for item in caller.client.engine.registry.projects()}
    opened = [item for item in caller.client.known_projects() if item.source == OPENED]
    gone = [item for item in opened if item.is_missing]
    unlisted = [item for item in opened if not item.is_missing and registered[str(item.root)].from_config]
    plans = [_plan_one(caller, item, "its folder is gone", False) for item in gone]
    plans += [_plan_one(caller, item, "the settings list it no longer", False) for item in unlisted]
    return RemovalPlan(tuple(plans), False)


@dataclass(frozen=True, slots=True)
class RemoveProjects:
    roots: tuple[str, ...] = argument((), "their roots")
    memories: bool = argument(False, "with their memories")


@dataclass(frozen=True, slots=True)
class RemovedAnswer:
    """The projects that were removed."""

    removed: tuple[RemovalRecord, ...]
    memories: bool


@operation(effects=DELETES, manages=True, needs_code=False)
def remove_projects(caller: Caller, request: RemoveProjects) -> RemovedAnswer:
    """Forget projects and delete their indexes."""
    _check_registry(caller)
    known = {str(item.root): item for item in caller.client.known_projects()}
    for root in request.roots:
        if root not in known:
            raise NotFound(f"{root} is no known project; known are {names_of(known.values())}")
        # A question about all projects opens each of them.
        caller.client.close_aside(Path(root))
        if not caller.client.engine.close_unused(Path(root)):
            raise ProjectUnavailable(
                f"{root} is open in an editor or agent: close it there (`rag-ls status` shows them), then do it again"
            )
    removed = tuple(_remove_project(caller, known[root], request.memories) for root in request.roots)
    caller.client.engine.registry.remove(request.roots)
    return RemovedAnswer(removed, request.memories)


def _remove_project(caller: Caller, known: KnownProject, memories: bool) -> RemovalRecord:
    """Delete a project's files; a copy of its memories stays with the user."""
    removal, project = _plan_one(caller, known, "asked for", memories), Project(known.root)
    if memories:
        at = f"{utc_now():%Y-%m-%dT%H%M%S}-{uuid.uuid4().hex[:6]}"
        copy = user_data_folder() / "removed" / f"{project.name}-{at}.db"
        if set_memories_aside(memories_folder(project, caller.client.engine.memory_homes), copy):
            removal = replace(removal, copy=str(copy))
    home = caller.client.engine.memory_homes.find(project)
    for file in removal.files:
        Path(file).unlink(missing_ok=True)
    if memories and home is not None:
        # Copies of them in other work trees must not be taken over again.
        caller.client.engine.memory_homes.note_removed(home, utc_stamp(utc_now()))
    remove_data_folder(project)
    return removal


def _plan_one(caller: Caller, known: KnownProject, reason: str, memories: bool) -> RemovalRecord:
    project = Project(known.root)
    held = index_summary(project) or IndexSummary()
    homes = caller.client.engine.memory_homes
    home, folder = homes.find(project), memories_folder(project, homes)
    # Delete the copy in the project too, or the memories would be taken from there again.
    remembered = sorted({*memory_files(folder), *memory_files(project.data_folder)})
    files = derived_files(project)
    chosen = [*files, *remembered] if memories else files
    others = [root for root in home.roots if root != str(known.root) and os.path.isdir(root)] if home else []
    return RemovalRecord(
        name=known.name, root=str(known.root), source=known.source, reason=reason, documents=held.documents,
        chunks=held.chunks, embeddings=held.embeddings, bytes=total_bytes(files), memories=count_memories(folder),
        memory_bytes=total_bytes(remembered), files=tuple(str(file) for file in chosen),
        config=ConfigFile(str(user_config_file())) if known.source == CONFIG else None, shared_with=tuple(others),
    )  # fmt: skip


def _check_registry(caller: Caller) -> None:
    """Raise `InvalidRequest` if the list of known projects cannot be read: a deleted index would stay in it."""
    if problem := caller.client.engine.registry.find_problem():
        raise InvalidRequest(f"nothing is removed before this is mended: {problem}")
