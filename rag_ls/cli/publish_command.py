"""`rag-ls store publish`: lets everybody who may read a team's store search a project's code without a checkout."""

from __future__ import annotations

import contextlib
import dataclasses
from types import SimpleNamespace

from rag_ls.cli.progress import showing
from rag_ls.cli.store_command import check_has_index, find_store
from rag_ls.cli.terminal import print_notes, show_answer
from rag_ls.config.engine_settings import StoreSettings
from rag_ls.config.loading import load_settings
from rag_ls.config.settings import Settings
from rag_ls.embedding import OFF
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.indexing import Patterns, Published, Publishing, find_differing_files
from rag_ls.locations import user_config_file
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
from rag_ls.storage import Publication, open_index, open_publisher
from rag_ls.util.text import count_of

_MAX_NAMED = 20


def run(arguments: SimpleNamespace) -> int:
    """Publish what files hold. Raises `StoreUnavailable`, `NotFound`, `InvalidRequest`."""
    project = existing_project(arguments.path)
    settings = load_settings(project).settings
    store = _store(arguments)
    if settings.embedding.is_off:
        raise InvalidRequest(f"nothing is published without vectors: {OFF}")
    check_has_index(project)
    name = shared_name(project.root)
    if not name:
        raise NotFound(f"{project.root} is not published: git cannot be asked for its remote `origin`")
    if not is_known_to_others(name):
        raise NotFound(f"{project.root} is not published: {NO_REMOTE}")
    published, place = _publish_index(project, settings, store, name)
    changed = f"{published.changed:,} sent now, {published.removed:,} removed"
    text = f"{name}: {count_of(published.files, 'file')} published on {place}; {changed}"
    show_answer(arguments, {"project": name, "store": place, **dataclasses.asdict(published)}, text)
    more = len(published.failed) - _MAX_NAMED
    failed = [f"{path} is not published: {reason}" for path, reason in published.failed.items()]
    print_notes(*failed[:_MAX_NAMED], f"nor are {more:,} more" if more > 0 else "")
    return 1 if failed else 0


def _store(arguments: SimpleNamespace) -> StoreSettings:
    """The store that the user named. Raises `InvalidRequest` where code may not go there."""
    store = find_store(arguments)
    if "chunks" not in store.share:
        raise InvalidRequest(
            "store.share does not hold `chunks`, so nothing is published: if everybody who may read the store may read this "
            f'code, set share = ["vectors", "chunks"] in {user_config_file()}, or RAG_LS_STORE_SHARE=vectors,chunks'
        )
    return store


def _publish_index(project: Project, settings: Settings, store: StoreSettings, name: str) -> tuple[Published, str]:
    """The changes made by publishing, and their place. Raises `InvalidRequest` if the index lags behind the files."""
    stamp = Publication(
        "", current_commit(project.root), current_branch(project.root), f"{utc_now():%Y-%m-%dT%H:%M:%SZ}"
    )
    # The index stays on the store of the settings: another store would first need all vectors.
    index = open_index(project.data_folder, settings, name)
    publisher = open_publisher(dataclasses.replace(settings, store=store), name)
    patterns = Patterns.of(settings.index)
    with contextlib.closing(index), contextlib.closing(publisher), showing() as show:
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
