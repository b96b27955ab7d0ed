"""A project of files as people really have them, asked as an agent asks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag_ls.engine.client import Client
from rag_ls.engine.session import ProjectSession
from rag_ls.operations import Operations
from tests.support import PATIENCE_S, write


class WildProject:
    """A folder with some files, indexed, and the operations on it."""

    def __init__(self, client: Client, root: Path, files: Mapping[str, str | bytes]) -> None:
        self.root = write(root, files)
        self.session: ProjectSession = client.open(self.root)
        self._operations = Operations(client, wait_for_model_s=PATIENCE_S)
        self.index()

    def index(self) -> None:
        """Index the tree as it is now."""
        self.session.indexing.index_tree()
        assert self.session.indexing.wait_until_idle(PATIENCE_S)

    def ask(self, operation: str, **arguments: object) -> Any:
        """The answer of an operation."""
        return self._operations.run(operation, arguments)

    def search(self, query: str, **arguments: object) -> list[str]:
        """The paths of the hits that hold words of the query, best first."""
        hits = self.ask("search_code", query=query, **arguments)["results"]
        return [hit["path"] for hit in hits if hit["matched_by"] != ["dense"]]

    def recall(self, query: str) -> list[str]:
        """The contents of the memories that a question finds, best first."""
        return [hit["content"] for hit in self.ask("search_memory", query=query)["results"]]
