"""Reads the routes of a file, in the scopes and on the routers that were read before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rag_ls.rules.survey import declarations, nodes
from rag_ls.rules.survey.file_parts import FileParts, is_of
from rag_ls.rules.survey.file_routers import Router, without_shadowed
from rag_ls.rules.survey.nodes import Offset
from rag_ls.rules.survey.routes import Endpoint, RouteScope, join_routes, method_of, route_for, routes_at
from rag_ls.rules.survey.terms import FoundForm
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    from ast_grep_py import SgNode


_RELATIVE = re.compile(r"[\w:*{][\w./:*{}~-]*$")
"""A path for routers that put a slash before it."""


@dataclass(frozen=True, slots=True)
class _RoutePlace:
    """The place of a route: the declaration or the call, what is around it, and the routers that it is on."""

    node: SgNode
    start: Offset
    end: Offset
    line: int
    around: Sequence[RouteScope]
    outer: str
    """The prefix that the form itself gives."""
    chains: Sequence[Sequence[Router]]
    is_mounted: bool
    """Whether another file may put the route below a prefix."""


class RouteReading:
    """The reading of routes."""

    def __init__(self, file: FileParts) -> None:
        self._file, self._terms, self._routers, self._facts = file, file.terms, file.routers, file.facts

    def read_route(self, found: FoundForm) -> None:
        if not self._is_route(found):
            return
        if found.form.says("unknown") == "always":
            self._facts.unknown_routes.append(found.call.line)
            return
        paths = self._find_paths(found)
        if paths is None:
            return
        place = self._place_of(found)
        has_path = bool(paths or place.outer.strip("/")) or any(path for each in place.around for path in each.paths)
        if found.form.says("conventional") and not has_path:
            # The names of the controller and of its method are the path, by a convention that is set elsewhere.
            self._facts.unknown_routes.append(found.call.line)
            return
        self._file.routes.add(place.start, place.end, list(self._endpoints(found, place, paths)))
        self._file.note(found, self._terms.names(found, "through"), place.line, is_of_route=True)

    def _is_route(self, found: FoundForm) -> bool:
        """Whether a form stands where it is a route: on a router, at a method or a class, with a handler, in no other one."""
        call = found.call
        if not self._file.is_on(found) or (found.form.of and not is_of(_node_of(found), found.form.of)):
            return False
        handlers = found.form.values.get("handlers")
        if handlers and not any(self._terms.value(term, found) for term in handlers):
            return False
        return not (
            found.form.says("outermost") and any(each < call.inner < end for each, end in self._file.routes.spans())
        )

    def _find_paths(self, found: FoundForm) -> list[str] | None:
        """The paths as they are written; none where the form itself has none, None where it is no route, or one whose path is unknown."""
        call = found.call
        paths = self._terms.prefixes(found) if found.form.says("constants") else self._terms.strings(found, "path")
        name = self._routers.name_called_on(call)
        known = found.framework.routers.search(name) or self._routers.has(name)
        may_lack_slash = known and found.form.says("relative")
        wanted = [
            path for path in paths if found.framework.paths.match(path) or (may_lack_slash and _RELATIVE.match(path))
        ]
        if not wanted and "path" in found.form.values:
            written = [each for term in found.form.values["path"] for each in self._terms.value(term, found)]
            says = found.form.says("unknown")
            is_unknown = {"yes": True, "no": False, "loop": declarations.is_in_loop(call.node)}.get(says, known)
            if written and is_unknown:
                self._facts.unknown_routes.append(call.line)
            if paths or written or found.form.says("required") == "yes":
                return None
        if found.form.says("absolute"):
            wanted = [f"~{path}" if path.startswith("/") else path for path in wanted]
        return wanted

    def _place_of(self, found: FoundForm) -> _RoutePlace:
        call, node = found.call, _node_of(found)
        on = self._router_of(found)
        chains = self._routers.chains_of(on, nodes.start_of(call.node))
        if self._file.path.endswith(".go"):
            chains = [kept for each in chains if (kept := without_shadowed(each, call.node))]
        outer = next(iter(self._terms.strings(found, "prefix")), "")
        start = nodes.start_of(node) if found.form.annotation else call.inner
        end = nodes.end_of(node)
        if found.form.annotation:
            self._file.routes.set_types(start, declarations.types_around(node))
        around = [
            each for each in self._file.scopes_around(start, end) if not self._file.routes.is_nested(start, each.start)
        ]
        is_mounted = found.framework.is_mounted(found.form) and not any(each[0].is_application for each in chains)
        if found.form.says("inherits") and not any(path for each in around for path in each.paths):
            is_mounted = declarations.is_derived(node)
        line = nodes.start_of(call.node)[0] + 1 if found.form.annotation or found.form.rule else call.line
        return _RoutePlace(node, start, end, line, around=around, outer=outer, chains=chains, is_mounted=is_mounted)

    def _router_of(self, found: FoundForm) -> str:
        """The name of the router that a route is on; "" for none."""
        on = self._routers.name_called_on(found.call) or self._routers.router_around(nodes.start_of(found.call.node))
        for given in (each for term in found.form.values.get("given", ()) for each in self._terms.value(term, found)):
            # A decorator of the project is given `router.post`.
            on = given.text().rpartition(".")[0] if not isinstance(given, str) else on
        return on

    def _endpoints(self, found: FoundForm, place: _RoutePlace, paths: Sequence[str]) -> Iterator[Endpoint]:
        """The endpoints of a route: for each place of its router, each path and each method."""
        around = place.around
        methods = self._terms.methods(found)
        part = next(iter(self._terms.strings(found, "part")), "")
        replaced = (
            [(found.form.says("method_as"), declarations.declared_name(place.node))]
            if "method_as" in found.form.values
            else []
        )
        as_written = found.framework.joins_as_written
        for routers in place.chains or [()]:
            prefix = join_routes(*(each.prefix for each in routers)) if routers else ""
            below = join_routes(place.outer, prefix) if place.outer else prefix
            for path, word in _with_methods(paths or [""], methods):
                method = method_of(word)
                for route in routes_at(around, part, below, path, as_written, replaced):
                    yield Endpoint(method, route_for(method, route), place.line, is_mounted=place.is_mounted)


def _node_of(found: FoundForm) -> SgNode:
    """The declaration that an annotation stands at, else the call."""
    return declarations.holder_of(found.call.node) if found.form.annotation else found.call.node


def _with_methods(paths: Sequence[str], methods: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each path with each method; `GET /items` holds its own."""
    for path in paths:
        method, space, rest = path.partition(" ")
        if space and method.isupper() and not methods:
            yield rest, method
        else:
            yield from ((path, method) for method in methods or ["ANY"])
