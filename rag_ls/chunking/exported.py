"""Decides by the rules of its language whether a declaration is exported to other modules."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

Rule = Callable[[str, str, bool], bool]
"""(name without its scopes, words of the signature before its parameters or value, member of a type) -> exported"""

_HEAD = re.compile(r"[^(={:]*")
_ATTRIBUTES = re.compile(r"[@#][\w.]*(?:\([^()]*\))?\s|\[[^\[\]]*\]|\w+\(set\)")
_EXPORT_LIST = re.compile(rb"\bexport\s*(?:type\s*)?\{([^{}]*)\}(?!\s*from)|\bmodule\.exports\s*=\s*\{([^{}]*)\}")
_EXPORT_NAME = re.compile(rb"\bexport\s+default\s+([\w$]+)\s*;?\s*$|\bmodule\.exports\s*=\s*([\w$]+)", re.MULTILINE)
_NAME = re.compile(rb"([\w$]+)")


PREFIXES: Mapping[str, bytes] = {"zig": b"pub"}
"""A word that exports the node after it, for grammars that keep it outside the node."""


def head_words(signature: str) -> frozenset[str]:
    """The words of a signature before its parameters, value or supertypes."""
    match = _HEAD.match(_ATTRIBUTES.sub(" ", signature))
    return frozenset(match[0].split()) if match else frozenset()


def exported_names(data: bytes) -> frozenset[str]:
    """The names that a JavaScript module exports in a statement apart from their declarations."""
    names = [name for match in _EXPORT_NAME.finditer(data) for name in match.groups() if name]
    for match in _EXPORT_LIST.finditer(data):
        for part in (match[1] or match[2] or b"").split(b","):
            name = _NAME.match(part.strip())
            names += [name[1]] if name else []
    return frozenset(name.decode() for name in names)


def is_exported(language: str, name: str, signature: str, member: bool) -> bool:
    """Whether a declaration's own syntax exports it. The caller knows whether an outer type is hidden."""
    rule = RULES.get(language)
    return rule is None or rule(name, signature, member)


def offers_all(node: Node) -> bool:
    """Whether a declaration's members are as visible as itself: in Rust's traits and their implementations."""
    return node.type == "trait_item" or node.child_by_field_name("trait") is not None


def _python(name: str, _signature: str, _member: bool) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def _dart(name: str, _signature: str, _member: bool) -> bool:
    return not name.startswith("_")


def _go(name: str, _signature: str, _member: bool) -> bool:
    return name.rpartition(".")[2][:1].isupper()


def _public(_name: str, signature: str, _member: bool) -> bool:
    return signature.startswith(("pub ", "pub("))


def _prefixed(_name: str, _signature: str, _member: bool) -> bool:
    return False  # except with one of PREFIXES


def _not_private(_name: str, signature: str, _member: bool) -> bool:
    return not head_words(signature) & {"private", "fileprivate"}


def _not_static(_name: str, signature: str, member: bool) -> bool:
    return member or "static" not in head_words(signature)


def _script(name: str, signature: str, member: bool) -> bool:
    """Decides only for members: other declarations are exported by a statement around them or by a list."""
    if not member:
        return name.startswith(("exports.", "module.exports."))
    return not name.startswith("#") and not head_words(signature) & {"private"}


def _elixir(_name: str, signature: str, _member: bool) -> bool:
    return not signature.startswith(("defp ", "defmacrop ", "defguardp "))


def _not_local(_name: str, signature: str, _member: bool) -> bool:
    return not signature.startswith("local ")


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("c", "cpp", "objective-c"), _not_static),
    **dict.fromkeys(("csharp", "groovy", "java", "kotlin", "php", "scala", "solidity", "swift"), _not_private),
    **dict.fromkeys(("javascript", "tsx", "typescript"), _script),
    "dart": _dart,
    "elixir": _elixir,
    "go": _go,
    "lua": _not_local,
    "python": _python,
    "rust": _public,
    "zig": _prefixed,
}
"""By language name; without a rule, every declaration counts as exported."""
