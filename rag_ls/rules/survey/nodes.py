"""Reads the calls and annotations in syntax trees of ast-grep alike in every language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    from ast_grep_py import SgNode

Offset = tuple[int, int]
"""A line and a column, both from 0."""

_JAVASCRIPT = (("call_expression", "function"), ("new_expression", "constructor"))
_CALLS = {
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "python": (("call", "function"),),
    "go": (("call_expression", "function"),),
    "rust": (("call_expression", "function"),),
    "csharp": (("invocation_expression", "function"), ("object_creation_expression", "type")),
    "java": (("method_invocation", "name"), ("object_creation_expression", "type")),
    "kotlin": (("call_expression", ""),),
    "php": (
        ("member_call_expression", "name"),
        ("scoped_call_expression", "name"),
        ("function_call_expression", "function"),
        ("object_creation_expression", ""),
    ),
    "ruby": (("call", "method"),),
    "elixir": (("call", "target"),),
}
"""The kinds of calls of each language, with the field that holds what is called; "" for the first child."""
LANGUAGES = tuple(_CALLS)
BARE_CALLS = frozenset({"ruby", "elixir"})
"""The languages that call without brackets."""
# A longer chain of calls is data: each of its calls would read all the calls before it.
MAX_CHAIN = 50
MEMBERS = {
    "member_expression": ("property", "object"),
    "attribute": ("attribute", "object"),
    "selector_expression": ("field", "operand"),
    "field_expression": ("field", "value"),
    "scoped_identifier": ("name", "path"),
    "member_access_expression": ("name", "expression"),
    "dot": ("right", "left"),
}
_RECEIVERS = ("object", "scope", "receiver")
ANNOTATIONS = ("decorator", "annotation", "marker_annotation", "attribute")
_ARGUMENTS = (
    "arguments", "argument_list", "annotation_argument_list", "attribute_argument_list", "value_arguments", "token_tree",
)  # fmt: skip
_BLOCKS = ("do_block", "block", "annotated_lambda")


@dataclass(frozen=True, slots=True)
class Call:
    """A call or an annotation."""

    node: SgNode
    name: str
    receiver: SgNode | None
    arguments: tuple[SgNode, ...]
    inner: Offset
    """The start of the arguments."""

    @property
    def line(self) -> int:
        """The 1-based line of the name, also where a chain of calls began above."""
        return self.inner[0] + 1


def start_of(node: SgNode) -> Offset:
    place = node.range().start
    return place.line, place.column


def end_of(node: SgNode) -> Offset:
    place = node.range().end
    return place.line, place.column


def children_of(node: SgNode) -> list[SgNode]:
    """The named children without comments."""
    return [child for child in node.children() if child.is_named() and "comment" not in child.kind()]


def call_rule(language: str, names: str) -> dict[str, Any]:
    """A rule of ast-grep for the calls of functions whose names match a pattern."""
    ends = rf"(^|[^\w])(?:{names})(::)?(<[^()]*>)?$"
    return {"any": [_called(kind, field, ends) for kind, field in _CALLS[language]]}


def _called(kind: str, field: str, ends: str) -> dict[str, Any]:
    return {"kind": kind, "has": {"field": field, "regex": ends} if field else {"regex": ends}}


def blocks_of(node: SgNode) -> list[SgNode]:
    """The functions in braces after the arguments of a call."""
    inner = [*children_of(node), *(each for child in children_of(node) for each in children_of(child))]
    return [each for each in inner if each.kind() in _BLOCKS]


def annotation_rule(language: str, names: str) -> dict[str, Any]:
    """A rule of ast-grep for the decorators, annotations and attributes whose names match a pattern."""
    return {
        "regex": rf"^@?(\w+:)?([\w.:\\]+[.:\\])?(?:{names})($|\W)",
        "any": [{"kind": kind} for kind in annotation_kinds(language)],
    }


def annotation_kinds(language: str) -> tuple[str, ...]:
    """The kinds of annotations that a language's grammar has."""
    return {
        "python": ("decorator",), "java": ("annotation", "marker_annotation"), "kotlin": ("annotation",),
        "csharp": ("attribute",), "php": ("attribute",), "rust": ("attribute",),
    }.get(language, ("decorator",) if language in ("javascript", "typescript", "tsx") else ())  # fmt: skip


