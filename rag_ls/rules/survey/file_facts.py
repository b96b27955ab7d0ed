"""Facts of a file, as its frameworks say them: routes, middleware, answers, events."""

from __future__ import annotations

from typing import Literal

from rag_ls.util.records import dataclass, field

Direction = Literal["emitted", "handled"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route that the code answers, as it is written."""

    method: str
    """In upper case; "ANY" where the framework says none, "RESOURCES" for all routes of a resource."""
    route: str
    """With a slash at its start, and the prefixes that stand in the same file."""
    line: int
    """1-based."""
    is_mounted: bool = False
    """Whether another file, or a value that is no literal, may put it below a prefix."""


@dataclass(frozen=True, slots=True)
class SocketEvent:
    """An event, or the route of a WebSocket."""

    name: str
    line: int
    """1-based."""
    direction: Direction


@dataclass(frozen=True, slots=True)
class MiddlewareUse:
    """A place that puts middleware before handlers."""

    name: str
    label: str
    """The way in which it is put there: `app.use`, `@UseGuards`."""
    line: int
    is_of_route: bool
    """Whether it is put before a single route, not before a whole application or router."""


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """A place that answers a request."""

    line: int
    keys: tuple[str, ...]
    """The keys of what is sent, where they are written out."""


@dataclass(frozen=True, slots=True)
class HandlerPlace:
    """A handler, and which of the things that all handlers may have are there."""

    sort: tuple[str, ...]
    """The handlers and the things that were looked for, as the form says them: `Routes`, "take `{}`"."""
    names: tuple[str, ...]
    line: int


@dataclass(slots=True)
class FileFacts:
    """The facts of a file."""

    endpoints: list[Endpoint] = field(default_factory=list)
    middleware: list[MiddlewareUse] = field(default_factory=list)
    answers: list[AnswerPlace] = field(default_factory=list)
    events: list[SocketEvent] = field(default_factory=list)
    handlers: list[HandlerPlace] = field(default_factory=list)
    judged: frozenset[tuple[str, ...]] = frozenset()
    """The sorts of handlers that were looked for."""
    is_broken: bool = False
    """Whether a framework's file was left out, because it does not parse."""
