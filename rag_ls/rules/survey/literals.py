"""Reads the values in syntax trees of ast-grep alike in every language: strings, names, pairs, keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rag_ls.rules.survey import nodes

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_STRING = re.compile(r"string|quoted_atom|char_literal")
_SYMBOLS = ("simple_symbol", "atom", "bare_symbol", "bare_string", "alias")
LISTS = (
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
_SOMETIMES_CALLS = re.compile("unless|except")
_NO_NAMES = frozenset({"true", "false", "null", "nil", "None", "undefined", "function", "async"})


def unwrap(node: SgNode) -> SgNode:
    """A value without what stands around it: the argument that holds it, `await`, brackets."""
    while (
        node.kind() in _WRAPPERS
        and (children := nodes.children_of(node))
        and (len(children) == 1 or node.kind() not in _PAIRS)
    ):
        node = children[0]
    return node


def pair_of(node: SgNode) -> tuple[str, SgNode] | None:
    """The key and the value of a pair, a named argument, an entry of a map."""
    kind = node.kind()
    if kind in ("shorthand_property_identifier", "shorthand_field_initializer"):
        return node.text(), node
    if kind not in _PAIRS or len(children := nodes.children_of(node)) < 2:
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
    for child in nodes.children_of(node):
        if child.kind() in ("literal_value", "map_content", "keywords"):
            yield from _entries(child)
        else:
            yield child


def keys_of(node: SgNode) -> tuple[str, ...]:
    """The keys of an object, a map, a call with named arguments."""
    node = unwrap(node)
    if node.kind() == "call" and (method := node.field("method")) and method.text() == "to_json":
        node = node.field("receiver") or node
    if node.kind() == "macro_invocation":
        found = re.findall(r"[{,]\s*\"(\w+)\"\s*:", re.sub(r":\s*\{[^{}]*\}", ": 0", node.text()))
        return tuple(dict.fromkeys(found))
    if node.kind() == "anonymous_object_creation_expression":
        found = re.findall(r"[{,]\s*(\w+)\s*(?==[^=>]|[,}])", node.text())
        return tuple(found)
    if (
        node.kind() == "call_expression"
        and (call := nodes.read_call(node))
        and re.fullmatch(r"(mutable)?[mM]apOf", call.name)
    ):
        entries: Iterable[SgNode] = map(unwrap, call.arguments)
    elif node.kind() == "method_invocation" and re.match(r"Map\.of\(", node.text()) and (call := nodes.read_call(node)):
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
    if kind in LISTS:
        return [text for child in nodes.children_of(node) for text in strings_of(child)]
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
    """The names of a value, or of the values in a list. Of calls of `inner`, and of `unless(path, auth)`, the last argument counts."""
    node = unwrap(node)
    if "call" in node.kind() and (call := nodes.read_call(node)) and _SOMETIMES_CALLS.fullmatch(call.name):
        held = call.receiver if call.receiver is not None else call.arguments[-1] if len(call.arguments) > 1 else None
        return names_of(held, strings, inner) if held is not None else []
    if inner and "call" in node.kind() and (call := nodes.read_call(node)) and re.fullmatch(inner, call.name):
        positional = [each for each in call.arguments if pair_of(each) is None]
        return names_of(positional[-1], strings) if positional else []
    if node.kind() == "binary_operator" and re.search(r"\swhen\s", node.text()):
        # Elixir: `plug :require_user when action in [...]`.
        return names_of(nodes.children_of(node)[0], strings, inner)
    if node.kind() in (*LISTS, "argument_list") and node.kind() != "composite_literal":
        return [name for child in nodes.children_of(node) for name in names_of(child, strings, inner)]
    if _STRING.search(node.kind()) or node.kind() in _SYMBOLS:
        return strings_of(node) if strings else []
    return [name for name in [name_of(node)] if name]
