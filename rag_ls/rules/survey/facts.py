"""Reads from a file what its frameworks say: routes, middleware, answers, events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from rag_ls.rules.survey import nodes
from rag_ls.rules.survey.frameworks import Form, Framework, frameworks_of
from rag_ls.rules.survey.nodes import Call, Offset
from rag_ls.rules.survey.resources import actions, resource_routes, singular
from rag_ls.rules.survey.routes import Endpoint, RouteScope, join_routes, method_of, routes_at

if TYPE_CHECKING:
    from ast_grep_py import SgNode

Direction = Literal["emitted", "handled"]
Level = Literal["application", "router", "route"]

MAX_CHARACTERS = 400_000
"""The most characters that are read of a file; longer ones are generated."""
_MAX_BROKEN_SHARE = 0.3
_MAX_BROKEN_CHARACTERS = 200
_TERM = re.compile(r"(args|before|after|called|chain|\$+\w+)(?:\(([^)]*)\))?(?:\[([^\]]*)\])?")


@dataclass(frozen=True, slots=True)
class SocketEvent:
    """An event, or the route of a WebSocket."""

    name: str
    line: int
    """1-based."""
    direction: Direction


@dataclass(frozen=True, slots=True)
class MiddlewareUse:
    """A place that puts middleware before handlers."""

    name: str
    label: str
    """The way in which it is put there: `app.use`, `@UseGuards`."""
    level: Level
    line: int


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """A place that answers a request."""

    label: str
    line: int
    keys: tuple[str, ...]
    """The keys of what is sent, where they are written out."""


@dataclass(slots=True)
class FileFacts:
    """The facts of a file."""

    endpoints: list[Endpoint] = field(default_factory=list)
    unknown_routes: list[int] = field(default_factory=list)
    """The lines of routes whose path only shows when the program runs: those made in loops, of variables."""
    middleware: list[MiddlewareUse] = field(default_factory=list)
    answers: list[AnswerPlace] = field(default_factory=list)
    events: list[SocketEvent] = field(default_factory=list)
    is_broken: bool = False
    """Whether a framework's file was left out, because it does not parse."""


@dataclass(frozen=True, slots=True)
class _Found:
    framework: Framework
    form: Form
    call: Call


@dataclass(frozen=True, slots=True)
class _Router:
    name: str
    outer: str
    prefix: str
    start: Offset


def read_facts(path: str, language: str, text: str) -> FileFacts:
    """The facts of a file; none where no framework's marks stand in its text."""
    text = text[:MAX_CHARACTERS].removeprefix("\ufeff")
    chosen = [each for each in frameworks_of(language) if each.is_for(path, text)]
    if not chosen or language not in nodes.LANGUAGES:
        return FileFacts()
    # Imported here: it takes a while, and most projects' files are for no framework.
    from ast_grep_py import SgRoot

    root = SgRoot(text, language).root()
    if _is_broken(root, text):
        return FileFacts(is_broken=True)
    reading = _Reading(path, text, root)
    tests = _tests_in(root) if language == "rust" else ()
    found = [
        each
        for each in _find(chosen, language, text, root)
        if not any(start <= nodes.start_of(each.call.node) < end for start, end in tests)
    ]
    for fact in ("router", "mount", "scope", "resource", "route", "middleware", "answer", "event"):
        for each in found:
            if each.form.fact == fact:
                getattr(reading, f"read_{fact}")(each)
    return reading.facts()


def _tests_in(root: SgNode) -> tuple[tuple[Offset, Offset], ...]:
    """Rust's unit tests stand at the end of the code that they test."""
    found = root.find_all(kind="mod_item", follows={"kind": "attribute_item", "regex": r"cfg\(test\)"})
    return tuple((nodes.start_of(node), nodes.end_of(node)) for node in found)


def _is_broken(root: SgNode, text: str) -> bool:
    """Whether much of a file is no code of its language."""
    broken = sum(len(node.text()) for node in root.find_all(kind="ERROR"))
    # A fragment of a few lines may have no meaning alone.
    return broken > max(_MAX_BROKEN_CHARACTERS, _MAX_BROKEN_SHARE * len(text))


