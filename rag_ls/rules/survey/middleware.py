"""Gathers what stands around the handlers: middleware, guards, filters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rag_ls.rules.survey.file_facts import FileFacts
from rag_ls.rules.survey.findings import MIN_COUNT, MIN_SHARE, SourceLine, SurveyFinding, Tally, list_names
from rag_ls.rules.survey.routes import Endpoint

TOPIC = "middleware"
_USUAL = re.compile(
    r"express\.\w+|(?:bodyParser\.)?(?:json|urlencoded)|gin\.(?:Recovery|Logger|Default)|protect_from_forgery|fetch_\w+|(?:Plug|Phoenix)\.[\w.]+"
    r"|(?:Authentication|Common|CsrfView|Locale|Message|Security|Session|XFrameOptions)Middleware"
    r"|Use(?:Authentication|Authorization|HttpsRedirection|StaticFiles|Routing|Hsts|DeveloperExceptionPage|ExceptionHandler|Swagger(?:UI)?"
    r"|BlazorFrameworkFiles|Migrations?EndPoint|CookiePolicy|HealthChecks|Antiforgery|Middleware)"
)
"""Middleware that nearly any application of its framework has."""
_GUARD = re.compile(
    r"(?i)^(?!.*(?:policy|headers?)$)(?!.*(?:throttl|limit|loose|optional|public|anonym|feature)).*"
    r"(?:auth|admin|permi|requir|guard|protect|secur|token|jwt|bearer|login|logged|role|access|allow|signed|owner|member|grant)"
)
"""A name of what lets only some requests pass."""
_CARRIERS = "Handlers", "Controllers", "Views"
"""The labels of what many places carry: one or two of them show nothing."""
_MAX_TOGETHER = 6
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
    asked: dict[str, Tally] = field(default_factory=dict)
    """By the name of a guard, the arguments that its places give it."""
    behind: Tally = field(default_factory=Tally)
    """Before a route, also around its router."""
    routes: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Each route with the names of what stands before it."""
    is_whole: bool = True
    """Whether the files say all that stands before their routes: no other one puts up their routers."""

    def add_endpoint(self, path: str, endpoint: Endpoint) -> None:
        self.is_whole = self.is_whole and not endpoint.is_mounted
        self.routes.append((f"{endpoint.method} {endpoint.route}", endpoint.middleware))
        for name in endpoint.middleware:
            self.behind.add(name, SourceLine(path, endpoint.line))

    def read(self, path: str, facts: FileFacts) -> None:
        """Count what a file registers."""
        for each in facts.middleware:
            place = SourceLine(path, each.line)
            if each.asks and _GUARD.search(each.name):
                self.asked.setdefault(each.name, Tally()).add(each.asks, place)
            if each.level == "route":
                self.on_routes.add(each.name, place)
            else:
                self.ways.add(each.label, place)
                self.names.setdefault(each.label, Tally()).add(each.name, place)

    def findings(self, required: Sequence[SurveyFinding]) -> Iterator[SurveyFinding]:
        """The registrations, and what stands before nearly all routes, unless a rule asks for it."""
        said = set[str]()
        if self.is_whole:
            yield from self._behind_findings(required, said)
        if self.is_whole and (guards := self._guards_together(said)):
            yield guards
        for label in self.ways.most_common():
            carried = {
                name for name in self.names[label].counts if any(f"carry `@{name}`" in one.claim for one in required)
            }
            least = MIN_COUNT if label.startswith(_CARRIERS) else 1
            names = [
                name for name in self.names[label].most_common(least)
                if name not in said and name not in carried and not _USUAL.fullmatch(name)
            ]  # fmt: skip
            if names:
                # A label of several words is the beginning of the sentence.
                counts = {name: self.names[label].count(name) for name in names}
                shown = list_names(names, counts=counts if len(names) > 1 else None)
                # Usual middleware is left out, and so is what stands in a form that nothing reads.
                claim = f"{label} {shown}" if " " in label else f"`{label}` registers, among others, {shown}"
                yield self.names[label].sum_of(names, TOPIC, claim)

        yield from self._asked_findings()

    def _behind_findings(self, required: Sequence[SurveyFinding], said: set[str]) -> Iterator[SurveyFinding]:
        """Tell what stands before nearly all routes, in one finding where the same routes lack it; add its names to those said."""
        by_exceptions: dict[tuple[str, ...], list[str]] = {}
        for name in self.behind.most_common():
            is_said = any(f"`{name}`" in each.claim or f"`@{name}`" in each.claim for each in required)
            if not is_said and not _USUAL.fullmatch(name) and self.behind.count(name) >= MIN_SHARE * len(self.routes):
                said.add(name)
                exceptions = tuple(route for route, names in self.routes if name not in names)
                by_exceptions.setdefault(exceptions, []).append(name)
        for exceptions, names in by_exceptions.items():
            claim = f"Routes stand behind {list_names(names)}"
            yield replace(self.behind.finding(TOPIC, claim, names[0], len(self.routes)), exceptions=exceptions)

    def _asked_findings(self) -> Iterator[SurveyFinding]:
        """The roles or policies that each guard is often given."""
        for name in sorted(self.asked, key=lambda name: (-self.asked[name].total, name)):
            if often := self.asked[name].most_common():
                counts = {each: self.asked[name].count(each) for each in often}
                claim = f"`{name}` asks, among others, for {list_names(often, _MAX_TOGETHER, counts)}"
                yield self.asked[name].sum_of(often[:_MAX_TOGETHER], TOPIC, claim)

    def _guards_together(self, said: Collection[str]) -> SurveyFinding | None:
        """The guards of which nearly all routes have one, where none alone stands before so many."""
        chosen, covered = list[str](), set[int]()
        for name in self.behind.most_common(1):
            having = {at for at, (_, names) in enumerate(self.routes) if name in names}
            if _GUARD.search(name) and name not in said and len(chosen) < _MAX_TOGETHER and having - covered:
                chosen.append(name)
                covered |= having
        if len(chosen) < 2 or len(covered) < MIN_SHARE * len(self.routes) or any(map(_GUARD.search, said)):
            return None
        counts = {name: self.behind.count(name) for name in chosen}
        claim = f"Routes stand behind one of {list_names(chosen, counts=counts)}"
        exceptions = tuple(route for at, (route, _) in enumerate(self.routes) if at not in covered)
        found = self.behind.finding(TOPIC, claim, chosen[0], len(self.routes))
        return replace(found, count=len(covered), exceptions=exceptions)

    def all_names(self) -> tuple[str, ...]:
        """The middleware of applications and routers, and what is common before single routes; the most frequent first.

        Before single routes it is common with three uses, or on half of a small project's routes.
        """
        together = Tally()
        least = min(MIN_COUNT, max(1, (len(self.routes) + 1) // 2)) if len(self.routes) <= _SMALL else MIN_COUNT
        on_routes = {name: self.on_routes.count(name) for name in self.on_routes.most_common(least)}
        for counts in (on_routes, *(names.counts for names in self.names.values())):
            for name, count in counts.items():
                together.counts[name] = together.count(name) + count
        return tuple(together.most_common(1))
