"""Facts of a file, as its frameworks say them: routes, middleware, answers, events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rag_ls.rules.survey.controllers import Controller
from rag_ls.rules.survey.routes import Endpoint

Direction = Literal["emitted", "handled"]
Level = Literal["application", "router", "route"]


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
    level: Level
    line: int
    asks: str = ""
    """The arguments of an annotation, as they are written: the role or the policy that a guard asks for."""


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


@dataclass(frozen=True, slots=True)
class RouterMount:
    """A place that puts the routes of another file, or of the files of a folder, below a prefix."""

    prefix: str
    name: str
    """The name that the other file gives to its router, or that of the module that holds it."""
    line: int
    """The line at which the statement begins that imports the name."""
    member: str = ""
    """The router in a module: `router` of `users.router`."""
    beside: tuple[str, ...] = ()
    """The other names that the statement imports."""
    own: str = ""
    """The router of this file below which the routes are put."""
    through: tuple[str, ...] = ()
    """The middleware before them."""
    module: str = ""
    """The module whose routes are put there, by its full name: `shop.urls`; "" for a router."""
    folder: str = ""
    """The folder, from the file's own, whose files are put there, each below its own folder; "" for a router."""
    base: str = ""
    """The part of the prefix that the router of this file has itself, which a mount of that router may replace."""
    replaces: bool = False
    """Whether the prefix stands instead of the one that the router itself has."""
    apart: bool = False
    """Whether it is an application of its own: below the prefix, but not behind what stands before the other routes."""


@dataclass(frozen=True, slots=True)
class FilesPrefix:
    """A prefix that an application puts before the routes of files, by the files' path or by what they hold."""

    prefix: str
    through: tuple[str, ...]
    ending: str
    """The end of the path of the file that it is meant for; "" for the whole application."""
    mark: str
    """The text that its files hold; "" for any."""
    excluded: tuple[str, ...]
    """The routes without it."""
    version: str = ""
    """The version that is put before the routes that say none; the others have their own."""
    folder: str = ""
    """The folder that it is meant for; "" for any."""

    def is_for(self, path: str, route: str) -> bool:
        """Whether a route of a file is below it."""
        route = route.strip("/")
        left_out = [each.strip("/") for each in self.excluded]
        is_left_out = route in left_out or any(each[-1:] == "*" and route.startswith(each[:-1]) for each in left_out)
        is_there = not self.folder or f"{path}/".startswith(f"{self.folder}/")
        return is_there and f"/{path}".endswith(f"/{self.ending}" if self.ending else "") and not is_left_out


@dataclass(frozen=True, slots=True)
class Registrar:
    """A function of the project by which other code registers routes."""

    name: str
    path_at: int
    """The place of the route's path among its arguments, from 0."""
    line: int = 0
    """The line of the route that it registers; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class HandedRouter:
    """A call that gives a router to a function of the project."""

    function: str
    holder: str
    """The name that the function is called on: of a package or a value; "" for none."""
    at: int
    """The router's place among the arguments, from 0."""
    prefix: str
    own: str
    """The router of this file below which the function's routes are."""
    through: tuple[str, ...]
    is_shared: bool = False
    """Whether the router is none that the file makes, but perhaps a variable of its package."""


@dataclass(slots=True)
class FileFacts:
    """The facts of a file."""

    endpoints: list[Endpoint] = field(default_factory=list)
    unknown_routes: list[int] = field(default_factory=list)
    """The lines of routes whose path is unknown: those made in loops, of variables, by functions of the project."""
    middleware: list[MiddlewareUse] = field(default_factory=list)
    answers: list[AnswerPlace] = field(default_factory=list)
    events: list[SocketEvent] = field(default_factory=list)
    mounts: list[RouterMount] = field(default_factory=list)
    prefixes: list[FilesPrefix] = field(default_factory=list)
    handed: list[HandedRouter] = field(default_factory=list)
    takers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The functions that take routers, with their parameters."""
    shared: dict[str, RouterMount] = field(default_factory=dict)
    """The routers that other files may use: of Go those in variables of the package; with what each is below."""
    borrowed: dict[str, int] = field(default_factory=dict)
    """The routers that routes of the file are on and that it imports, with the line of the import."""
    before: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The middleware that the file puts before all routes of a router that it imports."""
    registrars: list[Registrar] = field(default_factory=list)
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The middleware that a name stands for: a router's class that brings it, a type that depends on it."""
    class_prefixes: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """The prefix of a controller's class, which those that derive from it have too, and the names of its bases."""
    controllers: list[Controller] = field(default_factory=list)
    """The classes and modules of a file of Rails' controllers."""
    handlers: list[HandlerPlace] = field(default_factory=list)
    judged: frozenset[tuple[str, ...]] = frozenset()
    """The sorts of handlers that were looked for."""
    is_broken: bool = False
    """Whether a framework's file was left out, because it does not parse."""
