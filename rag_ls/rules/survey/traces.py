"""The traces of conventions that one file shows, and their sums over all files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from rag_ls.rules.survey.findings import SourceLine, Tally
from rag_ls.util.records import dataclass


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