def _find(frameworks: Sequence[Framework], language: str, text: str, root: SgNode) -> Iterator[_Found]:
    """The places of all forms. One search finds the calls of all, and one the annotations."""
    forms = [
        (each, form)
        for each in frameworks
        for form in each.forms
        if (not form.languages or language in form.languages)
        and (not form.marks or any(mark in text for mark in form.marks))
    ]
    called = [(each, form) for each, form in forms if form.call]
    if called:
        names = "|".join(dict.fromkeys(form.call.pattern for _, form in called if form.call))
        yield from _match(called, root.find_all(**nodes.call_rule(language, names)), "call")
    annotated = [(each, form) for each, form in forms if form.annotation]
    if annotated:
        names = "|".join(dict.fromkeys(form.annotation.pattern for _, form in annotated if form.annotation))
        yield from _match(annotated, root.find_all(**nodes.annotation_rule(language, names)), "annotation")
    for each, form in forms:
        if form.rule is not None:
            for node in root.find_all(dict(form.rule)):  # type: ignore[call-overload]
                yield _Found(each, form, Call(node, "", None, (), nodes.start_of(node)))


def _match(forms: Sequence[tuple[Framework, Form]], places: list[SgNode], by: str) -> Iterator[_Found]:
    for node in places:
        call = nodes.read_call(node)
        for framework, form in forms if call else ():
            pattern = form.call if by == "call" else form.annotation
            if call and pattern and pattern.fullmatch(call.name):
                yield _Found(framework, form, call)


