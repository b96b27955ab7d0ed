"""What an operation is: one entry, from which every surface, the reference and the types of the extension are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from rag_ls.engine.events import MemoryChange


class Opens(StrEnum):
    """What an operation does with a folder that is no project yet."""

    EXISTING = "existing"
    """It answers of projects that are there: asking creates nothing."""
    NEW = "new"
    """It writes something down there, which makes it a project; home and the like become none."""
    ON_PURPOSE = "on purpose"
    """It is there to make it a project, whatever the folder."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What an operation changes."""

    writes: bool = False
    destroys: bool = False
    """Whether what is there may go; MCP: `destructiveHint`."""
    idempotent: bool = True
    """Whether doing it twice does no more than doing it once."""


READS = Effects()
WRITES = Effects(writes=True)
DESTROYS = Effects(writes=True, destroys=True)
DELETES = Effects(writes=True, destroys=True, idempotent=False)


@dataclass(frozen=True, slots=True)
class Tool:
    """How agents are offered an operation. Each word costs every agent context on every turn: short, or not at all."""

    toolset: str
    description: str
    shows: tuple[str, ...] = ()
    """The arguments that agents see; the others are understood all the same."""
    answers: tuple[str, ...] = ()
    """The keys of the answer that agents are told of."""


@dataclass(frozen=True, slots=True)
class Verb:
    """How the shell offers an operation: the verb's name, what it does, and which arguments stand without a flag."""

    name: str
    summary: str
    positional: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    """Arguments that it does not take."""
    in_project: bool = True
    """Whether `--project` says in which folder's project it works."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: what it takes and answers, who does it, what it changes, and who offers it under which name."""

    name: str
    doc: str
    request: type
    answer: type
    run: Callable[[Any, Any], object]
    """Called with the `Operations` and the request."""
    prepare: Callable[[Any, Any, Any], None] | None = None
    """What takes long before it can be answered: called with the `Operations`, the request and who is told of progress."""
    waits: bool = False
    """Whether its preparation may take long enough that an agent is told how far it is."""
    effects: Effects = field(default=READS)
    changes: MemoryChange | None = None
    """What becomes of memories by it."""
    opens: Opens = Opens.EXISTING
    needs_code: bool = True
    """Whether it needs a project; memories are there without one."""
    tool: Tool | None = None
    command: str = ""
    """What editors call it; empty where they are not offered it."""
    verb: Verb | None = None
