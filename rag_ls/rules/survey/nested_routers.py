"""Routers that functions of Rust return, and that others nest: `Router::new().nest("/users", users::router())`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_ls.rules.survey import declarations, literals, nodes
from rag_ls.rules.survey.file_facts import HandedRouter

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_MAX_STEPS = 20
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
    while function is not None and function.kind() != "function_item":
        function = function.parent()  # type: ignore[assignment]
    return f"@{declarations.declared_name(function)}" if function is not None else ""


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
