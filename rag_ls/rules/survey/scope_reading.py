"""Reads the routers of a file and the scopes of its routes: what is made, mounted and nested, below which prefixes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag_ls.rules.survey import declarations, nodes
from rag_ls.rules.survey.file_facts import FilesPrefix, HandedRouter
from rag_ls.rules.survey.file_parts import FileParts, is_of
from rag_ls.rules.survey.nested_routers import NestedRouter, find_value, named_functions, unit_of
from rag_ls.rules.survey.nodes import Call, Offset
from rag_ls.rules.survey.routes import RouteScope, join_routes, plain_path
from rag_ls.rules.survey.terms import FoundForm


class ScopeReading:
    """The reading of routers, mounts, prefixes and scopes."""

    def __init__(self, file: FileParts) -> None:
        self._file, self._terms, self._routers, self._facts = file, file.terms, file.routers, file.facts
        self._prefix_spans: list[tuple[FilesPrefix, Offset]] = []

    def read_router(self, found: FoundForm) -> None:
        if self._file.is_on(found):
            self._routers.add_router(found)

    def read_mount(self, found: FoundForm) -> None:
        if self._file.is_on(found):
            around = self._file.scopes_around(found.call.inner)
            prefix = join_routes(*(plain_path(each.paths[0]) for each in around)).strip("/")
            before = [name for each in around for name in each.through]
            if found.form.says("handed"):
                self._add_nested(found, prefix, before)
            else:
                self._routers.add_mount(found, prefix, before)

    def _add_nested(self, found: FoundForm, outer: str, before: Sequence[str]) -> None:
        """Take in the routers of functions that a router nests."""
        paths = self._terms.prefixes(found) or self._terms.mark_made_path(found) or [""]
        own = unit_of(found.call.node)
        branch = declarations.branch_around(found.call.node)
        if "{=" in paths[0] and branch is not None and not branch.kind().startswith("function"):
            # A setting may put the routes below a path.
            return
        for given in found.call.arguments[-1:]:
            for name, start in named_functions(given):
                holder, _, function = name.rpartition("::")
                handed = HandedRouter(
                    function=function, holder=holder, at=0, prefix=join_routes(outer, paths[0]), own=own, through=tuple(before)
                )  # fmt: skip
                self._file.nested.append(NestedRouter(handed, (start, found.call.inner)))
                self._file.units.add(own)

    def read_prefix(self, found: FoundForm) -> None:
        """The prefix of files; of a group of routes that names no file, none."""
        texts = (re.sub(r"^(\.+/)+", "", each) for each in self._terms.texts_in(found, "ending"))
        ending = next((each for each in texts if re.search(r"\.\w+$", each)), "")
        is_elsewhere = bool(found.form.says("loop")) and (
            not declarations.is_in_loop(found.call.node) or _is_made_there(found.call)
        )
        if not self._file.is_on(found) or is_elsewhere or ("ending" in found.form.values and not ending):
            return
        for prefix in self._terms.prefixes(found) or [""]:
            excluded = tuple(self._terms.texts_in(found, "exclude"))
            through = tuple(self._terms.names(found, "through"))
            start, end = nodes.start_of(found.call.node), nodes.end_of(found.call.node)
            for outer, outer_end in self._prefix_spans:
                # A group within another that names the same file.
                if outer.ending == ending != "" and start < outer_end and outer in self._facts.prefixes:
                    self._facts.prefixes.remove(outer)
                    prefix, through = join_routes(outer.prefix, prefix), (*outer.through, *through)
            version = self._file.version_of(found)
            own = FilesPrefix(prefix, through, ending, found.form.says("holding"), excluded, version=version)
            self._facts.prefixes.append(own)
            self._prefix_spans.append((own, end))

    def read_scope(self, found: FoundForm) -> None:
        if not self._file.is_on(found):
            return
        call = found.call
        node = declarations.holder_of(call.node) if found.form.annotation else call.node
        if found.form.of and not is_of(node, found.form.of):
            return
        start = nodes.start_of(node) if found.form.annotation or found.form.rule else call.inner
        paths = self._terms.prefixes(found) or self._terms.mark_made_path(found) or [""]
        replaced = found.form.says("holder_as")
        through = tuple(self._terms.names(found, "through"))
        placeholders = ((replaced, declarations.declared_name(node).removesuffix("Controller")),) if replaced else ()
        scope = RouteScope(
            start, nodes.end_of(node), tuple(paths), use=found.form.says("use"), through=through, replaced=placeholders,
            version=self._file.version_of(found), module=next(iter(self._terms.strings(found, "module")), ""),
            controller=next(iter(self._terms.strings(found, "controller")), ""),
        )  # fmt: skip
        self._file.scopes.append(scope)
        if paths[0] and (replaced or found.form.says("inherited")):
            around = declarations.class_around(call.node, "")
            self._facts.class_prefixes[around.name] = plain_path(paths[0]), around.bases
        self._file.note(found, through, "router")
        for term in found.form.values.get("body", ()):
            for value in self._terms.value(term, found):
                name = nodes.base_name(value) if not isinstance(value, str) else ""
                if self._file.path.endswith(".rs"):
                    # Functions are followed from file to file.
                    place = find_value(value) if not isinstance(value, str) else None
                else:
                    place = declarations.find_function(self._file.root, name)
                if place is not None:
                    self._add_body(
                        RouteScope(nodes.start_of(place), nodes.end_of(place), tuple(paths), through=through)
                    )

    def _add_body(self, scope: RouteScope) -> None:
        """Take in the function that a scope is; of several calls of it the routes have each path, and what all put before them."""
        for at, known in enumerate(self._file.scopes):
            if (known.start, known.end) == (scope.start, scope.end):
                paths = dict.fromkeys((*known.paths, *scope.paths))
                shared = tuple(name for name in known.through if name in scope.through)
                self._file.scopes[at] = replace(known, paths=tuple(paths), through=shared)
                return
        self._file.scopes.append(scope)


def _is_made_there(call: Call) -> bool:
    """Whether the first argument of a call is made in the loop around it: it is no router of another file."""
    loop = next((each for each in call.node.ancestors() if each.kind() == "for_statement"), None)
    name = re.match(r"\w+", call.arguments[0].text()) if call.arguments else None
    made = re.search(rf"(?m)^\s*{name[0]}\s*=\s*(.+)", loop.text()) if loop is not None and name else None
    return made is not None and "import" not in made[1]
