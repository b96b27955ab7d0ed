"""Marks answers with the project whose memories changed, so that only clients that see it are told."""

from __future__ import annotations

from pathlib import Path
from typing import Generic, TypeVar

from rag_ls.engine.session import ProjectSession
from rag_ls.model import Scope
from rag_ls.util.records import dataclass

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Changed(Generic[A]):
    """The result of an operation that changes memories: its answer, and whose memories it changed."""

    answer: A
    roots: tuple[Path | None, ...]
    """The project of each changed store; None for memories of a session or of the user. Empty for a preview."""


def mark_changed(answer: A, view: ProjectSession, *scopes: Scope) -> Changed[A]:
    """An answer after changes of memories that the project `view` sees, in some scopes."""
    return Changed(answer, find_roots(view, *scopes))


def find_roots(view: ProjectSession, *scopes: Scope) -> tuple[Path | None, ...]:
    """The project of each scope's memories, as `Changed` has them."""
    return tuple(dict.fromkeys(view.project.root if scope is Scope.PROJECT else None for scope in scopes))
