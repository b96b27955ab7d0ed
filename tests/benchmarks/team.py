"""A team's store: what the first user spends on a repository, and a second one with an own home and clone."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rag_ls.embedding import EMBEDDED_TEXTS
from rag_ls.engine.client import local_client
from tests.storage.postgres.servers import postgres

_PART = "django/db"
"""Some 3,000 chunks: all of Django would take a quarter of an hour."""


def team(repository: Path, work: Path) -> dict[str, Any]:
    """Seconds until everything is indexed, and texts embedded, without a store, for the first user and for the second."""
    with postgres(_made(work / "server")) as server:
        url = server.url(server.database())
        found = {
            "alone": _user(repository, work, "alone", ""),
            "first": _user(repository, work, "first", url),
            "second": _user(repository, work, "second", url),
        }
        (size,) = server.run("SELECT pg_total_relation_size('rag_ls.rag_vector')", "team_1")[0]
    found["second"]["share_of_first"] = round(found["second"]["seconds"] / found["first"]["seconds"], 3)
    return {**found, "store_mb": round(int(str(size)) / 1e6, 1)}


def _user(repository: Path, work: Path, name: str, url: str) -> dict[str, Any]:
    clone = work / f"clone-{name}"
    shutil.copytree(repository / _PART, clone)
    with _environment(RAG_LS_HOME=str(work / f"home-{name}"), RAG_LS_STORE_URL=url):
        client = local_client()
        # What is measured is work, not the loading of a model that the second user hardly needs.
        client.engine.models.wait(client.engine.models.configured().id, 60)
        started = time.perf_counter()
        view = client.open(clone)
        view.keep_indexed()
        assert view.indexing.wait_until_idle(3000)
        seconds = time.perf_counter() - started
        status, embedded = view.status(), client.engine.counts[EMBEDDED_TEXTS]
        assert status.complete, status.note
        client.close()
    return {"seconds": round(seconds, 1), "embedded": embedded, "chunks": status.chunks}


@contextmanager
def _environment(**changes: str) -> Iterator[None]:
    former = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in former.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
