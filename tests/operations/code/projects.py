"""A client's project, as the tests of this folder need it."""

from __future__ import annotations

from rag_ls.engine.client import Client
from tests.support import PATIENCE_S


def index_project(client: Client, *, embeddings: bool = True) -> None:
    """Index the one project of a client as it is now; a test that asks for lines alone does without embeddings."""
    (view,) = client.projects()
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=embeddings)
