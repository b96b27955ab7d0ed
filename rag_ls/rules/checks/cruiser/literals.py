"""Evaluates the plain values of a configuration in JavaScript or JSON: objects, arrays, text. It runs no code."""

from __future__ import annotations

import json
import re
from typing import Any

from tree_sitter import Node

from rag_ls.chunking.parse import parse_within


class Unknown:
    """The value of an expression that only running it would tell."""


UNKNOWN = Unknown()
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_NUMBERED = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})$")
_NAMED = {"true": True, "false": False, "null": None, "undefined": None}
_MAX_DEPTH = 60


class Literals:
    """The exported value of a configuration file."""

    def __init__(self, text: str, *, is_json: bool) -> None:
        # In brackets, because an object alone would be read as a block of statements.
        self._data = (f"({text}\n)" if is_json else text).encode("utf-8", "replace")
        self._root = parse_within(self._data, "javascript", 0, len(self._data))
        self._lines: dict[int, int] = {}
        self._constants: dict[str, Node] = {}
        self._has_error = self._root is None or self._root.has_error
        self.exported: Any = UNKNOWN
        """The value; `UNKNOWN`, or with `UNKNOWN` in it, where it is made by code."""
        if self._root is not None and not self._has_error:
            self.exported = self._of_program(self._root)

    @property
    def has_error(self) -> bool:
        """Whether the text is no JavaScript."""
        return self._has_error

    def line_of(self, value: dict[str, Any]) -> int:
        """The 1-based line of an object in the exported value."""
        return self._lines.get(id(value), 1)

    def _of_program(self, root: Node) -> Any:
        found: Node | None = None
        for statement in root.named_children:
            if statement.type in ("lexical_declaration", "variable_declaration"):
                for declared in statement.named_children:
                    name, value = declared.child_by_field_name("name"), declared.child_by_field_name("value")
                    if name is not None and value is not None:
                        self._constants[self._text(name)] = value
            elif statement.type == "export_statement":
                found = statement.child_by_field_name("value") or found
            elif statement.type == "expression_statement":
                expression = statement.named_children[0]
                if expression.type == "parenthesized_expression":
                    found = expression
                elif expression.type == "assignment_expression":
                    left = expression.child_by_field_name("left")
                    if left is not None and self._text(left) in ("module.exports", "exports"):
                        found = expression.child_by_field_name("right")
        return UNKNOWN if found is None else self._value(found, 0)

    def _value(self, node: Node, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            return UNKNOWN
        match node.type:
            case "object":
                return self._object(node, depth)
            case "array":
                return [self._value(child, depth + 1) for child in node.named_children if child.type != "comment"]
            case "string":
                return "".join(self._piece(child) for child in node.named_children)
            case "template_string" if all(child.type != "template_substitution" for child in node.named_children):
                return "".join(self._piece(child) for child in node.named_children)
            case "number":
                return _number(self._text(node))
            case "true" | "false" | "null" | "undefined":
                return _NAMED[node.type]
            case "regex":
                pattern = node.child_by_field_name("pattern")
                return self._text(pattern) if pattern is not None else ""
            case "parenthesized_expression":
                inner = [child for child in node.named_children if child.type != "comment"]
                return self._value(inner[0], depth + 1) if len(inner) == 1 else UNKNOWN
            case "binary_expression":
                return self._sum(node, depth)
            case "identifier" if self._text(node) in self._constants:
                return self._value(self._constants[self._text(node)], depth + 1)
        return UNKNOWN

    def _object(self, node: Node, depth: int) -> Any:
        found: dict[str, Any] = {}
        for child in node.named_children:
            if child.type == "pair":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is None or value is None or key.type == "computed_property_name":
                    return UNKNOWN
                name = str(self._value(key, depth)) if key.type == "string" else self._text(key)
                found[name] = self._value(value, depth + 1)
            elif child.type == "spread_element":
                spread = self._value(child.named_children[0], depth + 1)
                if not isinstance(spread, dict):
                    return UNKNOWN
                found |= spread
            elif child.type == "shorthand_property_identifier":
                name = self._text(child)
                found[name] = self._value(self._constants[name], depth + 1) if name in self._constants else UNKNOWN
            elif child.type != "comment":
                return UNKNOWN
        self._lines[id(found)] = node.start_point[0] + 1
        return found

    def _sum(self, node: Node, depth: int) -> Any:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None or self._text(operator) != "+":
            return UNKNOWN
        values = [self._value(each, depth + 1) for each in (left, right)]
        return "".join(values) if all(isinstance(value, str) for value in values) else UNKNOWN

    def _piece(self, node: Node) -> str:
        text = self._text(node)
        if node.type != "escape_sequence":
            return text
        if number := _NUMBERED.match(text):
            return chr(min(int(next(filter(None, number.groups())), 16), 0x10FFFF))
        return _ESCAPES.get(text[1:2], text[1:2])

    def _text(self, node: Node) -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _number(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return UNKNOWN
