"""Routers that ASP.NET hands to methods: `group.MapUsers()`, `Users.Map(group)`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rag_ls.rules.survey import declarations, literals, nodes
from rag_ls.rules.survey.file_facts import HandedRouter
from rag_ls.rules.survey.file_routers import FileRouters, through_of
from rag_ls.rules.survey.routes import join_routes

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_ROUTER = re.compile(r"\b(?:IEndpointRouteBuilder|RouteGroupBuilder|WebApplication)\s+(\w+)")
_METHODS = ("method_declaration", "local_function_statement")


def has_routers(text: str) -> bool:
    """Whether a file of C# makes routers, or has methods that take one."""
    return "MapGroup(" in text or bool(_ROUTER.search(text))


def find_mapping_methods(root: SgNode) -> dict[str, tuple[str, ...]]:
    """The methods that take a router."""
    every = (node for kind in _METHODS for node in root.find_all(kind=kind))
    return {declarations.declared_name(node): ("",) for node in every if _router_of(node)}


def method_router(name: str, node: SgNode) -> str:
    """The name of a router at a place: one that a method takes is the method's own."""
    for each in node.ancestors():
        if each.kind() in _METHODS and _router_of(each) == name:
            return f"@{declarations.declared_name(each)}"
    return name


def _router_of(method: SgNode) -> str:
    """The parameter of a method that is a router; "" for none."""
    parameters = method.field("parameters")
    found = _ROUTER.search(parameters.text()) if parameters is not None else None
    return found[1] if found else ""


def find_mapped(root: SgNode, routers: FileRouters) -> Iterator[HandedRouter]:
    """The calls that give a router to a method, which may put routes on it."""
    for node in root.find_all(kind="invocation_expression"):
        call = nodes.read_call(node)
        if call is None or call.receiver is None:
            continue
        for given in (call.receiver, *map(literals.unwrap, call.arguments)):
            is_receiver = given is call.receiver
            name = routers.name_called_on(call) if is_receiver else nodes.base_name(given)
            chain = routers.chain_of(name, nodes.start_of(node))
            own = method_router((chain[0].outer or chain[0].name) if chain else name, node)
            if not chain and not own.startswith("@"):
                continue
            holder = "" if is_receiver else nodes.base_name(call.receiver)
            prefix = join_routes(*(each.prefix for each in chain))
            yield HandedRouter(
                function=call.name, holder=holder, at=0, prefix=prefix, own=own, through=through_of(chain)
            )


def choose_methods(importer: str, holder: str, files: Sequence[str]) -> list[str]:
    """The files of a method, of those that have one of its name: that of a class, the only one, or all that a loop calls."""
    named = [path for path in files if posixpath.basename(path).removesuffix(".cs") == holder]
    if named or holder[:1].isupper():
        return named[:1] or (list(files) if len(files) == 1 else [])
    return [path for path in files if path != importer] or list(files)
