"""Reads the middleware of a file: what is put before its routes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_ls.rules.survey import declarations, nodes
from rag_ls.rules.survey.file_facts import MiddlewareUse
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


class MiddlewareReading:
    """The reading of middleware."""

    def __init__(self, file: FileParts) -> None:
        self._file, self._terms, self._facts = file, file.terms, file.facts

    def read_middleware(self, found: FoundForm) -> None:
        """Read the middleware of a form; what stands inside a route or at its function is the route's own."""
        if not self._file.is_on(found):
            return
        call, form = found.call, found.form
        names = self._terms.names(found, "names")
        if (outside := form.says("outside")) and any(
            re.search(outside, each.text()[:_MAX_HEAD]) for each in call.node.ancestors()
        ):
            return
        if form.says("foreign") and any(declarations.find_function(self._file.root, name) for name in names):
            # A function of the file has routes of its own.
            return
        holder = declarations.holder_of(call.node) if form.annotation else call.node
        if form.of and not is_of(holder, form.of):
            return
        if form.says("inside") == "routes" and not self._is_in_handler(call.node):
            return
        is_of_route = form.says("level") == "route" or self._is_at_route(call.node, holder)
        label = form.says("label") or "route"
        if label.startswith("Controllers") and not is_of(holder, "class"):
            # The routes of a controller may be declared elsewhere, by an interface.
            is_of_route = label != "Controllers carry"
            label = label if is_of_route else "Handlers carry"
        line = call.node.range().start.line + 1 if form.annotation else call.line
        routers = self._find_routers(found, names)
        self._facts.middleware += [
            MiddlewareUse(name, label, line, is_of_route) for name in names if name not in routers
        ]

    def _is_at_route(self, node: SgNode, holder: SgNode) -> bool:
        """Return whether a place is in a route, or stands at its function."""
        place, span = nodes.start_of(node), (nodes.start_of(holder), nodes.end_of(holder))
        return self._file.routes.are_around(place) or span in self._file.routes.spans()

    def _find_routers(self, found: FoundForm, names: Sequence[str]) -> frozenset[str]:
        """Return the names that may be a router: the last after a path, one of the file, and what is imported from a file of routes."""
        if "below" not in found.form.values:
            return frozenset()
        last = found.call.arguments[-1:] if self._terms.are_paths(found, "below") else ()
        mounted = [each.text() for each in last if re.fullmatch(r"\w+", each.text())]
        begins = {name: name.partition(".")[0] for name in names}
        own = [name for name in names if self._file.routers.has(begins[name])]
        imported = (name for name in names if re.search(_ROUTES.format(re.escape(begins[name])), self._terms.text))
        return frozenset([*mounted, *own, *imported])

    def _is_in_handler(self, node: SgNode) -> bool:
        """Whether a place is in a route, but in no function within its handler."""
        place = nodes.start_of(node)
        around = [start for start, end in self._file.routes.spans() if start <= place < end]
        return bool(around) and not declarations.is_in_inner_function(node, max(around))
