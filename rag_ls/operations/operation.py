"""Declares a handler as an operation: all surfaces, the reference and the extension's types are generated from that."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from rag_ls.engine import Client, MemoryChange, ProjectSession
from rag_ls.indexing import Progress
from rag_ls.model import Scope
from rag_ls.operations.fields import Json
from rag_ls.operations.projects.naming import Projects
from rag_ls.operations.rules.projects import RuleProjects
from rag_ls.util.records import dataclass

A = TypeVar("A")
_Handler = TypeVar("_Handler", bound=Callable[..., object])
_DECLARED = "__operation__"


class Opens(StrEnum):
    """The way that an operation treats a folder that is no project yet."""

    EXISTING = "existing"
    """It only reads existing projects, and creates none."""
    NEW = "new"
    """It writes data there, which makes the folder a project, unless it is home or the like."""
    ON_PURPOSE = "on purpose"
    """Its purpose is to make the folder a project: with `force`, even home or the like."""


@dataclass(frozen=True, slots=True)
class Effects:
    """The changes that an operation makes."""

    writes: bool = False
    destroys: bool = False
    """Whether it may remove or overwrite data; MCP: `destructiveHint`."""
    idempotent: bool = True
    """Whether a second run has no further effect."""


READS = Effects()
WRITES = Effects(writes=True)
DESTROYS = Effects(writes=True, destroys=True)
DELETES = Effects(writes=True, destroys=True, idempotent=False)


@dataclass(frozen=True, slots=True)
class Tool:
    """An operation as agents see it. Keep it short: each word costs every agent context on every turn."""

    toolset: str
    description: str
    shows: tuple[str, ...] = ()
    """The arguments that agents see; the others are accepted all the same."""
    answers: tuple[str, ...] = ()
    """The keys of the answer in the schema for agents."""
    names: tuple[str, ...] = ()
    """The tool's names where they differ from the operation's."""
    is_idempotent: bool = False
    """Whether a tool that only reads is annotated as idempotent too."""
    omits: tuple[str, ...] = ("query",)
    """The fields of the answer that agents get only with `detail`."""
    nothing: str = "nothing found"
    """The note in an answer that holds no record."""


@dataclass(frozen=True, slots=True)
class Verb:
    """An operation as the shell offers it: the verb's name, its summary, and its arguments without a flag."""

    name: str
    summary: str
    positional: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    """Arguments that the verb does not take."""
    example: str = ""
    """A line that runs it; empty where the verb alone is one."""
    in_project: bool = True
    """Whether `--project` gives the folder whose project the verb works in."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation: its request, answer, implementation and effects, and its names on the surfaces."""

    name: str
    doc: str
    request: type
    answer: type | UnionType
    run: Callable[[Any, Any], object]
    """Called with the `Caller` and the request; returns the answer, or with `changes` a `Changed`."""
    prepare: Callable[[Any, Any, Any], None] | None = None
    """Slow work before the answer: called with the `Caller`, the request and a `Report` for progress."""
    effects: Effects = READS
    manages: bool = False
    """Whether it manages projects, indexes or files: a caller over HTTP needs a token with admin access."""
    changes: MemoryChange | None = None
    """The event that it causes for memories, if any."""
    opens: Opens = Opens.EXISTING
    needs_code: bool = True
    """Whether it needs a project; operations on memories do not."""
    tool: Tool | None = None
    command: str = ""
    """Its command in editors; empty where editors do not have it."""
    verb: Verb | None = None
    shared_command: str = ""
    """The command of another operation that runs it too, if it has none of its own."""
    shared_verb: str = ""
    """The verb of another operation that runs it too, if it has none of its own."""


def operation(**declared: Any) -> Callable[[_Handler], _Handler]:
    """Declare a handler, `(caller, request) -> answer`, as the operation of its name; the arguments are `Operation`'s.

    Its annotations give the types of request and answer, the first paragraph of its docstring the reference's text.
    """

    def declare(handler: _Handler) -> _Handler:
        types, text = get_type_hints(handler), (inspect.getdoc(handler) or "").partition("\n\n")[0]
        answer = types["return"]
        if get_origin(answer) is Changed:
            (answer,) = get_args(answer)
        made = Operation(
            name=handler.__name__, doc=" ".join(text.split()), request=types["request"], answer=answer, run=handler, **declared
        )  # fmt: skip
        setattr(handler, _DECLARED, made)
        return handler

    return declare


def collect_operations(modules: Iterable[ModuleType]) -> dict[str, Operation]:
    """The operations whose handlers stand in some modules, by name, in the order in which they are declared there."""
    handlers = (value for module in modules for value in vars(module).values())
    found = (getattr(handler, _DECLARED) for handler in handlers if hasattr(handler, _DECLARED))
    return {operation.name: operation for operation in found}


Report = Callable[[str, Progress], None]
"""Called with a project's name and its progress."""


def ignore_progress(project: str, progress: Progress) -> None:
    """Report nothing."""


def make_progress(project: str, progress: Progress) -> Json:
    """One step of a project's indexing as JSON."""
    return {"project": project, "phase": progress.phase.value, "done": progress.done, "total": progress.total}


class MustWait(Exception):
    """A question cannot be answered well yet. Call `finish` in a thread that may take its time: it waits, and answers."""

    finish: Callable[[Report], Json]

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
