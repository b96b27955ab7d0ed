"""Reads the middleware of a file: what is put before its routes, and what they are freed from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rag_ls.rules.survey import declarations, literals, nodes
from rag_ls.rules.survey.file_facts import Level, MiddlewareUse
from rag_ls.rules.survey.file_parts import FileParts, is_of
from rag_ls.rules.survey.terms import FoundForm

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_MAX_HEAD = 150
_ROUTES = (
    r"\b{}\b[^\n;]*(?:\bfrom|require\()\s*[\"'](?:[^\"'\n]*/)?"
    r"(?i:routers?|routes?|controllers?|api|endpoints?)(?:/|\.?\w*[\"'])"
)
"""An import of a name from a file, or from a folder, of routes."""
_MAX_ASKED = 120
"""Longer arguments are no name of what is asked."""


class MiddlewareReading:
    """The reading of middleware, of the names that stand for some, and of what frees routes from it."""

    def __init__(self, file: FileParts) -> None:
        self._file, self._terms, self._routers, self._facts = file, file.terms, file.routers, file.facts

    def read_alias(self, found: FoundForm) -> None:
        names = re.findall(found.form.says("names"), found.call.node.text())
        for name in self._terms.strings(found, "name"):
            self._file.aliases[name] = tuple(each for each in names if found.form.is_named(each))

    def read_middleware(self, found: FoundForm) -> None:
        """At the level that the form says; what stands inside a route or at its function is the route's own."""
        if not self._file.is_on(found):
            return
        names = [*self._terms.names(found, "names"), *self._find_piped(found)]
        routers = self._find_routers(found, names)
        names = [name for name in names if name not in routers]
        if (outside := found.form.says("outside")) and any(
            re.search(outside, each.text()[:_MAX_HEAD]) for each in found.call.node.ancestors()
        ):
            return
        if found.form.says("foreign") and any(declarations.find_function(self._file.root, name) for name in names):
            # A function of the file has routes of its own.
            return
        place = nodes.start_of(found.call.node)
        holder = declarations.holder_of(found.call.node) if found.form.annotation else found.call.node
        if found.form.of and not is_of(holder, found.form.of):
            return
        if found.form.says("inside") == "routes" and not self._is_in_handler(found.call.node):
            return
        level: Level = "router" if found.form.says("level") == "router" else "application"
        around = (
            [each for each in self._file.scopes if each.start <= place < each.end] if found.form.says("scoped") else []
        )
        if around:
            level, scope = "router", max(around, key=lambda each: each.start)
            end = min(scope.end, nodes.end_of(declarations.branch_around(found.call.node) or self._file.root))
            for start, _, endpoints in self._file.routes:
                if found.call.inner < start < end:
                    endpoints[:] = [each.behind(names) for each in endpoints]
        elif found.form.says("always"):
            self._put_before_all(found, names)
        elif found.form.says("later") and found.call.receiver is not None and not self._terms.are_paths(found, "below"):
            self._put_before_later(found, names)
        level = self._put_before_around(found, names, holder) or level
        if found.form.says("level") == "alias":
            return
        if found.form.says("level") == "route":
            level = "route"
        label = found.form.says("label")
        if label.startswith("Controllers") and not is_of(holder, "class"):
            # The routes of a controller may be declared elsewhere, by an interface.
            level, label = ("router", "Handlers carry") if label == "Controllers carry" else ("route", label)
        line = found.call.node.range().start.line + 1 if found.form.annotation else found.call.line
        every = [name for name in self._terms.names(found, "names", sometimes=True) if name not in routers]
        asks = _arguments_of(every[0], found.call.node.text()) if found.form.annotation and len(every) == 1 else ""
        self._facts.middleware += [MiddlewareUse(name, label or "route", level, line, asks) for name in every]

    def _put_before_around(self, found: FoundForm, names: Sequence[str], holder: SgNode) -> Level | None:
        """Put middleware before the routes that it stands in, at, or at the end of; the level it has by that, None for no such route."""
        level: Level | None = None
        place = nodes.start_of(found.call.node)
        inner = nodes.start_of(holder), nodes.end_of(holder)
        for start, end, endpoints in self._file.routes:
            is_inside = start <= place < end
            if found.form.says("earlier") and place <= start < found.call.inner:
                # The chain of calls that it ends has the routes in it.
                endpoints[:] = [each.behind(names) for each in endpoints]
            is_of_holder = found.form.annotation and inner[0] <= start and end <= inner[1]
            if is_inside or (is_of_holder and not self._file.routes.is_nested(start, inner[0])):
                level = "route" if is_inside or inner == (start, end) else "router"
                endpoints[:] = [each.behind(names) for each in endpoints]
        return level

    def _find_routers(self, found: FoundForm, names: Sequence[str]) -> frozenset[str]:
        """Return the names of middleware that may be a router: the last after a path, and what is imported from a file of routes."""
        if "below" not in found.form.values:
            return frozenset()
        last = found.call.arguments[-1:] if self._terms.are_paths(found, "below") else ()
        mounted = [each.text() for each in last if re.fullmatch(r"\w+", each.text())]
        imported = (
            name for name in names if re.search(_ROUTES.format(re.escape(name.partition(".")[0])), self._terms.text)
        )
        return frozenset([*mounted, *imported])

    def _find_piped(self, found: FoundForm) -> Iterator[str]:
        """The middleware of the pipelines that a form names."""
        values = [each for term in found.form.values.get("pipelines", ()) for each in self._terms.value(term, found)]
        for each in values:
            for name in literals.strings_of(each) if not isinstance(each, str) else ():
                yield from self._file.aliases.get(name, ())

    def _is_in_handler(self, node: SgNode) -> bool:
        """Whether a place is in a route, but in no function within its handler."""
        place = nodes.start_of(node)
        around = [start for start, end, _ in self._file.routes if start <= place < end]
        return bool(around) and not declarations.is_in_inner_function(node, max(around))

    def read_lift(self, found: FoundForm) -> None:
        """The middleware that the routes at a declaration, in a chain of calls, or on the router that it makes are freed from."""
        if not self._file.is_on(found):
            return
        names = self._terms.names(found, "names")
        chain = [found.call, *nodes.calls_after(found.call)]
        place = declarations.holder_of(found.call.node) if found.form.annotation else chain[-1].node
        if found.form.of and not is_of(place, found.form.of):
            return
        first, last = nodes.start_of(place), nodes.end_of(place)
        made = self._routers.made_in(first, last) if not found.form.annotation else frozenset()
        for start, end, endpoints in self._file.routes:
            is_at = first <= start and end <= last and not self._file.routes.is_nested(start, first)
            if is_at or made & self._file.routes.routers_of(start):
                endpoints[:] = [each.free_from(names) for each in endpoints]

    def _put_before_all(self, found: FoundForm, names: Sequence[str]) -> None:
        """Put middleware before all routes of a router, wherever they stand; an application's is only registered."""
        name = self._routers.name_called_on(found.call)
        for start, _, endpoints in self._file.routes:
            if name in self._file.routes.routers_of(start):
                endpoints[:] = [each.behind(names) for each in endpoints]

    def _put_before_later(self, found: FoundForm, names: Sequence[str]) -> None:
        """Put middleware of a router before the routes that are put on it afterwards, in the same function and branch; an application's
        stands before all."""
        name, place = self._routers.name_called_on(found.call), found.call.inner
        if found.form.says("level") != "router" and not any(
            each.outer for each in self._routers.chain_of(name, place)[-1:]
        ):
            return
        names = [each for each in names if not self._routers.has(each)]
        end = nodes.end_of(declarations.branch_around(found.call.node) or self._file.root)
        for start, _, endpoints in self._file.routes:
            if place < start < end and name in self._file.routes.routers_of(start):
                endpoints[:] = [each.behind(names) for each in endpoints]


def _arguments_of(name: str, annotation: str) -> str:
    """The arguments that an annotation gives a guard, on one line; "" for none, and for long ones."""
    given = re.search(rf"\b{re.escape(name)}\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)", " ".join(annotation.split()))
    return given[1].strip(" ,") if given and len(given[1]) <= _MAX_ASKED else ""
