"""Facts of a file, as its frameworks say them: routes, middleware, answers, events."""

from __future__ import annotations

from typing import Literal

from rag_ls.rules.survey.routes import Endpoint
from rag_ls.util.records import dataclass, field

Direction = Literal["emitted", "handled"]


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

    label: str
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
    unknown_routes: list[int] = field(default_factory=list)
    """The lines of routes whose path is unknown: those made in loops, of variables, by functions."""
    middleware: list[MiddlewareUse] = field(default_factory=list)
    answers: list[AnswerPlace] = field(default_factory=list)
    events: list[SocketEvent] = field(default_factory=list)
    handlers: list[HandlerPlace] = field(default_factory=list)
    judged: frozenset[tuple[str, ...]] = frozenset()
    """The sorts of handlers that were looked for."""
    is_broken: bool = False
    """Whether a framework's file was left out, because it does not parse."""
