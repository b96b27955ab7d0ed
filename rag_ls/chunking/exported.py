"""Whether a declaration is offered to other modules, by the rule of its language."""

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
"""A word that exports the node after it, where the grammar leaves it outside."""


def head_words(signature: str) -> frozenset[str]:
    """The words in front of the parameters, the value or the supertypes."""
    match = _HEAD.match(_ATTRIBUTES.sub(" ", signature))
    return frozenset(match[0].split()) if match else frozenset()


def exported_names(data: bytes) -> frozenset[str]:
    """Of a JavaScript module: the names that it exports apart from where it declares them."""
    names = [name for match in _EXPORT_NAME.finditer(data) for name in match.groups() if name]
    for match in _EXPORT_LIST.finditer(data):
        for part in (match[1] or match[2] or b"").split(b","):
            name = _NAME.match(part.strip())
            names += [name[1]] if name else []
    return frozenset(name.decode() for name in names)


def is_exported(language: str, name: str, signature: str, member: bool) -> bool:
    """Whether its own syntax offers it; what is in a hidden type is hidden with it, which the caller knows."""
    rule = RULES.get(language)
    return rule is None or rule(name, signature, member)


def offers_all(node: Node) -> bool:
    """Whether the members of a declaration are as visible as itself: Rust's traits, and what implements them."""
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
    return False  # but for what has one of PREFIXES


def _not_private(_name: str, signature: str, _member: bool) -> bool:
    return not head_words(signature) & {"private", "fileprivate"}


def _not_static(_name: str, signature: str, member: bool) -> bool:
    return member or "static" not in head_words(signature)


def _script(name: str, signature: str, member: bool) -> bool:
    """Of a member alone: what is outside of a type is exported by a statement around it or a list."""
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
"""By language name; what has no rule here is exported."""
