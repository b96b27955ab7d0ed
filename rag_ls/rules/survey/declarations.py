"""Finds the declarations around a place of a syntax tree, alike in every language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from rag_ls.rules.survey import nodes

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_ANNOTATING = (*nodes.ANNOTATIONS, "attribute_item", "attribute_list", "attribute_group", "modifiers")
_LOOP = re.compile(
    r"^(for|foreach|while|enhanced_for|for_in|for_each|list_comprehension)\w*(statement|expression|loop|comprehension)?$"
)
_TYPE = re.compile(r"^(?:class|interface|record|object|enum|struct|trait)_(?:declaration|definition)$|^class$")
_DERIVED = re.compile(r"(?:\bextends|[\w>)]\s*:)\s*(?!(?:Controller|ControllerBase|ApiController)\b)\w")
_FUNCTIONS = (
    "function_item", "function_declaration", "function_definition", "variable_declarator", "method_declaration",
)  # fmt: skip
_LOOP_CALLS = frozenset({"forEach", "map", "each", "flatMap", "each_with_index"})


def holder_of(node: SgNode) -> SgNode:
    """The declaration that an annotation stands at."""
    holder = node
    while (parent := holder.parent()) is not None and holder.kind() in _ANNOTATING:
        following = next(
            (
                each
                for each in holder.next_all()
                if each.is_named() and each.kind() not in (*_ANNOTATING, "comment", "line_comment")
            ),
            None,
        )
        if holder.kind() in ("decorator", "attribute_item") and following is not None:
            return holder.parent() if parent.kind() == "decorated_definition" else following  # type: ignore[return-value]
        holder = parent
    return holder


def function_around(node: SgNode) -> SgNode | None:
    """The innermost function that a place is in; None for one at the top of its file."""
    while (parent := node.parent()) is not None:
        if re.search(r"function|func_literal|method_declaration|lambda", parent.kind()):
            return parent
        node = parent
    return None


def is_in_inner_function(node: SgNode, start: nodes.Offset) -> bool:
    """Whether a place is in a function within another one that begins at, or after, an offset."""
    inner = function_around(node)
    outer = function_around(inner) if inner is not None else None
    return outer is not None and nodes.start_of(outer) >= start


def types_around(node: SgNode) -> tuple[nodes.Offset, ...]:
    """The starts of the classes that a place is in, the innermost first."""
    return tuple(nodes.start_of(each) for each in node.ancestors() if _TYPE.search(each.kind()))


def is_derived(node: SgNode) -> bool:
    """Return whether the class around a place has a base that is none of its framework's."""
    around = next((each for each in node.ancestors() if _TYPE.search(each.kind())), None)
    head = around.text().partition("{")[0] if around is not None else ""
    return bool(_DERIVED.search(re.sub(r"\([^()]*\)|\"[^\"]*\"", "", head)))


def parameters_of(function: SgNode) -> list[str]:
    """Return the names of the parameters of a function of Go."""
    parameters = function.field("parameters")
    given = (child for each in nodes.children_of(parameters) for child in nodes.children_of(each)) if parameters else ()
    return [child.text() for child in given if child.kind() == "identifier"]


def is_in_loop(node: SgNode) -> bool:
    """Whether a place is run for each of several values."""
    child = node
    while (parent := child.parent()) is not None:
        if _LOOP.search(parent.kind()):
            return True
        call = nodes.read_call(parent) if parent.kind() in ("call", "call_expression") else None
        if call is not None and call.receiver is None and call.name == "for":
            # Elixir's `for` is a call.
            return True
        if call is not None and call.receiver is not None and call.name in _LOOP_CALLS:
            return call.receiver.range().end.index < child.range().start.index
        child = parent
    return False


def annotations_beside(node: SgNode) -> Iterator[nodes.Call]:
    """The other annotations of the declaration that an annotation stands at; in TypeScript they stand before it."""
    holder = holder_of(node)
    before = takewhile(lambda each: each.kind() in ("decorator", "comment"), holder.prev_all())
    for child in (*before, *holder.children()):
        every = [child, *child.children()] if child.kind() in _ANNOTATING else []
        yield from (found for each in every if nodes.is_annotation(each) and (found := nodes.read_call(each)))


def declared_name(node: SgNode) -> str:
    """The name of a class or a function."""
    inner = node.field("definition") or node.field("declaration") or node
    name = inner.field("name") or next((each for each in nodes.children_of(inner) if "identifier" in each.kind()), None)
    return name.text() if name else ""


def members_of(node: SgNode) -> list[str]:
    """The names of the functions of a class in Python; none of another declaration."""
    inner = node.field("definition") or node
    body = inner.field("body") if inner.kind() == "class_definition" else None
    return [declared_name(each) for each in nodes.children_of(body) if "definition" in each.kind()] if body else []


def assigned_name(node: SgNode) -> str:
    """The variable that a value is assigned to; "" where there is none."""
    child = node
    for _ in range(nodes.MAX_CHAIN):
        parent = child.parent()
        if parent is None:
            return ""
        target = parent.field("name") or parent.field("left") or parent.field("pattern")
        if target is None and parent.kind() in ("variable_declarator", "property_declaration"):
            target = next(
                (
                    each
                    for each in nodes.children_of(parent)
                    if "identifier" in each.kind() or each.kind() == "variable_declaration"
                ),
                None,
            )
        if (
            target is not None
            and target.text() == "module.exports"
            and (outer := parent.parent())
            and outer.field("name")
        ):
            # `const router = module.exports = Router()`
            child = parent
            continue
        if target is not None and parent.kind() not in ("call", "argument", *nodes.MEMBERS):
            return nodes.last_word(target) if target.range().start.index < node.range().start.index else ""
        if parent.kind() not in (
            "tuple",
            "await_expression",
            "expression_list",
            "as_expression",
            "parenthesized_expression",
            "await",
        ) and not ("call" in parent.kind() or parent.kind() in nodes.MEMBERS or "invocation" in parent.kind()):
            return ""
        child = parent
    return ""


def value_of(node: SgNode) -> SgNode:
    """The value that a file of JavaScript or Java gives the variable that a node is; the node itself for anything else."""
    root = node.get_root().root()
    if node.kind() != "identifier" or root.kind() != "program" or "variable_declarator" not in _known_kinds(root):
        return node
    made = root.find(kind="variable_declarator", has={"field": "name", "regex": f"^{re.escape(node.text())}$"})
    return (made.field("value") if made is not None else None) or node


def find_function(root: SgNode, name: str) -> SgNode | None:
    """The function of a file that has a name."""
    if not re.fullmatch(r"\w+", name):
        return None
    return root.find(
        {
            "rule": {
                "any": [{"kind": kind} for kind in _known_kinds(root)],
                "has": {"field": "name", "regex": f"^{name}$"},
            }
        }
    )


def _known_kinds(root: SgNode) -> Iterator[str]:
    """The kinds of functions that the grammar of a tree has."""
    for kind in _FUNCTIONS:
        try:
            root.find(kind=kind)
        except Exception:
            continue
        yield kind
