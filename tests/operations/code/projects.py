"""A client's project, as the tests of this folder need it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rag_ls.engine.client import Client
from rag_ls.operations import Operations
from tests.support import PATIENCE_S


def index_project(client: Client, *, embeddings: bool = True) -> None:
    """Index the one project of a client as it is now; a test that asks for lines alone does without embeddings."""
    (view,) = client.projects()
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=embeddings)


def find_uses(client: Client, root: Path, question: dict[str, Any]) -> list[str]:
    """The calls, imports and mentions that `find_references` tells of a project, each with its line and how sure it is, in order."""
    client.open(root)
    index_project(client, embeddings=False)
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", question)
    return sorted(
        f"{each['path']}:{each['line']} {each['sure']}"
        for each in answer["references"]
        if each["kind"] in ("call", "import", "mention")
    )
