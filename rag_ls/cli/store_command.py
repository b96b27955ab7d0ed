"""`rag-ls store`: copy vectors between stores, list a server's projects, drop one."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from types import SimpleNamespace

from rag_ls.cli import terminal
from rag_ls.cli.confirmation import ask_to_confirm
from rag_ls.cli.terminal import print_notes, show_answer
from rag_ls.config.catalogue import known_projects
from rag_ls.config.loading import load_settings
from rag_ls.config.registry_file import FILE_NAME as PROJECTS_FILE
from rag_ls.config.registry_file import Registry
from rag_ls.config.settings import StoreSettings
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.project import Project, shared_name, user_data_folder
from rag_ls.storage import (
    open_stored_projects,
)
from rag_ls.util.text import count_of, fold


def list_projects(arguments: SimpleNamespace) -> int:
    """List the projects whose vectors a server searches."""
    with contextlib.closing(open_stored_projects(find_store(arguments))) as projects:
        found, place = projects.all(), projects.place
    known = _find_own_names()
    rows = [{**dataclasses.asdict(each), "known_here": each.name in known} for each in found]
    paint = terminal.paint()
    lines = []
    for each in found:
        size = f"  {count_of(each.memories, 'memory')}" if each.memories else ""
        size += f"  {count_of(each.chunks, 'chunk')} of code, readable" if each.chunks else ""
        size += f"  {each.bytes / 1e6:,.1f} MB" if each.bytes else ""
        mark = "" if each.name in known else "  (not among your projects)"
        lines.append(f"{paint.style(each.name, terminal.NAME)}  {count_of(each.vectors, 'vector')}{size}{mark}")
    print_notes(*(() if found or arguments.json else (f"{place} searches no projects",)))
    return show_answer(arguments, {"store": place, "projects": rows}, "\n".join(lines))


def drop_projects(arguments: SimpleNamespace) -> int:
    """Delete what a server holds of a project. Raises `StoreUnavailable`, `NotFound`, `InvalidRequest`, `NotConfirmed`."""
    with contextlib.closing(open_stored_projects(find_store(arguments))) as projects:
        found = next((each for each in projects.all() if each.name == arguments.name), None)
        if found is None:
            raise NotFound(f"{projects.place} has no project {arguments.name!r}; `rag-ls store projects` lists them")
        is_own = found.name in _find_own_names()
        comes_back = "its vectors are sent again when it is next indexed, its code when somebody publishes it."
        used = f" It is one of your projects: {comes_back}" if is_own else ""
        counts = ((found.vectors, "vector"), (found.memories, "memory"), (found.chunks, "published chunk"))
        vectors, memories, chunks = (count_of(count, name) for count, name in counts)
        lost = f"{vectors}, {memories} and {chunks} of {fold(found.name)}, for everybody who shares it"
        print_notes(f"{projects.place} will lose {lost}.{used}")
        if not ask_to_confirm("drop them now?", "nothing was dropped", remedy="run it at a terminal"):
            return 1
        projects.drop(found.name)
        print_notes(f"dropped {found.name}")
    return 0


def check_has_index(project: Project) -> None:
    """Raise `NotFound` if a project was never indexed."""
    if not project.data_folder.is_dir():
        raise NotFound(f"{project.root} has no index: `rag-ls index` makes one")


def find_store(arguments: SimpleNamespace) -> StoreSettings:
    """The settings of the store that the user named. Raises `InvalidRequest` if there is none."""
    settings = load_settings().settings.store
    if url := arguments.store or settings.url:
        return dataclasses.replace(settings, url=url)
    raise InvalidRequest("no store is named: give --store URL, or set store.url")


def _find_own_names() -> set[str]:
    """The names on a server of this user's projects."""
    known = known_projects(load_settings().settings.projects, Registry(user_data_folder() / PROJECTS_FILE).projects())
    return {shared_name(Path(item.root)) for item in known if Path(item.root).is_dir()}
