"""The entry of an operation, from which all surfaces, the reference and the extension's types are generated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from types import UnionType
from typing import Any

from rag_ls.engine.events import MemoryChange


class Opens(StrEnum):
    """What an operation does with a folder that is no project yet."""

    EXISTING = "existing"
    """It only reads existing projects, and creates none."""
    NEW = "new"
    """It writes data there, which makes the folder a project, unless it is home or the like."""
    ON_PURPOSE = "on purpose"
    """Its purpose is to make the folder a project: with `force`, even home or the like."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What an operation changes."""

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
    """How agents see an operation. Keep it short: each word costs every agent context on every turn."""

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


@dataclass(frozen=True, slots=True)
class Verb:
    """How the shell offers an operation: the verb's name, its summary, and its arguments without a flag."""

    name: str
    summary: str
    positional: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    """Arguments that the verb does not take."""
    in_project: bool = True
    """Whether `--project` gives the folder whose project the verb works in."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its request, answer, implementation and effects, and its names on the surfaces."""

    name: str
    doc: str
    request: type
    answer: type | UnionType
    run: Callable[[Any, Any], object]
    """Called with the `Operations` and the request; returns the answer, or with `changes` a `Changed`."""
    prepare: Callable[[Any, Any, Any], None] | None = None
    """Slow work before the answer: called with the `Operations`, the request and a `Report` for progress."""
    waits: bool = False
    """Whether its preparation may take so long that an agent should see progress."""
    effects: Effects = field(default=READS)
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
