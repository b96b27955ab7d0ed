"""Reads what the forms that were found in a file say: the routers and scopes first, then the routes that stand in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_ls.rules.survey import declarations, literals, nodes
from rag_ls.rules.survey.class_prefixes import inherited_prefix
from rag_ls.rules.survey.controllers import controller_of, handler_of
from rag_ls.rules.survey.file_facts import (
    AnswerPlace,
    Direction,
    FileFacts,
    FilesPrefix,
    HandedRouter,
    HandlerPlace,
    Level,
    MiddlewareUse,
    RouterMount,
    SocketEvent,
)
from rag_ls.rules.survey.file_routers import FileRouters, Router, through_of
from rag_ls.rules.survey.frameworks import name_required
from rag_ls.rules.survey.handed_routers import UsedMiddleware, find_handed, router_at, without_shadowed
from rag_ls.rules.survey.mapped_routers import find_mapped, method_router
from rag_ls.rules.survey.nested_routers import NestedRouter, find_extending_calls, find_value, named_functions, unit_of
from rag_ls.rules.survey.nodes import Call, Offset
from rag_ls.rules.survey.registrars import registrars_around
from rag_ls.rules.survey.resources import actions, resource_routes, singular
from rag_ls.rules.survey.routes import (
    Endpoint,
    RouteScope,
    join_routes,
    method_of,
    plain_path,
    route_for,
    routes_at,
)
from rag_ls.rules.survey.terms import FormTerms, FoundForm

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_MAX_HEAD = 150
# Events of a connection's own life are no events of the application.
_LIFECYCLE = frozenset(
    "connection connect disconnect disconnecting connect_error connect_timeout error close open ping pong reconnect "
    "reconnect_attempt reconnect_error reconnect_failed reconnecting listening headers upgrade drain finish end data exit request".split()
)
_RELATIVE = re.compile(r"[\w:*{][\w./:*{}~-]*$")
"""A path for routers that put a slash before it."""


class FileReading:
    """The reading of one file: the routers and scopes first, then the routes that stand in them."""

    def __init__(self, path: str, text: str, root: SgNode) -> None:
        self._root = root
        self._terms = FormTerms(path, text)
        self._routers = FileRouters(self._terms)
        self._scopes: list[RouteScope] = []
        self._prefix_spans: list[tuple[FilesPrefix, Offset]] = []
        self._facts = FileFacts()
        self._pipelines: dict[str, tuple[str, ...]] = {}
        """The middleware that a name of this file stands for."""
        self._is_rust, self._is_kotlin = path.endswith(".rs"), path.endswith(".kt")
        self._nested: list[NestedRouter] = []
        self._used: list[UsedMiddleware] = []
        self._units: set[str] = set()
        """The functions of Rust and Kotlin that have routes."""
        self._routes: list[tuple[Offset, Offset, list[Endpoint]]] = []
        self._routers_at: dict[Offset, frozenset[str]] = {}
        """The names of the routers that a route is on, by its start."""
        self._types_at: dict[Offset, tuple[Offset, ...]] = {}
        """The starts of the classes that an annotated route is in, by its own start; the innermost first."""

    def facts(self) -> FileFacts:
        """The facts in the order of the lines; a thing that stands twice on a line counts once."""
        facts = self._facts
        by_route = dict[tuple[str, str, int], Endpoint]()
        for _, _, endpoints in sorted(self._routes, key=lambda route: route[0]):
            for each in endpoints:
                key = each.method, each.route, each.line
                by_route[key] = max(each, by_route.get(key, each), key=lambda one: len(one.middleware))
        facts.mounts = self._routers.mounts()
        names = {name for on in self._routers_at.values() for name in on} | {*facts.before}
        facts.borrowed = self._routers.find_borrowed(names - {""})
        facts.handed += (each.handed for each in self._nested)
        facts.takers |= {name[1:]: ("",) for name in self._units if name}
        facts.endpoints = sorted(by_route.values(), key=lambda each: each.line)
        facts.unknown_routes = sorted(set(facts.unknown_routes))
        facts.middleware = sorted(dict.fromkeys(facts.middleware), key=lambda each: each.line)
        facts.answers = sorted(dict.fromkeys(facts.answers), key=lambda each: each.line)
        facts.events = sorted(dict.fromkeys(facts.events), key=lambda each: each.line)
        return facts

    def find_handed(self) -> Iterator[HandedRouter]:
        """The routers that the file gives to functions."""
        if self._is_kotlin:
            yield from find_extending_calls(self._root, self._scopes)
        elif self._terms.path.endswith(".cs"):
            yield from find_mapped(self._root, self._routers)
        else:
            yield from find_handed(self._root, self._routers, self._scopes, self._used)

    def find_shared(self) -> dict[str, RouterMount]:
        """The routers in variables that other files of a package may use."""
        return self._routers.find_shared()

    def _is_on(self, found: FoundForm) -> bool:
        values = found.form.values
        if any(self._terms.value(term, found) for term in values.get("lacks", ())) or not all(
            self._terms.value(term, found) for term in values.get("requires", ())
        ):
            return False
        on = found.form.receiver
        if not on:
            return True
        name = self._routers.name_called_on(found.call)
        if on == "routers":
            return bool(found.framework.routers.search(name)) or self._routers.has(name)
        return isinstance(on, re.Pattern) and bool(on.search(name))

    def read_alias(self, found: FoundForm) -> None:
        names = re.findall(found.form.says("names"), found.call.node.text())
        aliases = self._pipelines if found.form.says("local") else self._facts.aliases
        for name in self._terms.strings(found, "name"):
            aliases[name] = tuple(each for each in names if found.form.is_named(each))

    def read_router(self, found: FoundForm) -> None:
        if self._is_on(found):
            self._routers.add_router(found)

    def read_mount(self, found: FoundForm) -> None:
        if self._is_on(found):
            around = self._scopes_around(found.call.inner)
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
                self._nested.append(NestedRouter(handed, (start, found.call.inner)))
                self._units.add(own)

    def _scopes_around(self, place: Offset, end: Offset = (0, 0)) -> list[RouteScope]:
        """The scopes that a place is in, the outermost first; not the one that a declaration from there to its end is itself."""
        around = [
            scope for scope in self._scopes
            if scope.start <= place < scope.end and not (scope.start == place and end in ((0, 0), scope.end))
        ]  # fmt: skip
        return sorted(around, key=lambda scope: (scope.start, [-each for each in scope.end]))

    def read_prefix(self, found: FoundForm) -> None:
        """The prefix of files; of a group of routes that names no file, none."""
        texts = (re.sub(r"^(\.+/)+", "", each) for each in self._terms.texts_in(found, "ending"))
        ending = next((each for each in texts if re.search(r"\.\w+$", each)), "")
        is_elsewhere = bool(found.form.says("loop")) and not declarations.is_in_loop(found.call.node)
        if not self._is_on(found) or is_elsewhere or ("ending" in found.form.values and not ending):
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
            version = self._version(found)
            own = FilesPrefix(prefix, through, ending, found.form.says("holding"), excluded, version=version)
            self._facts.prefixes.append(own)
            self._prefix_spans.append((own, end))

    def read_scope(self, found: FoundForm) -> None:
        if not self._is_on(found):
            return
        call = found.call
        node = declarations.holder_of(call.node) if found.form.annotation else call.node
        if found.form.of and not _is_of(node, found.form.of):
            return
        start = nodes.start_of(node) if found.form.annotation or found.form.rule else call.inner
        paths = self._terms.prefixes(found) or self._terms.mark_made_path(found) or [""]
        replaced = found.form.says("holder_as")
        through = tuple(self._terms.names(found, "through"))
        placeholders = ((replaced, declarations.declared_name(node).removesuffix("Controller")),) if replaced else ()
        scope = RouteScope(
            start, nodes.end_of(node), tuple(paths), use=found.form.says("use"), through=through, replaced=placeholders,
            version=self._version(found), module=next(iter(self._terms.strings(found, "module")), ""),
            controller=next(iter(self._terms.strings(found, "controller")), ""),
        )  # fmt: skip
        self._scopes.append(scope)
        if paths[0] and (replaced or found.form.says("inherited")):
            around = declarations.class_around(call.node, "")
            self._facts.class_prefixes[around.name] = plain_path(paths[0]), around.bases
        self._note(found, through, "router")
        for term in found.form.values.get("body", ()):
            for value in self._terms.value(term, found):
                name = nodes.base_name(value) if not isinstance(value, str) else ""
                if self._is_rust:
                    # Functions are followed from file to file.
                    place = find_value(value) if not isinstance(value, str) else None
                else:
                    place = declarations.find_function(self._root, name)
                if place is not None:
                    self._add_body(
                        RouteScope(nodes.start_of(place), nodes.end_of(place), tuple(paths), through=through)
                    )

    def _version(self, found: FoundForm) -> str:
        """The version in a form, without quotation marks; the name of one that stands for none."""
        given = [each for term in found.form.values.get("version", ()) for each in self._terms.value(term, found)]
        text = next((each if isinstance(each, str) else each.text() for each in given), "")
        return text.strip("'\"`")

    def _add_body(self, scope: RouteScope) -> None:
        """Take in the function that a scope is; of several calls of it the routes have each path, and what all put before them."""
        for at, known in enumerate(self._scopes):
            if (known.start, known.end) == (scope.start, scope.end):
                paths = dict.fromkeys((*known.paths, *scope.paths))
                shared = tuple(name for name in known.through if name in scope.through)
                self._scopes[at] = replace(known, paths=tuple(paths), through=shared)
                return
        self._scopes.append(scope)

    def _note(self, found: FoundForm, names: Sequence[str], level: Level, line: int = 0) -> None:
        label = found.form.says("label") or "route"
        self._facts.middleware += [MiddlewareUse(name, label, level, line or found.call.line) for name in names]

    def read_route(self, found: FoundForm) -> None:
        if not self._is_on(found):
            return
        call = found.call
        node = declarations.holder_of(call.node) if found.form.annotation else call.node
        if found.form.of and not _is_of(node, found.form.of):
            return
        handlers = found.form.values.get("handlers")
        if handlers and not any(self._terms.value(term, found) for term in handlers):
            return
        if found.form.says("outermost") and any(each < call.inner < end for each, end, _ in self._routes):
            return
        if found.form.says("unknown") == "always":
            self._facts.unknown_routes.append(call.line)
            return
        methods = self._terms.methods(found)
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
                names = [each if isinstance(each, str) else each.text() for each in written]
                self._facts.registrars += registrars_around(call.node, call.line, names)
            if paths or written or found.form.says("required") == "yes":
                return
        if found.form.says("absolute"):
            wanted = [f"~{path}" if path.startswith("/") else path for path in wanted]
        start_of_call = nodes.start_of(call.node)
        on = self._routers.name_called_on(call) or self._routers.router_around(start_of_call)
        for given in (each for term in found.form.values.get("given", ()) for each in self._terms.value(term, found)):
            # A decorator of the project is given `router.post`.
            on = given.text().rpartition(".")[0] if not isinstance(given, str) else on
        chains = self._routers.chains_of(on, start_of_call)
        if self._terms.path.endswith(".go"):
            chains = [kept for each in chains if (kept := without_shadowed(each, call.node))]
        outer = next(iter(self._terms.strings(found, "prefix")), "")
        own = tuple(self._terms.names(found, "through"))
        start = nodes.start_of(node) if found.form.annotation else call.inner
        end = nodes.end_of(node)
        if found.form.annotation:
            self._types_at[start] = declarations.types_around(node)
        around = [each for each in self._scopes_around(start, end) if not self._is_nested(start, each.start)]
        if inherited := found.form.says("inherits"):
            outer = join_routes(outer, inherited_prefix(declarations.class_around(node, inherited)))
        has_path = bool(wanted or outer.strip("/")) or any(path for each in around for path in each.paths)
        if found.form.says("conventional") and not has_path:
            # The names of the controller and of its method are the path, by a convention that is set elsewhere.
            self._facts.unknown_routes.append(call.line)
            return
        part = next(iter(self._terms.strings(found, "part")), "")
        before = tuple(name for each in around for name in each.through)
        line = nodes.start_of(call.node)[0] + 1 if found.form.annotation or found.form.rule else call.line
        replaced = (
            [(found.form.says("method_as"), declarations.declared_name(node))]
            if "method_as" in found.form.values
            else []
        )
        version = self._version(found) or next((each.version for each in reversed(around) if each.version), "")
        handler = handler_of(call, next(iter(wanted), ""), around) if found.form.says("controllers") else ""
        endpoints = [
            Endpoint(
                method_of(method),
                route_for(method_of(method), route),
                line,
                router=router,
                base=base,
                version=version,
                is_named=bool(found.form.says("named")),
                handler=handler,
            ).behind((*before, *through, *own))
            for router, base, prefix, through in self._put_on(on, chains, call)
            for path, method in _with_methods(wanted or [""], methods)
            for route in routes_at(
                around,
                part,
                (join_routes(outer, prefix) if outer else prefix),
                path,
                found.framework.joins_as_written,
                replaced,
            )
        ]
        self._routes.append((start, end, _merge_same(endpoints)))
        self._routers_at[start] = frozenset(
            [on, *(name for routers in chains for each in routers for name in (each.name, each.outer) if name)]
        )
        self._note(found, own, "route", line)

    def _put_on(
        self, on: str, chains: Sequence[Sequence[Router]], call: Call
    ) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
        """The outermost router, its prefix, the whole prefix and the middleware of a route, for each place of its router."""
        for routers in chains or [()]:
            prefix = join_routes(*(each.prefix for each in routers)) if routers else ""
            router = (routers[0].outer or routers[0].name) if routers else on
            if self._is_rust or self._is_kotlin:
                router = unit_of(call.node)
                self._units.add(router)
            elif self._terms.path.endswith(".cs"):
                router = method_router(router, call.node)
            elif self._terms.path.endswith(".go"):
                router = router_at(router, call.node)
            yield router, routers[0].prefix if routers else "", prefix, through_of(routers)

    def read_resource(self, found: FoundForm) -> None:
        if not self._is_on(found):
            return
        call, style = found.call, found.form.says("style")
        only, without = (self._list_names(found, key) for key in ("only", "except"))
        names = [each for each in self._terms.strings(found, "names") if each]
        wanted = actions(only, without, laravel=style == "laravel") - (
            {"new", "edit"} if found.form.says("api") or "apiResource" in call.name else set()
        )
        start, end = call.inner, nodes.end_of(call.node)
        around = sorted(
            (scope for scope in self._scopes if scope.start <= start < scope.end), key=lambda scope: scope.start
        )
        outer = next(iter(self._terms.strings(found, "prefix")), "")
        through = tuple(
            dict.fromkeys([*(name for scope in around for name in scope.through), *self._terms.names(found, "through")])
        )
        param = next(iter(self._terms.strings(found, "param")), "id")
        several = (call.name != "resource" or style == "laravel") and not self._is_true(found, "single")
        found_routes: list[Endpoint] = []
        for name in names:
            name = name.strip("/")
            path = next(iter(self._terms.strings(found, "path")), name).strip("/")
            if style == "laravel":
                *parents, last = path.split(".")
                path = "/".join([*(f"{part}/{{{singular(part)}}}" for part in parents), last])
                key, new = "{" + _key_of(last.rsplit("/", 1)[-1]) + "}", "create"
            else:
                key, new = (f":{param}" if several else ""), "new"
            controller = controller_of(call, name, around) if found.form.says("controllers") else ""
            for action, method, route in resource_routes(path, wanted, key, new):
                for full in routes_at(around, "", outer, route, False, ()):
                    handler = controller and f"{controller}#{action}"
                    found_routes.append(Endpoint(method, full, call.line, through, handler=handler))
            parent = singular(name).replace("/", "_")
            inner = f"{path}/{key.replace(':', f':{parent}_', 1)}" if key else path
            self._scopes.append(
                RouteScope(
                    start, end, (inner,), member=f"{path}/{key}" if key else path, collection=path, controller=controller,
                    module=next(iter(self._terms.strings(found, "module")), ""),
                )
            )  # fmt: skip
        self._routes.append((start, end, found_routes))
        self._note(found, self._terms.names(found, "through"), "route")

    def _is_true(self, found: FoundForm, key: str) -> bool:
        values = (each for term in found.form.values.get(key, ()) for each in self._terms.value(term, found))
        return any((each if isinstance(each, str) else each.text()) == "true" for each in values)

    def _list_names(self, found: FoundForm, key: str) -> list[str] | None:
        """The names of a list that may be empty; None where there is none."""
        is_there = any(self._terms.value(term, found) for term in found.form.values.get(key, ()))
        return self._terms.strings(found, key) if is_there else None

    def read_middleware(self, found: FoundForm) -> None:
        """At the level that the form says; what stands inside a route or at its function is the route's own."""
        if not self._is_on(found):
            return
        names = [*self._terms.names(found, "names"), *self._find_piped(found)]
        if (outside := found.form.says("outside")) and any(
            re.search(outside, each.text()[:_MAX_HEAD]) for each in found.call.node.ancestors()
        ):
            return
        if found.form.says("foreign") and any(declarations.find_function(self._root, name) for name in names):
            # A function of the file has routes of its own.
            return
        place = nodes.start_of(found.call.node)
        holder = declarations.holder_of(found.call.node) if found.form.annotation else found.call.node
        if found.form.of and not _is_of(holder, found.form.of):
            return
        if found.form.says("inside") == "routes" and not self._is_in_handler(found.call.node):
            return
        level: Level = "router" if found.form.says("level") == "router" else "application"
        around = [each for each in self._scopes if each.start <= place < each.end] if found.form.says("scoped") else []
        if around:
            level, scope = "router", max(around, key=lambda each: each.start)
            end = min(scope.end, nodes.end_of(declarations.branch_around(found.call.node) or self._root))
            for start, _, endpoints in self._routes:
                if found.call.inner < start < end:
                    endpoints[:] = [each.behind(names) for each in endpoints]
        elif found.form.says("always"):
            self._put_before_all(found, names)
        elif found.form.says("later") and found.call.receiver is not None and not self._terms.are_paths(found, "below"):
            self._put_before_later(found, names)
        inner = nodes.start_of(holder), nodes.end_of(holder)
        for nested in self._nested if found.form.says("earlier") else ():
            if nested.is_in_chain(place, found.call.inner):
                nested.handed = replace(nested.handed, through=(*nested.handed.through, *names))
        for start, end, endpoints in self._routes:
            is_inside = start <= place < end
            if found.form.says("earlier") and place <= start < found.call.inner:
                # The chain of calls that it ends has the routes in it.
                endpoints[:] = [each.behind(names) for each in endpoints]
            is_of_holder = found.form.annotation and inner[0] <= start and end <= inner[1]
            if is_inside or (is_of_holder and not self._is_nested(start, inner[0])):
                level = "route" if is_inside or inner == (start, end) else "router"
                endpoints[:] = [each.behind(names) for each in endpoints]
        if found.form.says("level") == "alias":
            return
        if found.form.says("level") == "route":
            level = "route"
        label = found.form.says("label")
        if label.startswith("Controllers") and not _is_of(holder, "class"):
            # The routes of a controller may be declared elsewhere, by an interface.
            level, label = ("router", "Handlers carry") if label == "Controllers carry" else ("route", label)
        line = found.call.node.range().start.line + 1 if found.form.annotation else found.call.line
        every = self._terms.names(found, "names", sometimes=True)
        self._facts.middleware += [MiddlewareUse(name, label or "route", level, line) for name in every]

    def _find_piped(self, found: FoundForm) -> Iterator[str]:
        """The middleware of the pipelines that a form names."""
        values = [each for term in found.form.values.get("pipelines", ()) for each in self._terms.value(term, found)]
        for each in values:
            for name in literals.strings_of(each) if not isinstance(each, str) else ():
                yield from self._pipelines.get(name, ())

    def _is_nested(self, route: Offset, holder: Offset) -> bool:
        """Whether a route is in a class within the one that begins at an offset: what stands at the outer one is not its."""
        return sum(start >= holder for start in self._types_at.get(route, ())) > 1

    def _is_in_handler(self, node: SgNode) -> bool:
        """Whether a place is in a route, but in no function within its handler."""
        place = nodes.start_of(node)
        around = [start for start, end, _ in self._routes if start <= place < end]
        return bool(around) and not declarations.is_in_inner_function(node, max(around))

    def read_lift(self, found: FoundForm) -> None:
        """The middleware that the routes at a declaration, in a chain of calls, or on the router that it makes are freed from."""
        if not self._is_on(found):
            return
        names = self._terms.names(found, "names")
        chain = [found.call, *nodes.calls_after(found.call)]
        place = declarations.holder_of(found.call.node) if found.form.annotation else chain[-1].node
        if found.form.of and not _is_of(place, found.form.of):
            return
        first, last = nodes.start_of(place), nodes.end_of(place)
        made = self._routers.made_in(first, last) if not found.form.annotation else frozenset()
        for start, end, endpoints in self._routes:
            is_at = first <= start and end <= last and not self._is_nested(start, first)
            if is_at or made & self._routers_at.get(start, frozenset()):
                endpoints[:] = [each.free_from(names) for each in endpoints]

    def _put_before_all(self, found: FoundForm, names: Sequence[str]) -> None:
        """Put middleware before all routes of a router, wherever they stand; an application's is only registered."""
        name = self._routers.name_called_on(found.call)
        if not self._routers.has(name):
            self._facts.before[name] = (*self._facts.before.get(name, ()), *names)
            return
        self._routers.put_before(name, (-1, 0), nodes.end_of(self._root), names)
        for start, _, endpoints in self._routes:
            if name in self._routers_at.get(start, ()):
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
        end = nodes.end_of(declarations.branch_around(found.call.node) or self._root)
        self._routers.put_before(name, place, end, names)
        self._used.append(UsedMiddleware(name, place, end, tuple(names)))
        for start, _, endpoints in self._routes:
            if place < start < end and name in self._routers_at.get(start, ()):
                endpoints[:] = [each.behind(names) for each in endpoints]

    def read_answer(self, found: FoundForm) -> None:
        if not self._is_on(found):
            return
        place = nodes.start_of(found.call.node)
        if found.form.says("inside") == "routes" and not any(start <= place < end for start, end, _ in self._routes):
            return
        keys: tuple[str, ...] = ()
        for term in found.form.values.get("sent", ()):
            for value in self._terms.value(term, found):
                if not keys and not isinstance(value, str):
                    keys = literals.keys_of(value)
        if not keys and found.form.says("named") == "True":
            pairs = (literals.pair_of(node) for node in found.call.arguments)
            keys = tuple(pair[0] for pair in pairs if pair)
        self._facts.answers.append(AnswerPlace(found.form.says("label"), found.call.line, keys))

    def read_handler(self, found: FoundForm) -> None:
        """The things that a handler has, by the very rule that is checked where all have one."""
        node, form = found.call.node, found.form
        if form.says("names") == "keys":
            names: Sequence[str] = literals.keys_of(node)
        elif form.says("names").startswith("args"):
            call = nodes.read_call(node)
            names = self._terms.names(replace(found, call=call), "names") if call else ()
        else:
            names = re.findall(form.says("names"), node.text())
        without = re.compile(form.says("without") or "(?!)")
        kept = tuple(
            name for name in dict.fromkeys(names)
            if not without.search(name) and node.matches(**name_required(form, name))
        )  # fmt: skip
        place = HandlerPlace(form.sort, kept, nodes.start_of(node)[0] + 1)
        if place not in self._facts.handlers:
            self._facts.handlers.append(place)

    def read_event(self, found: FoundForm) -> None:
        if not self._is_on(found):
            return
        direction: Direction = "handled" if found.form.says("direction") == "handled" else "emitted"
        line = found.call.node.range().start.line + 1 if found.form.annotation or found.form.rule else found.call.line
        routers = self._routers.chain_of(nodes.base_name(found.call.receiver), nodes.start_of(found.call.node))
        prefix = join_routes(*(each.prefix for each in routers))
        for name in self._terms.strings(found, "name"):
            # A websocket is at a path, below that of its router.
            name = join_routes(prefix, name) if name.startswith("/") and prefix != "/" else name
            name = name.replace("_", ".") if found.form.says("dots") else name
            if name and name not in _LIFECYCLE:
                self._facts.events.append(SocketEvent(name, line, direction))


def _key_of(resource: str) -> str:
    """The parameter that Laravel makes of a resource's name."""
    return singular(resource).replace("-", "_")


def _merge_same(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    """Each route once; of one that several mounts give, as in the branches of a condition, what all put before it."""
    found = dict[tuple[str, str], Endpoint]()
    for each in endpoints:
        known = found.get((each.method, each.route), each)
        shared = tuple(name for name in each.middleware if name in known.middleware)
        found[each.method, each.route] = replace(each, middleware=shared)
    return list(found.values())


def _with_methods(paths: Sequence[str], methods: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each path with each method; `GET /items` holds its own."""
    for path in paths:
        method, space, rest = path.partition(" ")
        if space and method.isupper() and not methods:
            yield rest, method
        else:
            yield from ((path, method) for method in methods or ["ANY"])


def _is_of(node: SgNode, of: str) -> bool:
    text = node.kind() + " ".join(
        child.kind() for child in node.children()[:8] if "definition" in child.kind() or "declaration" in child.kind()
    )
    is_type = any(word in text for word in ("class", "interface", "object_declaration", "record", "annotation_type"))
    return is_type == (of == "class")
