"""Reads the routers of a file: how they are made of one another, and where they are mounted on one another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from rag_ls.rules.survey import declarations, literals, nodes
from rag_ls.rules.survey.nodes import Call, Offset
from rag_ls.rules.survey.routes import join_routes, plain_path
from rag_ls.rules.survey.terms import FormTerms, FoundForm
from rag_ls.util.records import dataclass, replace

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_MAX_CHAINS = 8
"""As many places at which a router is mounted are told, and as many routers within one another are followed."""
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
    joined_at: Offset = (0, 0)
    """The place at which the outer one is known: where the router is made of it, or mounted on it."""
    bare: Router | None = None
    """The router as it was before it was mounted; None for one that is not mounted."""
    is_application: bool = False
    """Whether it is the application itself, which no other file mounts."""


class FileRouters:
    """The routers of one file."""

    def __init__(self, terms: FormTerms) -> None:
        self._terms = terms
        self._routers: list[Router] = []

    def _router_at(self, name: str, start: Offset) -> Router | None:
        """The router of a name that was made last before a place."""
        named = [router for router in self._routers if router.name == name]
        return max(
            (router for router in named if router.start <= start),
            key=lambda each: each.start,
            default=named[0] if named else None,
        )

    def prefix_of(self, name: str, start: Offset) -> str:
        """Return the prefix of a router with that of those that it was made from; of several places where it is mounted, the first."""
        chain = next(iter(self.chains_of(name, start)), [])
        return join_routes(*(each.prefix for each in chain))

    def chains_of(self, name: str, start: Offset) -> list[list[Router]]:
        """The router of a name, after those that it was made from, once for each place where it is mounted."""
        router = self._router_at(name, start)
        return list(islice(self._chains_to(router, ()), _MAX_CHAINS)) if router is not None else []

    def _chains_to(self, router: Router, inner: tuple[Router, ...]) -> Iterator[list[Router]]:
        same = [each for each in self._routers if (each.bare or each) is (router.bare or router)]
        for each in same if len(inner) < _MAX_CHAINS else ():
            outer = self._router_at(each.outer, each.joined_at) if each.outer else None
            if outer is None or outer.start > each.joined_at or (outer.bare or outer) is (each.bare or each):
                yield [each, *inner]
            else:
                yield from self._chains_to(outer, (each, *inner))

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

    def add_router(self, found: FoundForm) -> None:
        """Take in a router, and what it was made of."""
        is_chained = next(nodes.calls_after(found.call), None) is not None
        named = [
            each if isinstance(each, str) else each.text() for each in self._terms.value(found.form.says("name"), found)
        ]
        own = next(iter(named), "") or declarations.assigned_name(found.call.node)
        name = own or (_UNNAMED if is_chained else "")
        prefix = next(iter(self._terms.prefixes(found, made=True)), "")
        if name:
            given = (
                self._terms.value(found.form.says("made_of"), found)
                if "made_of" in found.form.values
                else [found.call.receiver]
            )
            base = next((nodes.base_name(each) for each in given if not isinstance(each, str)), "")
            start, end = nodes.start_of(found.call.node), nodes.end_of(found.call.node)
            is_application = bool(found.form.says("application"))
            router = Router(name, base, prefix, start, end, joined_at=start, is_application=is_application)
            self._routers.append(router)

    def add_mount(self, found: FoundForm, outer: str) -> None:
        """Take in a mount of routers of this file, in scopes that give an outer prefix."""
        prefix = plain_path(next(iter(self._terms.prefixes(found)), ""))
        replaces = found.form.says("replaces") == "yes" and bool(prefix)
        prefix = join_routes(outer, prefix) if outer else prefix
        start = nodes.start_of(found.call.node)
        own = (
            declarations.assigned_name(found.call.node)
            or nodes.base_name(found.call.receiver)
            or self.router_around(start)
        )
        names = {_first_name(node) for node in self._routers_given(found)} - {"", own}
        for router in filter(None, (self._router_at(name, start) for name in names)):
            bare = router.bare or router
            below = join_routes(prefix, "" if replaces else bare.prefix)
            mounted = replace(bare, prefix=below, outer=bare.outer or own, joined_at=start, bare=bare)
            if router.bare is None:
                self._routers[self._routers.index(router)] = mounted
            else:
                self._routers.append(mounted)

    def _routers_given(self, found: FoundForm) -> list[SgNode]:
        """The expressions of a mount that may be routers."""
        if "router" in found.form.values:
            given = [self._terms.value(term, found) for term in found.form.values["router"]]
            every = [node for each in given for node in each if not isinstance(node, str)]
            # Django takes a list of routes together with the name of the application.
            return [nodes.children_of(each)[0] if each.kind() == "tuple" else each for each in every]
        return [
            node for node in found.call.arguments if not literals.is_string(node) and literals.pair_of(node) is None
        ]


def _first_name(node: SgNode) -> str:
    """The name that an expression begins with: `users` of `users.router`, `router` of `this.router.routes()`."""
    found = re.match(r"(?:this|self)\.(\w+)|(\w+)", node.text())
    return found[1] or found[2] if found else ""


def without_shadowed(chain: list[Router], node: SgNode) -> list[Router]:
    """Return the routers of a chain below the last whose name is a parameter at a place of a Go file: that one is made elsewhere."""
    function = declarations.function_around(node)
    while function is not None and not function.field("name"):
        function = declarations.function_around(function)
    parameters = declarations.parameters_of(function) if function is not None and chain else ()
    for at in reversed(range(len(chain))):
        if function is not None and chain[at].name in parameters and chain[at].start < nodes.start_of(function):
            return chain[at + 1 :]
    return chain
