"""How a project stands, in as much detail as is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.operations import Operations
from tests.support import PATIENCE_S, write


@pytest.fixture
def operations(client: Client, tmp_path: Path) -> Operations:
    """The operations on a project of three languages, in which one file is a picture."""
    files = {
        "a.py": "def a():\n    return 1\n",
        "b.py": "B = 2\n",
        "notes.md": "# Notes\n",
        "photo.png": b"\x89PNG\0\0",
    }
    view = client.open(write(tmp_path / "project", files))
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    return Operations(client)


def test_the_details_of_a_status_say_what_a_project_is_made_of(operations: Operations) -> None:
    (project,) = operations.run("engine_status", {"details": True})["projects"]
    assert project["languages"] == {"python": {"documents": 2, "chunks": 2}, "markdown": {"documents": 1, "chunks": 1}}
    assert project["skipped_files"] == [{"path": "photo.png", "reason": "binary"}]


def test_a_status_without_details_is_short(operations: Operations) -> None:
    (project,) = operations.run("engine_status", {})["projects"]
    assert project["skipped"] == {"binary": 1}
    assert "languages" not in project
