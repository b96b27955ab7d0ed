"""Routers that Go hands to functions of other files: where they are made, and the functions that put routes on them."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_ls.rules.survey import declarations, literals, nodes
from rag_ls.rules.survey.file_facts import FileFacts, HandedRouter
from rag_ls.rules.survey.file_routers import FileRouters, Router, through_of
from rag_ls.rules.survey.mapped_routers import choose_methods
from rag_ls.rules.survey.nested_routers import choose_file, choose_package
from rag_ls.rules.survey.registrars import parameters_of
from rag_ls.rules.survey.routes import RouteScope, join_routes

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_ROUTER = r"\b(?:\w*Router\w*|\w*Group|Engine|Echo|\w*Mux|App|Party)\b"
_FRAMEWORKS_ROUTER = re.compile(r"\b(?:gin|echo|fiber|chi|iris|mux)\.(?:I?Router\w*|Group|Engine|Echo|App|Mux|Party)\b")
_METHOD = "()"
_EXPORTED = re.compile("[A-Z]")
_SPLITS = re.compile("Group|Party|PathPrefix|With")


def may_hand(text: str) -> bool:
    """Whether a Go file names the type of a framework's router, so that it may hand one on."""
    return bool(_FRAMEWORKS_ROUTER.search(text))


def find_takers(root: SgNode) -> dict[str, tuple[str, ...]]:
    """The functions of a Go file that take a router, each with its parameters."""
    kinds = ("function_declaration", "method_declaration")
    found = root.find_all(any=[{"kind": kind, "has": {"field": "parameters", "regex": _ROUTER}} for kind in kinds])
    # A method has a mark: a call on a value means none of a package's functions.
    return {
        declarations.declared_name(node) + _METHOD * (node.kind() == "method_declaration"): tuple(parameters_of(node))
        for node in found
    }


@dataclass(frozen=True, slots=True)
class UsedMiddleware:
    """Middleware of a router, and the part of the file in which it stands before what comes after it."""

    router: str
    start: nodes.Offset
    end: nodes.Offset
    names: tuple[str, ...]


def middleware_before(used: Sequence[UsedMiddleware], routers: Collection[str], place: nodes.Offset) -> tuple[str, ...]:
    """The middleware that stands before what is put on some routers at a place."""
    found = (name for each in used if each.router in routers and each.start < place < each.end for name in each.names)
    return tuple(dict.fromkeys(found))


def _named_function(node: SgNode) -> SgNode | None:
    """The function with a name around a place: the router of an inner function is the outer one's, below a prefix."""
    function = declarations.function_around(node)
    while function is not None and not function.field("name"):
        function = declarations.function_around(function)
    return function


def without_shadowed(chain: list[Router], node: SgNode) -> list[Router]:
    """The routers of a chain below the last whose name is, at a place of a Go file, a parameter: that one is made elsewhere."""
    function = _named_function(node)
    parameters = parameters_of(function) if function is not None and chain else ()
    for at in reversed(range(len(chain))):
        if function is not None and chain[at].name in parameters and chain[at].start < nodes.start_of(function):
            return chain[at + 1 :]
    return chain


def router_at(name: str, node: SgNode) -> str:
    """A router's name at a place of a Go file: a parameter is its function's own."""
    function = _named_function(node)
    is_parameter = function is not None and name in parameters_of(function)
    return f"{name}@{declarations.declared_name(function)}" if function is not None and is_parameter else name


def find_handed(
    root: SgNode, routers: FileRouters, scopes: Sequence[RouteScope], used: Sequence[UsedMiddleware]
) -> Iterator[HandedRouter]:
    """The calls of a Go file that give a router to a function, which may put routes on it."""
    imported = "\n".join(each.text() for each in root.find_all(kind="import_declaration"))
    for node in root.find_all(kind="call_expression"):
        call = nodes.read_call(node)
        for at, given in enumerate(call.arguments if call else ()):
            split = nodes.read_call(given) if given.kind() == "call_expression" else None
            if call is None or not (given.kind() == "identifier" or (split and _SPLITS.fullmatch(split.name))):
                continue
            name, start = nodes.base_name(given), nodes.start_of(node)
            chain = without_shadowed(routers.chain_of(name, start), node)
            own = router_at((chain[0].outer or chain[0].name) if chain else name, node)
            is_shared = not chain and "@" not in own and split is None
            if is_shared and call.receiver is None and not _EXPORTED.match(name):
                continue
            prefixes = [each.paths[0] for each in scopes if each.start <= start < each.end and each.paths]
            prefixes += [each.prefix for each in chain]
            prefixes += [text for each in (split.arguments if split else ()) for text in literals.strings_of(each)[:1]]
            through = (
                *through_of(chain),
                *middleware_before(used, {name for each in chain for name in (each.name, each.outer)}, start),
            )
            holder = nodes.base_name(call.receiver) if call.receiver else ""
            is_method = holder and not re.search(
                rf"\b{re.escape(holder)}\s+\"|\b{re.escape(holder)}(?:/v\d+)?\"", imported
            )
            yield HandedRouter(
                function=call.name + _METHOD * bool(is_method), holder=holder, at=at, prefix=join_routes(*prefixes), own=own,
                through=through,
                is_shared=is_shared,
            )  # fmt: skip


class HandedRouters:
    """The routers that the files of a project hand to one another."""

    def __init__(self, facts: Mapping[str, FileFacts], folders_of: Mapping[str, set[str]]) -> None:
        """`folders_of` has the folders that each file imports."""
        self._takers: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        self._folders_of = folders_of
        for path, each in facts.items():
            for name, parameters in each.takers.items():
                self._takers[name].append((path, parameters))

    def find_places(self, path: str, handed: HandedRouter) -> Iterator[tuple[str, str]]:
        """The files that a router comes to, each with the router's name there."""
        function = handed.function.removesuffix(_METHOD)
        holder = handed.holder.lower().replace("_", "")
        every = self._takers.get(handed.function, [])
        if not every and handed.function.endswith(_METHOD):
            # The package of a function may have another name than its folder.
            every = [each for each in self._takers.get(function, []) if _package_of(each[0]) in holder]
        if path.endswith(".cs"):
            chosen = choose_methods(path, handed.holder, [each for each, _ in every])
            yield from ((other, f"@{handed.function}") for other in chosen)
            return
        if path.endswith((".rs", ".kt")):
            files = [each for each, _ in every]
            other = choose_file(path, handed.holder, files) if path.endswith(".rs") else choose_package(path, files)
            yield from [(other, f"@{handed.function}")] if other else []
            return
        # `s.userModule.Register(group)` means the package `user`, not `userlist`.
        named = [each for each in every if _package_of(each[0]) in holder]
        near = {posixpath.dirname(path), *self._folders_of.get(path, ())}
        among = sorted(named, key=lambda each: -len(_package_of(each[0])))
        among = among or [each for each in every if posixpath.dirname(each[0]) in near]
        for other, parameters in among[:1]:
            if handed.at < len(parameters):
                yield other, f"{parameters[handed.at]}@{function}"


def _package_of(path: str) -> str:
    folder = posixpath.basename(posixpath.dirname(path)).lower()
    return re.sub("[_-]", "", folder) or "main"
