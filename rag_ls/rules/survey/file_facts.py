"""The facts that one file shows: by its frameworks routes, middleware, answers and events; by its language traces of conventions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from rag_ls.rules.survey.findings import SourceLine, Tally
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


@dataclass(slots=True)
class FileFacts:
    """The facts of a file."""

    endpoints: list[Endpoint] = field(default_factory=list)
    middleware: list[MiddlewareUse] = field(default_factory=list)
    answers: list[AnswerPlace] = field(default_factory=list)
    events: list[SocketEvent] = field(default_factory=list)
    is_broken: bool = False
    """Whether a framework's file was left out, because it does not parse."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace of a convention, as a detector found it in a file."""

    sort: str
    """The detector's word for traces that are counted together."""
    family: str
    """The family of the file's language."""
    name: str
    line: int
    """1-based."""
    bases: tuple[str, ...] = ()
    """Of a class, the last part of each base's name."""


class Traces:
    """The traces of all files, counted by sort and family."""

    def __init__(self) -> None:
        self._tallies: defaultdict[str, dict[str, Tally]] = defaultdict(dict)
        self.classes: dict[str, list[tuple[Trace, SourceLine]]] = {}
        """The classes of each family; which of them are errors is known once all are."""

    def add(self, path: str, traces: Iterable[Trace]) -> None:
        """Count the traces of a file."""
        for trace in traces:
            place = SourceLine(path, trace.line)
            if trace.bases:
                self.classes.setdefault(trace.family, []).append((trace, place))
            else:
                self._tallies[trace.sort].setdefault(trace.family, Tally()).add(trace.name, place)

    def of(self, sort: str) -> list[tuple[str, Tally]]:
        """The tallies of a sort by family, the largest first."""
        return sorted(self._tallies[sort].items(), key=lambda item: (-item[1].total, item[0]))

    def tally(self, sort: str, family: str) -> Tally:
        """The tally of a sort in one family; an empty one where nothing was found."""
        return self._tallies[sort].get(family, Tally())
