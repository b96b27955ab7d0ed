"""Reads the syntax trees of ast-grep alike in every language: calls, annotations, strings, names, keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
_MAX_CHAIN = 50
_MEMBERS = {
    "member_expression": ("property", "object"),
    "attribute": ("attribute", "object"),
    "selector_expression": ("field", "operand"),
    "field_expression": ("field", "value"),
    "scoped_identifier": ("name", "path"),
    "member_access_expression": ("name", "expression"),
    "dot": ("right", "left"),
}
_RECEIVERS = ("object", "scope", "receiver")
_ANNOTATIONS = ("decorator", "annotation", "marker_annotation", "attribute")
_ANNOTATING = (*_ANNOTATIONS, "attribute_item", "attribute_list", "attribute_group", "modifiers")
_ARGUMENTS = (
    "arguments", "argument_list", "annotation_argument_list", "attribute_argument_list", "value_arguments", "token_tree",
)  # fmt: skip
_BLOCKS = ("do_block", "block", "annotated_lambda")
_STRING = re.compile(r"string|quoted_atom|char_literal")
_SYMBOLS = ("simple_symbol", "atom", "bare_symbol", "bare_string", "alias")
_LISTS = (
    "array", "list", "tuple", "set", "symbol_array", "string_array", "array_creation_expression", "collection_literal",
    "element_value_array_initializer", "array_initializer", "initializer_expression", "implicit_array_creation_expression",
    "collection_expression", "literal_value", "composite_literal", "array_expression", "reference_expression", "token_tree",
)  # fmt: skip
_WRAPPERS = (
    "argument", "value_argument", "attribute_argument", "array_element_initializer", "literal_element", "await_expression",
    "parenthesized_expression", "unary_expression", "reference_expression", "typeof_expression", "as_expression",
    "class_constant_access_expression", "satisfies_expression", "non_null_expression", "await",
)  # fmt: skip
_PAIRS = (
    "pair", "keyword_argument", "keyed_element", "element_value_pair", "argument", "value_argument", "attribute_argument",
    "array_element_initializer", "infix_expression", "field_initializer",
)  # fmt: skip
_OBJECTS = (
    "object", "dictionary", "hash", "literal_value", "composite_literal", "array_creation_expression", "map", "map_content",
    "keywords", "keyword_list", "anonymous_object_creation_expression", "token_tree", "macro_invocation",
)  # fmt: skip
_QUOTES = re.compile(r"""^(?:[rRbBfFuU]{0,2}|[@$]{1,2}|r?#*|~[a-zA-Z])("{3}|'{3}|["'`])(.*)\1#*$""", re.DOTALL)
_NAME = re.compile(r"^[&:\\*!@$]*([\w$][\w$.:?!\\]*?)(?:::class|\.class)?$")
_LOOP = re.compile(
    r"^(for|foreach|while|enhanced_for|for_in|for_each|list_comprehension)\w*(statement|expression|loop|comprehension)?$"
)
_LOOP_CALLS = frozenset({"forEach", "map", "each", "flatMap", "each_with_index"})
_NO_NAMES = frozenset({"true", "false", "null", "nil", "None", "undefined", "function", "async"})


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
    return node.kind() in _ANNOTATIONS


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
    return Call(node, _last_word(name), receiver, arguments, inner_start)


def _split_callee(callee: SgNode) -> tuple[SgNode | None, SgNode]:
    """The receiver of a function, and its name."""
    if callee.kind() == "generic_function" and (inner := callee.field("function")):
        return _split_callee(inner)
    if callee.kind() == "navigation_expression":
        parts = children_of(callee)
        return parts[0], parts[-1]
    fields = _MEMBERS.get(callee.kind())
    name = callee.field(fields[0]) if fields else None
    return (callee.field(fields[1]), name) if fields and name else (None, callee)


def _last_word(node: SgNode) -> str:
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
    for _ in range(_MAX_CHAIN):
        if node is None or (before := read_call(node)) is None or node.kind() in _MEMBERS:
            return
        yield before
        node = before.receiver


def calls_after(call: Call) -> Iterator[Call]:
    """The calls that are chained to a call, the nearest first."""
    node = call.node
    for _ in range(_MAX_CHAIN):
        if (parent := node.parent()) is None:
            return
        if parent.kind() in _MEMBERS or parent.kind() == "navigation_expression":
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
    for _ in range(_MAX_CHAIN):
        if node is None:
            break
        call = read_call(node) if "call" in node.kind() or "invocation" in node.kind() else None
        if call is None:
            break
        if call.receiver is None:
            return call.name
        node = call.receiver
    return _last_word(node) if node is not None else ""


def unwrap(node: SgNode) -> SgNode:
    """A value without what stands around it: the argument that holds it, `await`, brackets."""
    while (
        node.kind() in _WRAPPERS
        and (children := children_of(node))
        and (len(children) == 1 or node.kind() not in _PAIRS)
    ):
        node = children[0]
    return node


def pair_of(node: SgNode) -> tuple[str, SgNode] | None:
    """The key and the value of a pair, a named argument, an entry of a map."""
    kind = node.kind()
    if kind in ("shorthand_property_identifier", "shorthand_field_initializer"):
        return node.text(), node
    if kind not in _PAIRS or len(children := children_of(node)) < 2:
        return None
    if kind == "infix_expression" and children[1].text() != "to":
        return None
    return re.sub(r"^[:\"'`\s]+|[\"'`\s:=]+$", "", children[0].text()), children[-1]


def option_of(nodes: Iterable[SgNode], key: str) -> SgNode | None:
    """The value under a key: of a named argument, or in an object among the arguments."""
    for node in nodes:
        pair = pair_of(node)
        if node.text() == key and (sign := node.next()) is not None and sign.text() == "=":
            # Rust's attributes are rows of tokens.
            return sign.next()
        if pair is not None:
            if pair[0] == key:
                return pair[1]
        elif (inner := unwrap(node)).kind() in _OBJECTS and (found := option_of(_entries(inner), key)) is not None:
            return found
    return None


def _entries(node: SgNode) -> Iterator[SgNode]:
    for child in children_of(node):
        if child.kind() in ("literal_value", "map_content", "keywords"):
            yield from _entries(child)
        else:
            yield child


def keys_of(node: SgNode) -> tuple[str, ...]:
    """The keys of an object, a map, a call with named arguments."""
    node = unwrap(node)
    if node.kind() == "macro_invocation":
        found = re.findall(r"[{,]\s*\"(\w+)\"\s*:", re.sub(r":\s*\{[^{}]*\}", ": 0", node.text()))
        return tuple(dict.fromkeys(found))
    if node.kind() == "anonymous_object_creation_expression":
        found = re.findall(r"[{,]\s*(\w+)\s*(?==[^=>]|[,}])", node.text())
        return tuple(found)
    if (
        node.kind() == "call_expression"
        and (call := read_call(node))
        and re.fullmatch(r"(mutable)?[mM]apOf", call.name)
    ):
        entries: Iterable[SgNode] = map(unwrap, call.arguments)
    elif node.kind() == "method_invocation" and re.match(r"Map\.of\(", node.text()) and (call := read_call(node)):
        return tuple(text for each in call.arguments[::2] for text in strings_of(each))
    elif node.kind() in _OBJECTS:
        entries = _entries(node)
    else:
        return ()
    pairs = (pair_of(entry) for entry in entries)
    return tuple(key for key in (pair[0] for pair in pairs if pair) if re.fullmatch(r"[A-Za-z_$][\w$]*", key))


def strings_of(node: SgNode) -> list[str]:
    """The strings and symbols that a literal or a list of them holds."""
    node = unwrap(node)
    kind = node.kind()
    if kind in _SYMBOLS:
        return [node.text().lstrip(":")]
    if kind in _LISTS:
        return [text for child in children_of(node) for text in strings_of(child)]
    if _STRING.search(kind):
        found = _QUOTES.match(node.text())
        return [re.sub(r"[$#]\{", "{", found[2])] if found else []
    return []


def is_string(node: SgNode) -> bool:
    return bool(_STRING.search(unwrap(node).kind()))


def name_of(node: SgNode) -> str:
    """The name that a value is known by: `cors` of `cors({...})`, `Auth` of `new Auth()`; "" for a function or a literal."""
    node = unwrap(node)
    kind = node.kind()
    if kind == "composite_literal" and (kept := node.field("type")):
        return kept.text()
    if "call" in kind or "creation" in kind or "invocation" in kind or kind == "new_expression":
        return _called_name(node)
    found = _NAME.match(node.text()) if "literal" not in kind and not _STRING.search(kind) else None
    return found[1].rstrip(".:") if found and found[1] not in _NO_NAMES else ""


def _called_name(node: SgNode) -> str:
    head = node.text().partition("(")[0].strip()
    found = _NAME.match(re.sub(r"^(?:new|await)\s+|\.bind$", "", head).partition("<")[0])
    return found[1].rstrip(".:") if found and found[1] not in _NO_NAMES else ""


def names_of(node: SgNode, strings: bool = False, inner: str = "") -> list[str]:
    """The names of a value, or of the values in a list. Of calls of `inner`, the first argument counts."""
    node = unwrap(node)
    if inner and "call" in node.kind() and (call := read_call(node)) and re.fullmatch(inner, call.name):
        positional = [each for each in call.arguments if pair_of(each) is None]
        return names_of(positional[-1], strings) if positional else []
    if node.kind() == "binary_operator" and re.search(r"\swhen\s", node.text()):
        # Elixir: `plug :require_user when action in [...]`.
        return names_of(children_of(node)[0], strings, inner)
    if node.kind() in (*_LISTS, "argument_list") and node.kind() != "composite_literal":
        return [name for child in children_of(node) for name in names_of(child, strings, inner)]
    if _STRING.search(node.kind()) or node.kind() in _SYMBOLS:
        return strings_of(node) if strings else []
    return [name for name in [name_of(node)] if name]


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


def class_around(node: SgNode, attribute: str) -> tuple[str, str]:
    """The names of the class around a place in C#, and of the one that it has an attribute from; "" where it has its own."""
    while (parent := node.parent()) is not None and node.kind() != "class_declaration":
        node = parent
    has_own = any(
        each.kind() == "attribute_list" and re.search(rf"\b{attribute}\b", each.text()) for each in children_of(node)
    )
    base = None if has_own else next((each for each in children_of(node) if each.kind() == "base_list"), None)
    return declared_name(node), next(iter(re.findall(r"\w+", base.text())), "") if base else ""


def is_in_loop(node: SgNode) -> bool:
    """Whether a place is run for each of several values."""
    child = node
    while (parent := child.parent()) is not None:
        if _LOOP.search(parent.kind()):
            return True
        call = read_call(parent) if parent.kind() in ("call", "call_expression") else None
        if call is not None and call.receiver is None and call.name == "for":
            # Elixir's `for` is a call.
            return True
        if call is not None and call.receiver is not None and call.name in _LOOP_CALLS:
            return call.receiver.range().end.index < child.range().start.index
        child = parent
    return False


def annotations_beside(node: SgNode) -> Iterator[Call]:
    """The other annotations of the declaration that an annotation stands at."""
    for child in holder_of(node).children():
        every = [child, *child.children()] if child.kind() in _ANNOTATING else []
        yield from (found for each in every if is_annotation(each) and (found := read_call(each)))


def declared_name(node: SgNode) -> str:
    """The name of a class or a function."""
    inner = node.field("definition") or node.field("declaration") or node
    name = inner.field("name") or next((each for each in children_of(inner) if "identifier" in each.kind()), None)
    return name.text() if name else ""


def members_of(node: SgNode) -> list[str]:
    """The names of the functions of a class in Python; none of another declaration."""
    inner = node.field("definition") or node
    body = inner.field("body") if inner.kind() == "class_definition" else None
    return [declared_name(each) for each in children_of(body) if "definition" in each.kind()] if body else []


def assigned_name(node: SgNode) -> str:
    """The variable that a value is assigned to; "" where there is none."""
    child = node
    for _ in range(_MAX_CHAIN):
        parent = child.parent()
        if parent is None:
            return ""
        target = parent.field("name") or parent.field("left") or parent.field("pattern")
        if target is None and parent.kind() in ("variable_declarator", "property_declaration"):
            target = next(
                (
                    each
                    for each in children_of(parent)
                    if "identifier" in each.kind() or each.kind() == "variable_declaration"
                ),
                None,
            )
        if target is not None and parent.kind() not in ("call", "argument", *_MEMBERS):
            return _last_word(target) if target.range().start.index < node.range().start.index else ""
        if parent.kind() not in (
            "await_expression",
            "expression_list",
            "as_expression",
            "parenthesized_expression",
            "await",
        ) and not ("call" in parent.kind() or parent.kind() in _MEMBERS or "invocation" in parent.kind()):
            return ""
        child = parent
    return ""
