"""Whose memories an operation changed, so that those alone are told who may see them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_ls.engine.project_view import ProjectView
from rag_ls.model import Scope


@dataclass(frozen=True, slots=True)
class Changed:
    """What an operation that changes memories returns: its answer, and whose memories it changed."""

    answer: Any
    roots: tuple[Path | None, ...]
    """The project of each changed store; None for memories of a session or of the user. Empty for a preview."""


def changed(answer: object, view: ProjectView, *scopes: Scope) -> Changed:
    """An answer after changes of memories that the project `view` sees, in some scopes."""
    roots = (view.project.root if scope is Scope.PROJECT else None for scope in scopes)
    return Changed(answer, tuple(dict.fromkeys(roots)))
