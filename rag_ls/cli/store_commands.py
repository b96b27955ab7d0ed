"""`rag-ls store`: publish a project's code to everybody who may read a team's store, list a server's projects, drop one."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from types import SimpleNamespace

from rag_ls.cli import terminal
from rag_ls.cli.progress import show_progress
from rag_ls.cli.terminal import ask_to_confirm, print_notes, show_answer
from rag_ls.config import PROJECTS_FILE, Registry, Settings, StoreSettings, list_known_projects, load_settings
from rag_ls.embedding import OFF
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.indexing import Patterns, Published, Publishing, find_differing_files
from rag_ls.locations import user_config_file, user_data_folder
from rag_ls.memory import utc_now
from rag_ls.project import (
    NO_REMOTE,
    Project,
    current_branch,
    current_commit,
    existing_project,
    is_known_to_others,
    shared_name,
)
from rag_ls.storage import Publication, StoredProject, open_index, open_publisher, open_stored_projects
from rag_ls.util.text import count_of, fold

_MAX_NAMED = 20


def list_projects(arguments: SimpleNamespace) -> int:
    """List the projects whose vectors a server searches."""
    with contextlib.closing(open_stored_projects(_find_store(arguments))) as projects:
        found, place = projects.all(), projects.place
    own = _find_own_names()
    lines = []
    for each in found:
        size = f"  {each.bytes / 1e6:,.1f} MB" if each.bytes else ""
        mark = "" if each.name in own else "  (not among your projects)"
        lines.append(f"{terminal.paint().style(each.name, terminal.NAME)}  {_count_contents(each)}{size}{mark}")
    if not (found or arguments.json):
        print_notes(f"{place} searches no projects")
    rows = [{**dataclasses.asdict(each), "known_here": each.name in own} for each in found]
    return show_answer(arguments, {"store": place, "projects": rows}, "\n".join(lines))


def _count_contents(project: StoredProject) -> str:
    counts = ((project.vectors, "vector"), (project.chunks, "published chunk"))
    return ", ".join(count_of(count, name) for count, name in counts)


def drop_projects(arguments: SimpleNamespace) -> int:
    """Delete what a server holds of a project. Raises `StoreUnavailable`, `NotFound`, `InvalidRequest`, `NotConfirmed`."""
    with contextlib.closing(open_stored_projects(_find_store(arguments))) as projects:
        found = next((each for each in projects.all() if each.name == arguments.name), None)
        if found is None:
            raise NotFound(f"{projects.place} has no project {arguments.name!r}; `rag-ls store projects` lists them")
        is_own = found.name in _find_own_names()
        comes_back = "its vectors are sent again when it is next indexed, its code when somebody publishes it."
        used = f" It is one of your projects: {comes_back}" if is_own else ""
        lost = f"{_count_contents(found)} of {fold(found.name)}, for everybody who shares it"
        print_notes(f"{projects.place} will lose {lost}.{used}")
        if not ask_to_confirm("drop them now?", "nothing was dropped", remedy="run it at a terminal"):
            return 1
        projects.drop(found.name)
        print_notes(f"dropped {found.name}")
    return 0


def _find_own_names() -> set[str]:
    """The names that this user's projects have on a server."""
    known = list_known_projects(
        load_settings().settings.projects, Registry(user_data_folder() / PROJECTS_FILE).projects()
    )
    return {shared_name(Path(item.root)) for item in known if Path(item.root).is_dir()}


def publish(arguments: SimpleNamespace) -> int:
    """Publish the indexed code of a project. Raises `StoreUnavailable`, `NotFound`, `InvalidRequest`."""
    project = existing_project(arguments.path)
    settings = load_settings(project).settings
    store = _find_store(arguments)
    if "chunks" not in store.share:
        raise InvalidRequest(
            "store.share does not hold `chunks`, so nothing is published: if everybody who may read the store may read this "
            f'code, set share = ["vectors", "chunks"] in {user_config_file()}, or RAG_LS_STORE_SHARE=vectors,chunks'
        )
    if settings.embedding.is_off:
        raise InvalidRequest(f"nothing is published without vectors: {OFF}")
    if not project.data_folder.is_dir():
        raise NotFound(f"{project.root} has no index: `rag-ls index` makes one")
    name = shared_name(project.root)
    if not name or not is_known_to_others(name):
        reason = NO_REMOTE if name else "git cannot be asked for its remote `origin`"
        raise NotFound(f"{project.root} is not published: {reason}")
    published, place = _publish_index(project, settings, store, name)
    changed = f"{published.changed:,} sent now, {published.removed:,} removed"
    text = f"{name}: {count_of(published.files, 'file')} published on {place}; {changed}"
    show_answer(arguments, {"project": name, "store": place, **dataclasses.asdict(published)}, text)
    more = len(published.failed) - _MAX_NAMED
    failed = [f"{path} is not published: {reason}" for path, reason in published.failed.items()]
    print_notes(*failed[:_MAX_NAMED], f"nor are {more:,} more" if more > 0 else "")
    return 1 if failed else 0


def _find_store(arguments: SimpleNamespace) -> StoreSettings:
    """Return the settings of the store that the user named. Raises `InvalidRequest` if there is none."""
    settings = load_settings().settings.store
    if url := arguments.store or settings.url:
        return dataclasses.replace(settings, url=url)
    raise InvalidRequest("no store is named: give --store URL, or set store.url")


def _publish_index(project: Project, settings: Settings, store: StoreSettings, name: str) -> tuple[Published, str]:
    """Publish an index; returns the changes and the store's place. Raises `InvalidRequest` if the index lags behind the files."""
    stamp = Publication(
        "", current_commit(project.root), current_branch(project.root), f"{utc_now():%Y-%m-%dT%H:%M:%SZ}"
    )
    # The index keeps using the store of the settings: in another store, it would first have to write all vectors.
    index = open_index(project.data_folder, settings, name)
    publisher = open_publisher(dataclasses.replace(settings, store=store), name)
    patterns = Patterns.of(settings.index)
    with contextlib.closing(index), contextlib.closing(publisher), show_progress() as show:
        if differing := find_differing_files(project, index.checkout, patterns):
            raise InvalidRequest(
                f"{count_of(len(differing), 'file')} changed after indexing ({differing[0]} did), and nothing is published: "
                "run `rag-ls index` first"
            )

        def report(done: int, total: int) -> None:
            show({"project": name, "phase": "publishing", "done": done, "total": total, "title": f"publishing {name}"})

        def is_current() -> bool:
            return current_commit(project.root).rstrip("+") == stamp.commit.rstrip("+")

        return Publishing(index, publisher).publish(stamp, report, is_current), publisher.place
