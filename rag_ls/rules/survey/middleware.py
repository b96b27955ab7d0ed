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
        for name in self._common_on_routes():
            yield self.on_routes.finding(
                TOPIC, f"`{name}` stands before the handlers of single routes", name, self._total(name)
            )
        for label in self.ways.most_common():
            names = self.names[label]
            claim = f"`{label}` registers {list_names(names.most_common(1))}"
            yield self.ways.finding(TOPIC, claim, label, 0)
            for name in names.most_common():
                if len(names.counts) > 1:
                    yield names.finding(TOPIC, f"`{name}` is registered with `{label}`", name)

    def all_names(self) -> tuple[str, ...]:
        """The middleware of applications and routers, and what is common before single routes; the most frequent first."""
        together = Tally()
        for names in self.names.values():
            for name, count in names.counts.items():
                together.counts[name] = together.count(name) + count
        for name in self._common_on_routes():
            together.counts[name] = together.count(name) + self.on_routes.count(name)
        return tuple(together.most_common(1))

    def _common_on_routes(self) -> list[str]:
        """The middleware of at least three routes, or of half of a small project's."""
        least = min(MIN_COUNT, max(1, (self.routes + 1) // 2)) if self.routes <= _SMALL else MIN_COUNT
        return self.on_routes.most_common(least)

    def _total(self, name: str) -> int:
        return max(self.routes, self.on_routes.count(name))
