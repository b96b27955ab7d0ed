"""`rag-ls store publish`: lets everybody who may read a team's store search a project's code without a checkout."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import sys

from rag_ls.cli.progress import showing
from rag_ls.cli.store_command import check_has_index, named_store
from rag_ls.config import Settings
from rag_ls.config import load as load_settings
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.indexing import Published, Publishing
from rag_ls.memory import utc_now
from rag_ls.project import (
    Project,
    current_branch,
    current_commit,
    existing_project,
    shared_name,
    user_config_file,
)
from rag_ls.storage import Publication, open_index, open_publisher


def run(arguments: argparse.Namespace) -> int:
    """Publish what files hold. Raises `StoreUnavailable`, `NotFound`, `InvalidRequest`."""
    project = existing_project(arguments.path)
    settings = _settings(project, arguments)
    check_has_index(project)
    name = shared_name(project.root)
    if not name:
        raise NotFound(f"{project.root} has no name for others: git cannot be asked for its remote `origin`")
    published, place = _published(project, settings, name)
    if arguments.json:
        print(json.dumps({"project": name, "store": place, **dataclasses.asdict(published)}))
    else:
        changed = f"{published.changed:,} sent now, {published.removed:,} removed"
        print(f"{name}: {published.files:,} files published on {place}; {changed}")
    for path, reason in published.failed.items():
        print(f"rag-ls: {path} is not published: {reason}", file=sys.stderr)
    return 1 if published.failed else 0


def _settings(project: Project, arguments: argparse.Namespace) -> Settings:
    """The settings, with the store that the user named. Raises `InvalidRequest` where code may not go there."""
    settings = dataclasses.replace(load_settings(project).settings, store=named_store(arguments))
    if "chunks" not in settings.store.share:
        raise InvalidRequest(
            "store.share does not hold `chunks`, so nothing is published: if everybody who may read the store may read this "
            f'code, set share = ["vectors", "chunks"] in {user_config_file()}, or RAG_LS_STORE_SHARE=vectors,chunks'
        )
    return settings


def _published(project: Project, settings: Settings, name: str) -> tuple[Published, str]:
    """What was published, and where."""
    stamp = Publication(
        "", current_commit(project.root), current_branch(project.root), f"{utc_now():%Y-%m-%dT%H:%M:%SZ}"
    )
    index, publisher = open_index(project.data_folder, settings, name), open_publisher(settings, name)
    with contextlib.closing(index), contextlib.closing(publisher), showing() as show:

        def report(done: int, total: int) -> None:
            show({"project": name, "phase": "publishing", "done": done, "total": total, "title": f"publishing {name}"})

        return Publishing(index, publisher).publish(stamp, report), publisher.place
