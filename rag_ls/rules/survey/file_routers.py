"""Reads the routers of a file: how they are made of one another, and which routers of other files they mount."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from rag_ls.rules.survey import declarations, literals, nodes
from rag_ls.rules.survey.file_facts import RouterMount
from rag_ls.rules.survey.nodes import Call, Offset
from rag_ls.rules.survey.routes import join_routes, plain_path
from rag_ls.rules.survey.terms import FormTerms, FoundForm

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_STATEMENT = re.compile(
    r"(?m)^[ \t]*(?:from\b[^\n(]*\bimport[ \t]*(?:\([^)]*\)|[^\n(]*)|import\s*(?:\w+\s*,\s*)?\{[^}]*\}"
    r"|import\b[^;'\"(]*?(?:\bfrom\b|$)|(?:const|let|var)\b([^\n=]*)=[^\n]*\brequire\()"
)
"""A statement that imports names, from its line's start; those of Python and JavaScript may have several lines."""
_HELD = re.compile(r"this\.\w+\.\w+")

_UNNAMED = "router"
"""The name of a router that calls are chained to, and that no variable holds."""


@dataclass(frozen=True, slots=True)
class Router:
    """Something that routes are put on, under the name of its variable."""

    name: str
    outer: str
    prefix: str
    start: Offset
    end: Offset
    through: tuple[str, ...] = ()
    is_apart: bool = False
    """Whether it is an application of its own, which the middleware of the outer one's routes does not reach."""


def through_of(chain: Sequence[Router]) -> tuple[str, ...]:
    """The middleware before the routes of the last router of a chain."""
    last = max((at for at, each in enumerate(chain) if each.is_apart), default=0)
    return tuple(dict.fromkeys(name for each in chain[last:] for name in each.through))


