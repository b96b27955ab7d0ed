"""Gathers what stands around the handlers: middleware, guards, filters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_ls.rules.survey.file_facts import FileFacts
from rag_ls.rules.survey.findings import MIN_COUNT, SourceLine, SurveyFinding, Tally, list_names
from rag_ls.util.records import dataclass, field

TOPIC = "middleware"
_USUAL = re.compile(
    r"express\.\w+|(?:bodyParser\.)?(?:json|urlencoded)|gin\.(?:Recovery|Logger|Default)|protect_from_forgery|fetch_\w+|(?:Plug|Phoenix)\.[\w.]+"
    r"|(?:Authentication|Common|CsrfView|Locale|Message|Security|Session|XFrameOptions)Middleware"
    r"|Use(?:Authentication|Authorization|HttpsRedirection|StaticFiles|Routing|Hsts|DeveloperExceptionPage|ExceptionHandler|Swagger(?:UI)?"
    r"|BlazorFrameworkFiles|Migrations?EndPoint|CookiePolicy|HealthChecks|Antiforgery|Middleware)"
)
"""Middleware that nearly any application of its framework has."""
_CARRIERS = "Handlers", "Controllers", "Views"
"""The labels of what many places carry: one or two of them show nothing."""
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
        """Count what a file registers, and its routes."""
        self.routes += len(facts.endpoints)
        for each in facts.middleware:
            place = SourceLine(path, each.line)
            if each.is_of_route:
                self.on_routes.add(each.name, place)
            else:
                self.ways.add(each.label, place)
                self.names.setdefault(each.label, Tally()).add(each.name, place)

    def findings(self, required: Sequence[SurveyFinding]) -> Iterator[SurveyFinding]:
        """Make a finding of each way in which middleware is registered, without the names that a rule asks for."""
        for label in self.ways.most_common():
            carried = {
                name for name in self.names[label].counts if any(f"carry `@{name}`" in one.claim for one in required)
            }
            least = MIN_COUNT if label.startswith(_CARRIERS) else 1
            names = [
                name for name in self.names[label].most_common(least)
                if name not in carried and not _USUAL.fullmatch(name)
            ]  # fmt: skip
            if names:
                # A label of several words is the beginning of the sentence.
                counts = {name: self.names[label].count(name) for name in names}
                shown = list_names(names, counts=counts if len(names) > 1 else None)
                # Usual middleware is left out, and so is what stands in a form that nothing reads.
                claim = f"{label} {shown}" if " " in label else f"`{label}` registers, among others, {shown}"
                yield self.names[label].sum_of(names, TOPIC, claim)

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
