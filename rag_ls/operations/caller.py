"""The caller of an operation."""

from __future__ import annotations

from collections.abc import Callable

from rag_ls.engine.client import Client
from rag_ls.operations.engine.progress import Report
from rag_ls.operations.projects.naming import Projects
from rag_ls.operations.rules.projects import RuleProjects
from rag_ls.util.records import dataclass


class MustWait(Exception):
    """A question cannot be answered well yet. Call `wait` in a thread that may take its time, then ask again."""

    def __init__(self, wait: Callable[[Report], None]) -> None:
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Caller:
    """The client that asks an operation, the projects that it can mean, and how it is answered."""

    client: Client
    projects: Projects
    memory_projects: Projects
    """As `projects`; where none is open, the project without a folder, which sees the user's memories."""
    rule_projects: RuleProjects
    wait_s: float
    """The time that a question waits for a model that is still loading, in an engine's thread."""
    patience_s: float
    """The same in the caller's own thread."""
    can_wait: bool
    """Whether a handler may raise `MustWait`."""
    budget_tokens: int
    """The token budget of an answer where neither the request nor the settings set one; 0 for no limit."""