class _Reading:
    """The reading of one file: the routers and scopes first, then the routes that stand in them."""

    def __init__(self, path: str, text: str, root: SgNode) -> None:
        self._path, self._text, self._root = path, text, root
        self._routers: list[_Router] = []
        self._scopes: list[RouteScope] = []
        self._facts = FileFacts()
        self._routes: list[tuple[Offset, Offset, list[Endpoint]]] = []

    def facts(self) -> FileFacts:
        """The facts in the order of the lines; a thing that stands twice on a line counts once."""
        facts = self._facts
        by_route = dict[tuple[str, str, int], Endpoint]()
        for _, _, endpoints in sorted(self._routes, key=lambda route: route[0]):
            for each in endpoints:
                key = each.method, each.route, each.line
                by_route[key] = max(each, by_route.get(key, each), key=lambda one: len(one.middleware))
        facts.endpoints = sorted(by_route.values(), key=lambda each: each.line)
        facts.unknown_routes = sorted(set(facts.unknown_routes))
        facts.middleware = sorted(dict.fromkeys(facts.middleware), key=lambda each: each.line)
        facts.answers = sorted(dict.fromkeys(facts.answers), key=lambda each: each.line)
        facts.events = sorted(dict.fromkeys(facts.events), key=lambda each: each.line)
        return facts

    # Terms.

    def _value(self, term: str, found: _Found) -> Sequence[SgNode | str]:
        """The nodes and texts that a term stands for in a place."""
        call = found.call
        if term in ("name", "text"):
            return [call.name if term == "name" else call.node.text()]
        if term == "keys":
            return [
                pair[0]
                for node in call.arguments
                if nodes.is_string(nodes.children_of(node)[0] if nodes.children_of(node) else node)
                and (pair := nodes.pair_of(node))
            ][:1]
        if term == "file":
            match = found.framework.files.search("/" + self._path) if found.framework.files else None
            path = match[1] or "" if match else ""
            return [_route_of_file(path.replace(".", "/") if found.form.says("dots") else path)] if match else []
        if term == "holder":
            return [nodes.declared_name(nodes.holder_of(call.node))]
        parts = _TERM.fullmatch(term)
        if parts is None:
            return [term]
        what, names, selector = parts.groups()
        if what == "chain":
            return list(_chained(call.arguments[int(names) : int(names) + 1]))
        if what == "called":
            every = [*nodes.calls_before(call), *nodes.calls_after(call)]
            return [each.name for each in every if re.fullmatch(names, each.name)]
        return list(_select(self._nodes(what, names, call), selector))

    def _nodes(self, what: str, names: str, call: Call) -> list[SgNode]:
        if what == "args":
            return list(call.arguments)
        if what.startswith("$$$"):
            return [node for node in call.node.get_multiple_matches(what[3:]) if node.is_named()]
        if what.startswith("$"):
            node = call.node.get_match(what[1:])
            return [node] if node else []
        chained = nodes.calls_before(call) if what == "before" else nodes.calls_after(call)
        return [node for each in chained if re.fullmatch(names, each.name) for node in each.arguments]

    def _strings(self, found: _Found, key: str) -> list[str]:
        """The texts of the first of a value's terms that gives any."""
        for term in found.form.values.get(key, ()):
            values = self._value(term, found)
            texts = [
                text for each in values for text in (self._literals(each) if not isinstance(each, str) else [each])
            ]
            if texts:
                return texts
        return []

    def _methods(self, found: _Found) -> list[str]:
        """The methods of the first term that gives any; they may be constants: `RequestMethod.PUT`, `http.MethodPost`."""
        for term in found.form.values.get("method", ()):
            methods = list[str]()
            for each in self._value(term, found):
                methods += (
                    [each]
                    if isinstance(each, str)
                    else nodes.strings_of(each) or re.findall(r"\w+(?=\s*(?:,|\}|\]|$))", each.text())
                )
            if methods:
                return methods
        return []

    def _literals(self, node: SgNode) -> list[str]:
        """The strings of a node; that of a constant of the same file; the name that is declared."""
        if texts := nodes.strings_of(node):
            return texts
        parent = node.parent()
        if parent is not None and "identifier" in node.kind() and re.search(r"pair|definition|declarat", parent.kind()):
            return [node.text()]
        name = nodes.unwrap(node).text()
        if not re.fullmatch(r"[\w.]{1,60}", name):
            return []
        constant = re.search(
            rf"\b{re.escape(name)}\b(?:\s*:\s*[\w&' ]+)?\s*:?=\s*[\"'`](/[^\"'`\n]*)[\"'`]", self._text
        )
        return [constant[1]] if constant else []

    def _names(self, found: _Found, key: str) -> list[str]:
        """The names of all terms of a value."""
        names = list[str]()
        strings = found.form.says("strings") == "True"
        for term in found.form.values.get(key, ()):
            for each in self._value(term, found):
                names += [each] if isinstance(each, str) else nodes.names_of(each, strings, found.form.says("inner"))
        without, end = found.form.says("without"), found.form.says("shown")
        names = [name.partition(":")[0] if strings and "::" not in name else name for name in names]
        names = [name.rpartition(".")[2] if end == "last" else name for name in names]
        return [
            name
            for name in names
            if name and not _NO_MIDDLEWARE.search(name) and not (without and re.search(without, name))
        ]

    # Where routes stand.

    def _is_on(self, found: _Found) -> bool:
        if any(self._value(term, found) for term in found.form.values.get("lacks", ())):
            return False
        on = found.form.receiver
        if not on:
            return True
        name = nodes.base_name(found.call.receiver)
        if on == "routers":
            return bool(found.framework.routers.search(name)) or any(router.name == name for router in self._routers)
        return isinstance(on, re.Pattern) and bool(on.search(name))

    def _router_at(self, name: str, start: Offset) -> _Router | None:
        """The router of a name that was made last before a place."""
        named = [router for router in self._routers if router.name == name]
        return max(
            (router for router in named if router.start <= start),
            key=lambda each: each.start,
            default=named[0] if named else None,
        )

    def _prefix_of(self, name: str, start: Offset) -> str:
        """The prefixes of a router, and of those that it was made from."""
        parts: list[str] = []
        router = self._router_at(name, start)
        while router is not None and len(parts) <= len(self._routers):
            parts.insert(0, router.prefix)
            outer = [
                each
                for each in self._routers
                if each.name == router.outer and each is not router and each.start < router.start
            ]
            router = outer[-1] if router.outer and outer else None
        return join_routes(*parts) if parts else ""

    def read_router(self, found: _Found) -> None:
        if not self._is_on(found):
            return
        name = nodes.assigned_name(found.call.node)
        prefix = next(iter(self._strings(found, "path")), "")
        if name:
            self._routers.append(
                _Router(name, nodes.base_name(found.call.receiver), prefix, nodes.start_of(found.call.node))
            )

    def read_mount(self, found: _Found) -> None:
        prefix = next(iter(self._strings(found, "path")), "")
        names = {nodes.base_name(node) for node in found.call.arguments if not nodes.is_string(node)}
        for index, router in enumerate(self._routers):
            if prefix and router.name in names:
                self._routers[index] = _Router(
                    router.name, router.outer, join_routes(prefix, router.prefix), router.start
                )

    def read_scope(self, found: _Found) -> None:
        if not self._is_on(found):
            return
        call = found.call
        node = nodes.holder_of(call.node) if found.form.annotation else call.node
        if found.form.of and not _is_of(node, found.form.of):
            return
        start = nodes.start_of(node) if found.form.annotation or found.form.rule else call.inner
        paths = self._strings(found, "path") or [""]
        replaced = found.form.says("holder_as")
        through = tuple(self._names(found, "through"))
        scope = RouteScope(start, nodes.end_of(node), tuple(paths), use=found.form.says("use"), through=through,
                      replaced=((replaced, nodes.declared_name(node).removesuffix("Controller")),) if replaced else ())  # fmt: skip
        self._scopes.append(scope)
        self._note(found, through, "router")
        for term in found.form.values.get("body", ()):
            for value in self._value(term, found):
                if not isinstance(value, str) and (place := self._function(nodes.base_name(value))):
                    self._scopes.append(
                        RouteScope(nodes.start_of(place), nodes.end_of(place), tuple(paths), through=through)
                    )

    def _function(self, name: str) -> SgNode | None:
        """The function of the file that has a name."""
        if not re.fullmatch(r"\w+", name):
            return None
        kinds = (
            "function_item",
            "function_declaration",
            "function_definition",
            "variable_declarator",
            "method_declaration",
        )
        return self._root.find(
            {
                "rule": {
                    "any": [{"kind": kind} for kind in _known(self._root, kinds)],
                    "has": {"field": "name", "regex": f"^{name}$"},
                }
            }
        )

    def _note(self, found: _Found, names: Sequence[str], level: Level, line: int = 0) -> None:
        label = found.form.says("label") or "route"
        self._facts.middleware += [MiddlewareUse(name, label, level, line or found.call.line) for name in names]

    # What is read.

    def read_route(self, found: _Found) -> None:
        if not self._is_on(found):
            return
        call = found.call
        node = nodes.holder_of(call.node) if found.form.annotation else call.node
        if found.form.of and not _is_of(node, found.form.of):
            return
        if "handlers" in found.form.values and not self._value(found.form.says("handlers"), found):
            return
        methods = self._methods(found)
        paths = self._strings(found, "path")
        wanted = [path for path in paths if found.framework.paths.match(path)]
        if not wanted and "path" in found.form.values:
            written = [each for term in found.form.values["path"] for each in self._value(term, found)]
            name = nodes.base_name(call.receiver)
            known = found.framework.routers.search(name) or any(router.name == name for router in self._routers)
            if not paths and written and known and found.form.says("unknown") != "no":
                self._facts.unknown_routes.append(call.line)
            if paths or written or found.form.says("required") == "yes":
                return
        if found.form.says("absolute"):
            wanted = [f"~{path}" if path.startswith("/") else path for path in wanted]
        prefix = self._prefix_of(nodes.base_name(call.receiver), nodes.start_of(call.node)) if call.receiver else ""
        outer = next(iter(self._strings(found, "prefix")), "")
        own = tuple(self._names(found, "through"))
        start = nodes.start_of(node) if found.form.annotation else call.inner
        end = nodes.end_of(node)
        around = [
            scope
            for scope in self._scopes
            if scope.start <= start < scope.end and not (scope.start == start and scope.end == end)
        ]
        around.sort(key=lambda scope: (scope.start, [-each for each in scope.end]))
        part = next(iter(self._strings(found, "part")), "")
        through = tuple(dict.fromkeys([*(name for scope in around for name in scope.through), *own]))
        line = nodes.start_of(call.node)[0] + 1 if found.form.annotation or found.form.rule else call.line
        replaced = (
            [(found.form.says("method_as"), nodes.declared_name(node))] if "method_as" in found.form.values else []
        )
        endpoints = [
            Endpoint(method_of(method), route, line, through)
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
        self._routes.append((start, end, list(dict.fromkeys(endpoints))))
        self._note(found, own, "route", line)

    def read_resource(self, found: _Found) -> None:
        if not self._is_on(found):
            return
        call, style = found.call, found.form.says("style")
        only, without = (self._strings(found, key) or None for key in ("only", "except"))
        names = [each for each in self._strings(found, "names") if each]
        wanted = actions(only, without, laravel=style == "laravel") - (
            {"new", "edit"} if found.form.says("api") or "apiResource" in call.name else set()
        )
        start, end = call.inner, nodes.end_of(call.node)
        around = sorted(
            (scope for scope in self._scopes if scope.start <= start < scope.end), key=lambda scope: scope.start
        )
        outer = next(iter(self._strings(found, "prefix")), "")
        through = tuple(
            dict.fromkeys([*(name for scope in around for name in scope.through), *self._names(found, "through")])
        )
        param = next(iter(self._strings(found, "param")), "id")
        several = call.name != "resource" or style == "laravel"
        found_routes: list[Endpoint] = []
        for name in names:
            name = name.strip("/")
            path = next(iter(self._strings(found, "path")), name).strip("/")
            if style == "laravel":
                *parents, last = path.split(".")
                path = "/".join([*(f"{part}/{{{singular(part)}}}" for part in parents), last])
                key, new = "{" + singular(last.rsplit("/", 1)[-1]) + "}", "create"
            else:
                key, new = (f":{param}" if several else ""), "new"
            for method, route in resource_routes(path, wanted, key, new):
                for full in routes_at(around, "", outer, route, False, ()):
                    found_routes.append(Endpoint(method, full, call.line, through))
            inner = f"{path}/{key.replace(':', f':{singular(name)}_', 1)}" if key else path
            self._scopes.append(
                RouteScope(start, end, (inner,), member=f"{path}/{key}" if key else path, collection=path)
            )
        self._routes.append((start, end, found_routes))
        self._note(found, self._names(found, "through"), "route")

    def read_middleware(self, found: _Found) -> None:
        """At the level that the form says; what stands inside a route or at its function is the route's own."""
        if not self._is_on(found):
            return
        names = self._names(found, "names")
        place = nodes.start_of(found.call.node)
        holder = nodes.holder_of(found.call.node) if found.form.annotation else found.call.node
        if found.form.of and not _is_of(holder, found.form.of):
            return
        if found.form.says("inside") == "routes" and not any(start <= place < end for start, end, _ in self._routes):
            return
        level: Level = "router" if found.form.says("level") == "router" else "application"
        around = [each for each in self._scopes if each.start <= place < each.end] if found.form.says("scoped") else []
        if around:
            level, scope = "router", max(around, key=lambda each: each.start)
            for start, _, endpoints in self._routes:
                if scope.start <= start < scope.end:
                    endpoints[:] = [each.behind(names) for each in endpoints]
        inner = nodes.start_of(holder), nodes.end_of(holder)
        for start, end, endpoints in self._routes:
            is_inside = start <= place < end
            if is_inside or (found.form.annotation and inner[0] <= start and end <= inner[1]):
                level = "route" if is_inside or inner == (start, end) else "router"
                endpoints[:] = [each.behind(names) for each in endpoints]
        if found.form.says("level") == "route":
            level = "route"
        self._note(found, names, level, found.call.node.range().start.line + 1 if found.form.annotation else 0)

    def read_answer(self, found: _Found) -> None:
        if not self._is_on(found):
            return
        place = nodes.start_of(found.call.node)
        if found.form.says("inside") == "routes" and not any(start <= place < end for start, end, _ in self._routes):
            return
        keys: tuple[str, ...] = ()
        for term in found.form.values.get("sent", ()):
            for value in self._value(term, found):
                if not keys and not isinstance(value, str):
                    keys = nodes.keys_of(value)
        if not keys and found.form.says("named") == "True":
            pairs = (nodes.pair_of(node) for node in found.call.arguments)
            keys = tuple(pair[0] for pair in pairs if pair)
        self._facts.answers.append(AnswerPlace(found.form.says("label"), found.call.line, keys))

    def read_event(self, found: _Found) -> None:
        if not self._is_on(found):
            return
        direction: Direction = "handled" if found.form.says("direction") == "handled" else "emitted"
        line = found.call.node.range().start.line + 1 if found.form.annotation or found.form.rule else found.call.line
        for name in self._strings(found, "name"):
            name = name.replace("_", ".") if found.form.says("dots") else name
            if name and name not in _LIFECYCLE:
                self._facts.events.append(SocketEvent(name, line, direction))


_NO_MIDDLEWARE = re.compile(
    r"(^|[._])(router|routes?|Router|Routes)$|^\w+(?:Router|Routes|routes)$|^Use(?:Endpoints|Routing)$|^[^\w$@]*$|\s"
)
# What a connection says of itself is no event of the application.
_LIFECYCLE = frozenset(
    "connection connect disconnect disconnecting connect_error connect_timeout error close open ping pong reconnect "
    "reconnect_attempt reconnect_error reconnect_failed reconnecting listening headers upgrade drain finish end data exit request".split()
)


def _with_methods(paths: Sequence[str], methods: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each path with each method; `GET /items` holds its own."""
    for path in paths:
        method, space, rest = path.partition(" ")
        if space and method.isupper() and not methods:
            yield rest, method
        else:
            yield from ((path, method) for method in methods or ["ANY"])


def _chained(given: Sequence[SgNode]) -> Iterator[str]:
    """The methods of a chain of calls, `get(list).post(add)`."""
    for node in given:
        call = nodes.read_call(nodes.unwrap(node)) if "call" in node.kind() else None
        if call is not None:
            names = [each.name for each in (call, *nodes.calls_before(call))]
            yield from (
                name for name in reversed(names) if re.fullmatch("get|post|put|patch|delete|head|options|any", name)
            )


def _is_of(node: SgNode, of: str) -> bool:
    text = node.kind() + " ".join(
        child.kind() for child in node.children()[:8] if "definition" in child.kind() or "declaration" in child.kind()
    )
    is_type = any(word in text for word in ("class", "interface", "object_declaration", "record"))
    return is_type == (of == "class")


def _known(root: SgNode, kinds: Sequence[str]) -> Iterator[str]:
    """The kinds that the grammar of a tree has."""
    for kind in kinds:
        try:
            root.find(kind=kind)
        except Exception:
            continue
        yield kind


def _select(found: Sequence[SgNode], selector: str | None) -> Iterator[SgNode]:
    """Those of some arguments that a selector means: by place, by slice, by key."""
    positional = [node for node in found if nodes.pair_of(node) is None]
    if selector is None:
        yield from positional
    elif re.fullmatch(r"-?\d+", selector):
        yield from positional[int(selector) :][:1]
    elif ":" in selector:
        start, _, stop = selector.partition(":")
        yield from positional[int(start) if start else None : int(stop) if stop else None]
    elif (option := nodes.option_of(found, selector)) is not None:
        yield option


def _route_of_file(path: str) -> str:
    """The route of a path of files: groups and slots of Next.js and SvelteKit do not show in it."""
    parts = [re.sub(r"^\$", ":", part) for part in path.split("/") if part and not part.startswith(("(", "@", "_"))]
    return "/" + "/".join(parts)
