"""`rag-ls store`: copy vectors between stores, list a server's projects, drop one."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from rag_ls.cli import terminal
from rag_ls.cli.confirmation import ask_to_confirm
from rag_ls.cli.progress import showing
from rag_ls.config import StoreSettings
from rag_ls.config import load as load_settings
from rag_ls.embedding.models import OFF
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.project import Project, existing_project, shared_name, user_data_folder
from rag_ls.registry.catalogue import known_projects
from rag_ls.registry.registry_file import FILE_NAME as PROJECTS_FILE
from rag_ls.registry.registry_file import Registry
from rag_ls.storage import (
    CopiedModel,
    ListedVectors,
    StoredProject,
    StoredProjects,
    copy_vectors,
    open_index,
    open_listed_vectors,
    open_stored_projects,
)
from rag_ls.util.quoting import fold
from rag_ls.util.text import count_of


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked. Raises `StoreUnavailable`, `NotFound`, `InvalidRequest`, `NotConfirmed`."""
    if arguments.action == "copy":
        return _copy(arguments)
    if arguments.action == "publish":
        from rag_ls.cli import publish_command

        return publish_command.run(arguments)
    with contextlib.closing(open_stored_projects(find_store(arguments))) as projects:
        return _drop(projects, arguments) if arguments.action == "drop" else _list(projects, arguments)


def _copy(arguments: argparse.Namespace) -> int:
    if arguments.source == arguments.target:
        raise InvalidRequest("FROM and TO are the same store")
    with (
        _open_vectors(arguments.source, arguments.project) as source,
        _open_vectors(arguments.target, arguments.project) as target,
        showing() as show,
    ):

        def report(model: str, done: int) -> None:
            show(
                {"project": model, "phase": "copying", "done": done, "total": 0, "title": f"copying {model}: {done:,}"}
            )

        copied = copy_vectors(source, target, report)
        if not copied:
            print(f"rag-ls: there are no vectors to copy{_where(arguments)}", file=sys.stderr)
            return 1
    if arguments.json:
        print(json.dumps({"models": [dataclasses.asdict(each) for each in copied]}))
    for each in copied if not arguments.json else ():
        print(_format_copied(each))
    if any(each.wrong for each in copied):
        print(
            "rag-ls: not the same: who may only read the target copies nothing; run it again or see the log",
            file=sys.stderr,
        )
        return 1
    return 0


def _format_copied(copied: CopiedModel) -> str:
    left_out = f", {copied.damaged:,} damaged left out" if copied.damaged else ""
    wrong = f", {copied.wrong:,} NOT as in the source" if copied.wrong else ", all compared"
    return f"{copied.model}: {count_of(copied.found, 'vector')}, {copied.copied:,} of them copied now{wrong}{left_out}"


def _where(arguments: argparse.Namespace) -> str:
    if "://" not in arguments.source:
        is_off = load_settings(existing_project(arguments.source)).settings.embedding.is_off
        return f": {OFF}" if is_off else ": `rag-ls index` makes them"
    if arguments.project:
        return f" of a project {arguments.project!r}; `rag-ls store projects` lists them"
    return "; give --project NAME for those that are searched there"


@contextlib.contextmanager
def _open_vectors(place: str, project: str) -> Iterator[ListedVectors]:
    """The store at a URL, or the index of the project around a folder."""
    if "://" in place:
        with contextlib.closing(open_listed_vectors(StoreSettings(url=place), project)) as store:
            yield store
        return
    found = existing_project(place)
    check_has_index(found)
    settings = load_settings(found).settings
    index = open_index(found.data_folder, settings, shared_name(found.root))
    try:
        yield index.saved_vectors
        # The chunks whose vectors have arrived wait no longer.
        model = index.checkout.embeddings.active_model()
        waiting = index.checkout.embeddings.waiting_hashes(model)
        index.checkout.embeddings.note_embedded(set(waiting) - index.vectors.missing(model, waiting))
    finally:
        index.close()


def _list(projects: StoredProjects, arguments: argparse.Namespace) -> int:
    found, known = projects.all(), _find_own_names()
    if arguments.json:
        rows = [{**dataclasses.asdict(each), "known_here": each.name in known} for each in found]
        print(json.dumps({"store": projects.place, "projects": rows}))
        return 0
    paint = terminal.paint()
    for each in found:
        size = f"  {count_of(each.memories, 'memory')}" if each.memories else ""
        size += f"  {count_of(each.chunks, 'chunk')} of code, readable" if each.chunks else ""
        size += f"  {each.bytes / 1e6:,.1f} MB" if each.bytes else ""
        mark = "" if each.name in known else "  (not among your projects)"
        print(f"{paint.style(each.name, terminal.NAME)}  {count_of(each.vectors, 'vector')}{size}{mark}")
    if not found:
        print(f"rag-ls: {projects.place} searches no projects", file=sys.stderr)
    return 0


def _drop(projects: StoredProjects, arguments: argparse.Namespace) -> int:
    found: StoredProject | None = next((each for each in projects.all() if each.name == arguments.name), None)
    if found is None:
        raise NotFound(f"{projects.place} has no project {arguments.name!r}; `rag-ls store projects` lists them")
    used = (
        " It is one of your projects: its vectors are sent again when it is next indexed, its code when somebody publishes it."
        if found.name in _find_own_names()
        else ""
    )
    held = f"{count_of(found.vectors, 'vector')}, {count_of(found.memories, 'memory')} and {count_of(found.chunks, 'published chunk')}"
    lost = f"{held} of {fold(found.name)}, for everybody who shares it"
    print(f"rag-ls: {projects.place} will lose {lost}.{used}", file=sys.stderr)
    if not ask_to_confirm("drop them now?", "nothing was dropped", remedy="run it at a terminal"):
        return 1
    projects.drop(found.name)
    print(f"rag-ls: dropped {found.name}", file=sys.stderr)
    return 0


def check_has_index(project: Project) -> None:
    """Raise `NotFound` if a project was never indexed."""
    if not project.data_folder.is_dir():
        raise NotFound(f"{project.root} has no index: `rag-ls index` makes one")


def find_store(arguments: argparse.Namespace) -> StoreSettings:
    """The settings of the store that the user named. Raises `InvalidRequest` if there is none."""
    settings = load_settings().settings.store
    if url := arguments.store or settings.url:
        return dataclasses.replace(settings, url=url)
    raise InvalidRequest("no store is named: give --store URL, or set store.url")


def _find_own_names() -> set[str]:
    """The names on a server of this user's projects."""
    known = known_projects(load_settings().settings.projects, Registry(user_data_folder() / PROJECTS_FILE).projects())
    return {shared_name(Path(item.root)) for item in known if Path(item.root).is_dir()}
