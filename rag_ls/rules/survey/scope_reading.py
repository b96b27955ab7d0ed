"""Reads the routers of a file and the scopes of its routes: what is made, mounted and nested, below which prefixes."""

from __future__ import annotations

from dataclasses import replace

from rag_ls.rules.survey import declarations, nodes
from rag_ls.rules.survey.file_parts import FileParts, is_of
from rag_ls.rules.survey.routes import RouteScope, join_routes, plain_path
from rag_ls.rules.survey.terms import FoundForm


class ScopeReading:
    """The reading of routers, mounts and scopes."""

    def __init__(self, file: FileParts) -> None:
        self._file, self._terms, self._routers = file, file.terms, file.routers

    def read_router(self, found: FoundForm) -> None:
        if self._file.is_on(found):
            self._routers.add_router(found)

    def read_mount(self, found: FoundForm) -> None:
        if self._file.is_on(found):
            around = self._file.scopes_around(found.call.inner)
            prefix = join_routes(*(plain_path(each.paths[0]) for each in around)).strip("/")
            self._routers.add_mount(found, prefix)

    def read_scope(self, found: FoundForm) -> None:
        if not self._file.is_on(found):
            return
        call = found.call
        node = declarations.holder_of(call.node) if found.form.annotation else call.node
        if found.form.of and not is_of(node, found.form.of):
            return
        start = nodes.start_of(node) if found.form.annotation or found.form.rule else call.inner
        paths = self._terms.prefixes(found, made=True) or [""]
        replaced = found.form.says("holder_as")
        placeholders = ((replaced, declarations.declared_name(node).removesuffix("Controller")),) if replaced else ()
        end, use = nodes.end_of(node), found.form.says("use")
        self._file.scopes.append(RouteScope(start, end, tuple(paths), use, replaced=placeholders))
        self._file.note(found, self._terms.names(found, "through"), call.line, is_of_route=False)
        # Where a setting says the path, the routes of a function are told as they are written there.
        for term in found.form.values.get("body", ()) if "{=" not in paths[0] else ():
            for value in self._terms.value(term, found):
                # A name with a path before it is of another file.
                is_own = not isinstance(value, str) and "::" not in value.text().partition("(")[0]
                name = nodes.base_name(value) if is_own and not isinstance(value, str) else ""
                place = declarations.find_function(self._file.root, name)
                if place is not None:
                    self._add_body(RouteScope(nodes.start_of(place), nodes.end_of(place), tuple(paths)))

    def _add_body(self, scope: RouteScope) -> None:
        """Take in the function that a scope is; of several calls of it the routes have each path."""
        for at, known in enumerate(self._file.scopes):
            if (known.start, known.end) == (scope.start, scope.end):
                paths = dict.fromkeys((*known.paths, *scope.paths))
                self._file.scopes[at] = replace(known, paths=tuple(paths))
                return
        self._file.scopes.append(scope)