def is_annotation(node: SgNode) -> bool:
    """Whether a node is a decorator, an annotation or an attribute (Python calls a member so, too, which is no place of a form)."""
    return node.kind() in ANNOTATIONS


def read_call(node: SgNode) -> Call | None:
    """The call or annotation that a node is; None for another."""
    children = children_of(node)
    if not children:
        return None
    if node.kind() in ("decorator", "annotation") and children[0].kind() in (
        "call",
        "call_expression",
        "constructor_invocation",
    ):
        inner = read_call(children[0])
        return inner and Call(node, inner.name, inner.receiver, inner.arguments, start_of(node))
    callee = node.field("function") or node.field("constructor") or node.field("target") or children[0]
    receiver = next((found for field in _RECEIVERS if (found := node.field(field))), None)
    name = node.field("name") or node.field("method") or node.field("type")
    if name is None or (receiver is None and node.field("function")):
        receiver, name = _split_callee(callee)
    parts = [child for child in children if child.kind() in (*_ARGUMENTS, "call_suffix")]
    if parts and parts[0].kind() == "call_suffix":
        parts = [child for child in children_of(parts[0]) if child.kind() in _ARGUMENTS] or parts
    given = parts[0] if parts else None
    inner_start = end_of(name)
    arguments = tuple(_elements(given)) if given is not None and given.kind() != "call_suffix" else ()
    return Call(node, last_word(name), receiver, arguments, inner_start)


def _split_callee(callee: SgNode) -> tuple[SgNode | None, SgNode]:
    """The receiver of a function, and its name."""
    if callee.kind() == "generic_function" and (inner := callee.field("function")):
        return _split_callee(inner)
    if callee.kind() == "navigation_expression":
        parts = children_of(callee)
        return parts[0], parts[-1]
    fields = MEMBERS.get(callee.kind())
    name = callee.field(fields[0]) if fields else None
    return (callee.field(fields[1]), name) if fields and name else (None, callee)


def last_word(node: SgNode) -> str:
    words = re.findall(r"[\w$]+[?!]?", node.text().partition("<")[0])
    return words[-1].lstrip("$") if words else ""


def _elements(arguments: SgNode) -> Iterator[SgNode]:
    for child in children_of(arguments):
        if child.kind() == "keywords":
            yield from children_of(child)
        elif child.kind() not in _BLOCKS:
            yield child


def calls_before(call: Call) -> Iterator[Call]:
    """The calls that a call is chained to, the nearest first."""
    node = call.receiver
    for _ in range(MAX_CHAIN):
        if node is None or (before := read_call(node)) is None or node.kind() in MEMBERS:
            return
        yield before
        node = before.receiver


def calls_after(call: Call) -> Iterator[Call]:
    """The calls that are chained to a call, the nearest first."""
    node = call.node
    for _ in range(MAX_CHAIN):
        if (parent := node.parent()) is None:
            return
        if parent.kind() in MEMBERS or parent.kind() == "navigation_expression":
            parent = parent.parent()
        after = (
            read_call(parent)
            if parent is not None
            and "call" in parent.kind() + "call" * (parent.kind() in ("method_invocation", "invocation_expression"))
            else None
        )
        if after is None or after.receiver is None or after.receiver.range().start.index != node.range().start.index:
            return
        if after.receiver.range().end.index != node.range().end.index:
            return
        yield after
        node = after.node


def base_name(node: SgNode | None) -> str:
    """The name that a chain of calls begins with: `router` of `this.router.route("/x").get`."""
    for _ in range(MAX_CHAIN):
        if node is None:
            break
        call = read_call(node) if "call" in node.kind() or "invocation" in node.kind() else None
        if call is None:
            break
        if call.receiver is None:
            return call.name
        node = call.receiver
    return last_word(node) if node is not None else ""
