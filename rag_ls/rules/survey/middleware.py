"""Gathers what stands around the handlers: middleware, guards, filters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_ls.rules.survey.file_facts import FileFacts
from rag_ls.rules.survey.findings import MIN_COUNT, SourceLine, SurveyFinding, Tally, list_names

TOPIC = "middleware"
_SMALL = 2 * MIN_COUNT
"""A project with no more routes is small: half of them show a pattern."""


@dataclass(slots=True)
class Middleware:
    """Gathers the registrations of all files."""

    ways: Tally = field(default_factory=Tally)
    names: dict[str, Tally] = field(default_factory=dict)
    """By the way in which it is put before whole applications and routers."""
    on_routes: Tally = field(default_factory=Tally)
    """Before single routes."""
    routes: int = 0

    def read(self, path: str, facts: FileFacts) -> None:
        self.routes += len(facts.endpoints)
        for each in facts.middleware:
            place = SourceLine(path, each.line)
            if each.level == "route":
                self.on_routes.add(each.name, place)
            else:
                self.ways.add(each.label, place)
                self.names.setdefault(each.label, Tally()).add(each.name, place)

    def findings(self) -> Iterator[SurveyFinding]:
        for label in self.ways.most_common():
            claim = f"`{label}` registers {list_names(self.names[label].most_common(1))}"
            yield self.ways.finding(TOPIC, claim, label, 0)

    def all_names(self) -> tuple[str, ...]:
        """The middleware of applications and routers, and what is common before single routes; the most frequent first.

        Before single routes it is common with three uses, or on half of a small project's routes.
        """
        together = Tally()
        least = min(MIN_COUNT, max(1, (self.routes + 1) // 2)) if self.routes <= _SMALL else MIN_COUNT
        on_routes = {name: self.on_routes.count(name) for name in self.on_routes.most_common(least)}
        for counts in (on_routes, *(names.counts for names in self.names.values())):
            for name, count in counts.items():
                together.counts[name] = together.count(name) + count
        return tuple(together.most_common(1))
