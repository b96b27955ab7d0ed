"""The facts and traces that a file shows, and the findings of a survey: claims, counts, places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from rag_ls.util.records import dataclass, field

MIN_COUNT = 3
"""Fewer occurrences are no pattern."""
MIN_SHARE = 0.8
"""The share of the total from which a claim is the convention."""
MAX_EXAMPLES = 2
MAX_EXCEPTIONS = 3
"""The most exceptions that a claim names."""


@dataclass(frozen=True, order=True, slots=True)
class SourceLine:
    """A line of a file of the project."""

    path: str
    line: int
    """1-based."""


@dataclass(frozen=True, slots=True)
class SurveyFinding:
    """A claim about the code, with its evidence."""

    topic: str
    claim: str
    count: int
    total: int
    """The total that the count is a part of; 0 where there is none."""
    examples: tuple[SourceLine, ...]
    """At most two."""
    exceptions: tuple[str, ...] = ()
    """The files, or imports as `importing -> imported`, of which it does not hold."""
    rule: Mapping[str, object] | None = None
    """The rule of ARCHITECTURE.yml that checks it; None where none can."""

    def evidence(self) -> str:
        """The count, and what the claim does not hold of: "5 of 6; not in `legacy.js`". Without a total it is of what was found:
        code may have more, in a form that is not read."""
        if not self.total:
            return f"found {self.count} times" if self.count != 1 else "found once"
        names = list_names(self.exceptions, MAX_EXCEPTIONS)
        # A file may hold both.
        word = "not always" if any(place.path in self.exceptions for place in self.examples) else "not"
        return f"{self.count} of {self.total}" + (f"; {word} in {names}" if names else "")


@dataclass(slots=True)
class Tally:
    """Counts things by name, and keeps the first places of each."""

    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[SourceLine]] = field(default_factory=dict)
    files: dict[str, dict[str, None]] = field(default_factory=dict)
    """All files of each name, in order."""

    def add(self, name: str, place: SourceLine | None = None) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1
        if place is not None:
            self.files.setdefault(name, {})[place.path] = None
            kept = self.places.setdefault(name, [])
            # The second example comes from another file if there is one.
            if place in kept:
                return
            if len(kept) < MAX_EXAMPLES:
                kept.append(place)
            elif kept[0].path == kept[1].path != place.path:
                kept[1] = place

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def count(self, name: str) -> int:
        return self.counts.get(name, 0)

    def examples(self, name: str) -> tuple[SourceLine, ...]:
        return tuple(self.places.get(name, ()))

    def most_common(self, least: int = MIN_COUNT) -> list[str]:
        """The names with at least so many occurrences, the most frequent first, then by name."""
        return sorted((name for name, count in self.counts.items() if count >= least), key=self._order)

    def convention(self) -> str:
        """The name that nearly all occurrences have; "" where there is none."""
        first = next(iter(self.most_common()), "")
        return first if first and self.count(first) >= MIN_SHARE * self.total else ""

    def finding(
        self, topic: str, claim: str, name: str, total: int | None = None, every: Iterable[str] = ()
    ) -> SurveyFinding:
        """A finding about one of the names; `every` are all files where the total is theirs."""
        is_own_total = total is None or total == self.total
        others = [path for other, files in self.files.items() if other != name and is_own_total for path in files]
        others += [path for path in every if path not in self.files.get(name, ())]
        return SurveyFinding(
            topic=topic,
            claim=claim,
            count=self.count(name),
            total=self.total if total is None else total,
            examples=self.examples(name),
            exceptions=tuple(dict.fromkeys(others)),
        )

    def sum_of(self, names: Collection[str], topic: str, claim: str) -> SurveyFinding:
        """A finding about several names together, with no total."""
        places = [place for name in names for place in self.places.get(name, ())]
        count = sum(self.count(name) for name in names)
        return SurveyFinding(topic=topic, claim=claim, count=count, total=0, examples=pick_examples(sorted(places)))

    def _order(self, name: str) -> tuple[int, str]:
        return -self.counts[name], name


def pick_examples(places: Iterable[SourceLine]) -> tuple[SourceLine, ...]:
    """The first places of two files, else of one."""
    every = list(dict.fromkeys(places))
    first = {place.path: place for place in reversed(every)}
    return tuple(dict.fromkeys((*reversed(first.values()), *every)))[:MAX_EXAMPLES]


def is_convention(finding: SurveyFinding) -> bool:
    """Whether a finding is worth a line: it holds for nearly all, and the rest have names."""
    if not finding.total:
        return True
    is_whole = finding.count == finding.total
    return finding.count >= MIN_SHARE * finding.total and bool(is_whole or finding.exceptions or finding.rule)


def list_names(names: Iterable[str], most: int = 12, counts: Mapping[str, int] | None = None) -> str:
    """The names as code, perhaps with their counts above one, and how many more there are."""
    every = list(dict.fromkeys(names))
    numbers = {name: f" ({count})" for name, count in (counts or {}).items() if count > 1}
    shown = ", ".join(f"`{name}`{numbers.get(name, '')}" for name in every[:most])
    return f"{shown} and {len(every) - most} more" if len(every) > most else shown


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
