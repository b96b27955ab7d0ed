"""Routers that functions of Rust return and those of Kotlin extend: `Router::new().nest("/users", users::router())`, `users()`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_ls.rules.survey import declarations, literals, nodes
from rag_ls.rules.survey.file_facts import HandedRouter
from rag_ls.rules.survey.routes import RouteScope, join_routes, plain_path

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_MAX_STEPS = 20
_MAX_HEAD = 150
_EXTENDING = re.compile(r"\bfun\s+(?:<[^>]*>\s*)?(?:\w+\.)*(?:Route|Routing|Application)\.\w+")
_ROOTS = ("lib.rs", "main.rs", "mod.rs")


@dataclass(slots=True)
class NestedRouter:
    """A router that is nested, with the places where the expressions begin that it is part of."""

    handed: HandedRouter
    starts: tuple[nodes.Offset, ...]

    def is_in_chain(self, start: nodes.Offset, end: nodes.Offset) -> bool:
        """Whether it is part of a chain of calls."""
        return any(start <= each < end for each in self.starts)


def unit_of(node: SgNode) -> str:
    """The name for the routers of the function around a place, or of the function that an attribute stands at."""
    function = declarations.holder_of(node) if node.kind() == "attribute_item" or nodes.is_annotation(node) else node
    while function is not None and function.kind() not in ("function_item", "function_declaration"):
        function = function.parent()  # type: ignore[assignment]
    if function is None:
        return ""
    # The name of a function of Kotlin stands after the type that it extends.
    own = next((each.text() for each in nodes.children_of(function) if each.kind() == "simple_identifier"), "")
    return f"@{own or declarations.declared_name(function)}"


def extends_routes(text: str) -> bool:
    """Whether a file of Kotlin has functions that put routes on what they extend."""
    return bool(_EXTENDING.search(text))


def find_extending_calls(root: SgNode, scopes: Sequence[RouteScope]) -> Iterator[HandedRouter]:
    """The calls of Kotlin that may put routes on the router around them, in the scopes where they stand."""
    for node in root.find_all(kind="call_expression"):
        call = nodes.read_call(node)
        if call is None or call.receiver is not None or not call.name[:1].islower():
            continue
        around = [each for each in scopes if each.start <= call.inner < each.end]
        if around or ((unit := unit_of(node)) and _EXTENDING.search(_head_of(node, unit))):
            prefix = join_routes(*(plain_path(each.paths[0]) for each in around))
            through = tuple(dict.fromkeys(name for each in around for name in each.through))
            yield HandedRouter(function=call.name, holder="", at=0, prefix=prefix, own=unit_of(node), through=through)


def _head_of(node: SgNode, unit: str) -> str:
    """The beginning of the function around a place."""
    function = next((each for each in node.ancestors() if each.kind() == "function_declaration"), None)
    return function.text()[: _MAX_HEAD + len(unit)] if function is not None else ""


def named_functions(node: SgNode) -> Iterator[tuple[str, nodes.Offset]]:
    """The functions that an expression gets routers from, each with the place where it is named."""
    for _ in range(_MAX_STEPS):
        node = literals.unwrap(node)
        callee = node.field("function") if node.kind() == "call_expression" else None
        if callee is not None and callee.kind() == "field_expression" and (value := callee.field("value")):
            node = value
        elif callee is not None:
            yield callee.text(), nodes.start_of(node)
            return
        elif node.kind() == "macro_invocation":
            for path in re.findall(r"[\w:]+", node.text().partition("!")[2]):
                yield path, nodes.start_of(node)
            return
        elif node.kind() == "identifier" and (given := find_value(node)) is not None:
            node = given
        else:
            if node.kind() in ("identifier", "scoped_identifier"):
                yield node.text(), nodes.start_of(node)
            return


def find_value(name: SgNode) -> SgNode | None:
    """The expression that a variable of the same function was made with, before a place that names it."""
    function = declarations.function_around(name)
    made = function.find_all(kind="let_declaration") if function is not None else ()
    before = [
        each for each in made
        if (pattern := each.field("pattern")) and pattern.text() == name.text() and nodes.end_of(each) <= nodes.start_of(name)
    ]  # fmt: skip
    return before[-1].field("value") if before else None


def choose_file(importer: str, holder: str, files: Sequence[str]) -> str:
    """The file that a function of a module is declared in, of those that have one of its name; "" where that does not show."""
    module = holder.rpartition("::")[2]
    if module in ("", "self", "Self"):
        return importer if importer in files else files[0] if len(files) == 1 else ""
    named = [path for path in files if _module_of(path) == module]
    named = named or [path for path in files if _module_of(path) in holder.split("::")]
    if not named and module in ("super", "crate"):
        named = list(files)
    # Of several crates, the own one is meant.
    return max(named, key=lambda path: len(posixpath.commonprefix((path, importer))), default="")


def _module_of(path: str) -> str:
    folder, name = posixpath.split(path)
    if name not in _ROOTS:
        return name.removesuffix(".rs")
    folder = posixpath.dirname(folder) if posixpath.basename(folder) == "src" else folder
    return posixpath.basename(folder).replace("-", "_")


def choose_package(importer: str, files: Sequence[str]) -> str:
    """The file of a function of Kotlin: the only one, else the own one, or one of the same package."""
    beside = [path for path in files if posixpath.dirname(path) == posixpath.dirname(importer)]
    return importer if importer in files else next((each[0] for each in (files, beside) if len(each) == 1), "")
