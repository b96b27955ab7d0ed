"""What a surface serves one client with, whatever brought the client: a process of its own, or the relay's socket."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rag_ls.config import Settings
from rag_ls.engine.client import Client
from rag_ls.engine.project_view import ProjectView
from rag_ls.errors import NotIndexed
from rag_ls.operations.operations import Operations
from rag_ls.operations.requests import AGENTS_BUDGET_TOKENS
from rag_ls.operations.spec import Opens, Operation


@dataclass(frozen=True, slots=True)
class Terms:
    """How the clients of one surface are answered."""

    wait_for_model_s: float = 0.0
    """How long a question waits for a model that is still loading; then words alone must do."""
    budget_tokens: int = 0
    """How much code an answer holds where neither the caller nor the settings say; 0 for no limit."""


_TERMS = {
    "lsp": Terms(),
    "mcp": Terms(wait_for_model_s=1.0, budget_tokens=AGENTS_BUDGET_TOKENS),
    "cli": Terms(wait_for_model_s=20.0),
}


class ClientSession:
    """One client of an engine: the folders that it works in, its settings, toolsets and operations."""

    def __init__(self, client: Client) -> None:
        terms = _TERMS[client.about.surface]
        self.client = client
        self.operations = Operations(client, wait_for_model_s=terms.wait_for_model_s, budget_tokens=terms.budget_tokens)

    @property
    def settings(self) -> Settings:
        """Those of the project that the client opened first; the user's where it has none."""
        view = next(iter(self.client.projects()), None)
        return view.settings if view is not None else self.client.load_settings().settings

    @property
    def toolsets(self) -> tuple[str, ...]:
        """The toolsets of the agent's tools that the settings offer."""
        return self.settings.mcp.toolsets

    def work_in(self, folder: Path) -> ProjectView:
        """Open the project around a folder for a client that stays there, and keep it indexed where the settings say so.

        Raises `ProjectUnavailable`, and `NotIndexed` for a folder that is no project; questions about code then say why.
        """
        try:
            view = self.client.open(folder)
        except NotIndexed as error:
            self.client.why_none = error
            raise
        if view.settings.index.on_open:
            view.keep_indexed()
        return view

    def enter(self, folder: str, operation: Operation) -> None:
        """Have the project around a folder open for one operation; a folder that is no project becomes one only where that
        is what the operation is for.

        Raises `ProjectUnavailable`, and `NotIndexed` where the operation needs a project.
        """
        try:
            if operation.opens is Opens.EXISTING:
                self.client.open_existing(folder)
            else:
                self.client.open(folder, on_purpose=operation.opens is Opens.ON_PURPOSE)
        except NotIndexed as error:
            self.client.why_none = error
            if operation.needs_code:
                raise