class FileRouters:
    """The routers of one file."""

    def __init__(self, terms: FormTerms) -> None:
        self._terms = terms
        self._routers: list[Router] = []
        self._mounts: list[tuple[str, Offset, RouterMount]] = []
        """Each with the router that it stands at, whose own prefix may be read later."""

    @cached_property
    def _imports(self) -> dict[str, re.Match[str]]:
        """The first statement that imports each name."""
        found: dict[str, re.Match[str]] = {}
        for statement in _STATEMENT.finditer(self._terms.text):
            for name in re.findall(r"\w+", statement[1] or statement[0].partition("import")[2]):
                found.setdefault(name, statement)
        return found

    def _router_at(self, name: str, start: Offset) -> Router | None:
        """The router of a name that was made last before a place."""
        named = [router for router in self._routers if router.name == name]
        return max(
            (router for router in named if router.start <= start),
            key=lambda each: each.start,
            default=named[0] if named else None,
        )

    def chain_of(self, name: str, start: Offset) -> list[Router]:
        """The router of a name, after those that it was made from."""
        found: list[Router] = []
        router = self._router_at(name, start)
        while router is not None and len(found) <= len(self._routers):
            found.insert(0, router)
            outer = [
                each
                for each in self._routers
                if each.name == router.outer and each is not router and each.start < router.start
            ]
            router = outer[-1] if router.outer and outer else None
        return found

    def router_around(self, place: Offset) -> str:
        """The router among whose arguments a place is; "" for none."""
        return next((each.name for each in self._routers if each.start < place < each.end), "")

    def has(self, name: str) -> bool:
        return any(router.name == name for router in self._routers)

    def name_called_on(self, call: Call) -> str:
        """The name of what a call is on: that of the router which its chain begins by making, or the chain's first."""
        start = nodes.start_of(call.node)
        made = (each.name for each in self._routers if each.start == start and each.end < call.inner)
        return next(made, "") or nodes.base_name(call.receiver)

    def mounts(self) -> list[RouterMount]:
        """The mounts, below what the routers around them have."""
        found = []
        for name, start, mount in self._mounts:
            on = self.chain_of(name, start)
            prefix = join_routes(*(each.prefix for each in on), mount.prefix)
            through = mount.through if mount.apart else tuple(dict.fromkeys([*through_of(on), *mount.through]))
            own = (on[0].outer or on[0].name) if on else name
            is_apart = mount.apart or any(each.is_apart for each in on)
            found.append(replace(mount, prefix=prefix, through=through, own=own, apart=is_apart))
        return found

    def put_before(self, name: str, start: Offset, end: Offset, through: Sequence[str]) -> None:
        """Put middleware before what is mounted on a router between two places."""
        self._mounts = [
            (
                on,
                at,
                replace(mount, through=tuple(dict.fromkeys([*mount.through, *through])))
                if on == name and start < at < end
                else mount,
            )
            for on, at, mount in self._mounts
        ]

    def add_router(self, found: FoundForm) -> None:
        """Take in a router, and what it was made of."""
        is_chained = next(nodes.calls_after(found.call), None) is not None
        name = declarations.assigned_name(found.call.node) or (_UNNAMED if is_chained else "")
        prefix = next(iter(self._terms.prefixes(found)), "")
        through = tuple(self._terms.names(found, "through"))
        if name:
            given = (
                self._terms.value(found.form.says("made_of"), found)
                if "made_of" in found.form.values
                else [found.call.receiver]
            )
            base = next((nodes.base_name(each) for each in given if not isinstance(each, str)), "")
            start, end = nodes.start_of(found.call.node), nodes.end_of(found.call.node)
            self._routers.append(Router(name, base, prefix, start=start, end=end, through=through))

    def add_mount(self, found: FoundForm) -> None:
        """Take in a mount: of routers of this file, of another one, or of the files of a folder."""
        prefixes = [plain_path(each) for each in self._terms.prefixes(found)] or [""]
        prefix = prefixes[0]
        through = tuple(self._terms.names(found, "through"))
        start = nodes.start_of(found.call.node)
        is_apart = bool(found.form.says("apart"))
        own = (
            declarations.assigned_name(found.call.node)
            or nodes.base_name(found.call.receiver)
            or self.router_around(start)
        )
        if "folder" in found.form.values:
            folder = "/".join(self._terms.texts_in(found, "folder"))
            self._mounts += [(own, start, RouterMount(prefix, "", 0, folder=folder, through=through))] if folder else []
            return
        given = self._routers_given(found)
        modules = [text for node in given for text in literals.strings_of(node)[:1] if "router" in found.form.values]
        self._mounts += [(own, start, RouterMount(prefix, "", 0, through=through, module=module)) for module in modules]
        names = {name for node in given if (name := _first_name(node))}
        for node in given if not any(map(self.has, names)) else ():
            name = _first_name(node)
            if mount := self._imported_by(name, node):
                # The router's own name is no middleware.
                before = tuple(each for each in through if each.partition(".")[0] != name)
                mount = replace(mount, through=before, apart=is_apart)
                self._mounts += [(own, start, replace(mount, prefix=each)) for each in prefixes]
        for index, router in enumerate(self._routers):
            if router.name in names - {own}:
                below = join_routes(prefix, router.prefix) if prefix else router.prefix
                before = tuple(each for each in through if each.partition(".")[0] != router.name)
                behind = (*before, *router.through)
                self._routers[index] = replace(
                    router, prefix=below, outer=router.outer or own, through=behind, is_apart=is_apart
                )

    def _routers_given(self, found: FoundForm) -> list[SgNode]:
        """The expressions of a mount that may be routers."""
        if "router" in found.form.values:
            given = [self._terms.value(term, found) for term in found.form.values["router"]]
            return [node for each in given for node in each if not isinstance(node, str)]
        return [
            node for node in found.call.arguments if not literals.is_string(node) and literals.pair_of(node) is None
        ]

    def _imported_by(self, name: str, node: SgNode) -> RouterMount | None:
        """The mount of a name that a statement of the file imports, or makes of an import; None where there is none."""
        member = re.match(r"(?:(?:this|self)\.)?\w+\.(\w+)", node.text())
        if name == "require":
            return RouterMount("", "", nodes.start_of(node)[0] + 1)
        if _HELD.fullmatch(node.text()):
            # A class of another file holds its router.
            made = re.search(rf"\b{name}\s*=\s*new\s+(\w+)\(", self._terms.text)
            name = made[1] if made else name
        found = self._imports.get(name)
        if found is None:
            return None
        original = re.search(rf"(\w+)\s+as\s+{name}\b", found[0])
        own = original[1] if original else name
        beside = tuple(set(re.findall(r"\w+", found[0].partition("import")[2])) - {own, name})
        line = self._terms.text.count("\n", 0, found.start()) + 1
        return RouterMount("", own, line, member=member[1] if member else "", beside=beside)


def _first_name(node: SgNode) -> str:
    """The name that an expression begins with: `users` of `users.router`, `router` of `this.router.routes()`."""
    found = re.match(r"(?:this|self)\.(\w+)|(\w+)", node.text())
    return found[1] or found[2] if found else ""
