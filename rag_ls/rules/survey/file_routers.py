"""Reads the routers of a file: how they are made of one another, and which routers of other files they mount."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
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
_HOLDING = re.compile(r"(?:this\.)?\w+(?:\.\w*(?:[rR]outer|[rR]outes?|[aA]pp|[aA]pi))?")
"""A variable, or the member of an object that is a router."""

_MAX_CHAINS = 8
"""As many places at which a router is mounted are told, and as many routers within one another are followed."""
_IMPORTING = (".py", ".js", ".ts", ".mjs", ".cjs")
"""The ends of files that import routers by name."""
_SHARING = ("assignment_statement", "var_spec")
"""The statements of Go that give a value to a variable of the package."""
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
    joined_at: Offset = (0, 0)
    """The place at which the outer one is known: where the router is made of it, or mounted on it."""
    bare: Router | None = None
    """The router as it was before it was mounted; None for one that is not mounted."""


def through_of(chain: Sequence[Router]) -> tuple[str, ...]:
    """The middleware before the routes of the last router of a chain."""
    last = max((at for at, each in enumerate(chain) if each.is_apart), default=0)
    return tuple(dict.fromkeys(name for each in chain[last:] for name in each.through))


class FileRouters:
    """The routers of one file."""

    def __init__(self, terms: FormTerms) -> None:
        self._terms = terms
        self._routers: list[Router] = []
        self._shared: list[Router] = []
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
        """The router of a name, after those that it was made from; of several places where it is mounted, the first."""
        return next(iter(self.chains_of(name, start)), [])

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

    def made_in(self, start: Offset, end: Offset) -> frozenset[str]:
        """The names of the routers that are made in an expression."""
        return frozenset(each.name for each in self._routers if start <= each.start and each.end <= end)

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
            base = on[0].prefix if on else ""
            found.append(replace(mount, prefix=prefix, base=base, through=through, own=own, apart=is_apart))
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
        named = [
            each if isinstance(each, str) else each.text() for each in self._terms.value(found.form.says("name"), found)
        ]
        own = next(iter(named), "") or declarations.assigned_name(found.call.node)
        name = own or (_UNNAMED if is_chained else "")
        prefix = next(iter(self._terms.prefixes(found) or self._terms.mark_made_path(found)), "")
        through = tuple(self._terms.names(found, "through"))
        if name:
            given = (
                self._terms.value(found.form.says("made_of"), found)
                if "made_of" in found.form.values
                else [found.call.receiver]
            )
            base = next((nodes.base_name(each) for each in given if not isinstance(each, str)), "")
            start, end = nodes.start_of(found.call.node), nodes.end_of(found.call.node)
            router = Router(name, base, prefix, start=start, end=end, through=through, joined_at=start)
            self._routers.append(router)
            is_go = self._terms.path.endswith(".go")
            parent = found.call.node.parent()
            holder = parent.parent() if parent is not None and is_go else None
            if (holder is not None and holder.kind() in _SHARING) or (own and self._terms.path.endswith(_IMPORTING)):
                self._shared.append(router)

    def find_shared(self) -> dict[str, RouterMount]:
        """The routers in variables that other files of the package may use, each with what it is below."""
        found = {}
        for each in self._shared:
            chain = self.chain_of(each.name, each.start)
            prefix, outer = join_routes(*(one.prefix for one in chain)), chain[0].outer or chain[0].name
            found[each.name] = RouterMount(prefix, "", 0, own=outer, through=through_of(chain), base=chain[0].prefix)
        return found

    def find_borrowed(self, names: Iterable[str]) -> dict[str, int]:
        """Those of some names of routers that the file imports, each with the line of the import."""
        imported = {name: self._imports[name] for name in names if name in self._imports and not self.has(name)}
        return {name: self._terms.text.count("\n", 0, found.start()) + 1 for name, found in imported.items()}

    def add_mount(self, found: FoundForm, outer: str, before: Sequence[str]) -> None:
        """Take in a mount: of routers of this file, of another one, or of the files of a folder.

        `outer` is the prefix, and `before` the middleware, that the scopes around it give.
        """
        prefixes = [plain_path(each) for each in self._terms.prefixes(found)] or [""]
        prefixes = [join_routes(outer, each) for each in prefixes] if outer else prefixes
        prefix = prefixes[0]
        through = (*before, *self._terms.names(found, "through"))
        start = nodes.start_of(found.call.node)
        is_apart = bool(found.form.says("apart"))
        replaces = found.form.says("replaces") == "yes" and bool(self._terms.prefixes(found))
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
                mount = replace(mount, through=before, apart=is_apart, replaces=replaces)
                self._mounts += [(own, start, replace(mount, prefix=each)) for each in prefixes]
        for router in filter(None, (self._router_at(name, start) for name in names - {own})):
            bare = router.bare or router
            below = join_routes(prefix, "" if replaces else bare.prefix) if prefix or replaces else bare.prefix
            behind = (*(each for each in through if each.partition(".")[0] != bare.name), *bare.through)
            outer_name = bare.outer or own
            mounted = replace(bare, prefix=below, outer=outer_name, through=behind, is_apart=is_apart, joined_at=start)
            mounted = replace(mounted, bare=bare)
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

    def _imported_by(self, name: str, node: SgNode) -> RouterMount | None:
        """The mount of a name that a statement of the file imports, or makes of an import; None where there is none."""
        member = re.match(r"(?:(?:this|self)\.)?\w+\.(\w+)", node.text())
        if name == "require":
            return RouterMount("", "", nodes.start_of(node)[0] + 1)
        is_made = name not in self._imports or _HELD.fullmatch(node.text())
        made = re.search(rf"\b{name}\s*=\s*(new\s+)?(\w+)[\w.]*\(", self._terms.text) if is_made else None
        if made and not made[1]:
            name, member = made[2], None
        elif made and _HOLDING.fullmatch(node.text()):
            # Other members of an object are its middleware.
            name = made[2]
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
