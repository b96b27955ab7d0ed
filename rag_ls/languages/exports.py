"""Rules that several languages share for which declarations are exported to other modules."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_HEAD = r"[^(={:]*"
_ATTRIBUTES = r"[@#][\w.]*(?:\([^()]*\))?\s|\[[^\[\]]*\]|\w+\(set\)"


class ExportRule(NamedTuple):
    """The declarations that other documents see. Whether an outer type is hidden, the caller knows."""

    is_exported: Callable[[str, str, bool], bool]
    """(name without its scopes, words of the signature before its parameters or value, member of a type) -> exported"""
    prefix: bytes = b""
    """A word that exports the node after it, for grammars that keep it outside the node: nothing else does then."""
    names_in: Callable[[bytes], frozenset[str]] | None = None
    """The names that a document exports in statements apart from their declarations, for languages that have such."""


def head_words(signature: str) -> frozenset[str]:
    """The words of a signature before its parameters, value or supertypes."""
    match = re.match(_HEAD, re.sub(_ATTRIBUTES, " ", signature))
    return frozenset(match[0].split()) if match else frozenset()


def _is_not_private(_name: str, signature: str, _member: bool) -> bool:
    return not head_words(signature) & {"private", "fileprivate"}


def _is_not_static(_name: str, signature: str, member: bool) -> bool:
    return member or "static" not in head_words(signature)


UNLESS_PRIVATE = ExportRule(_is_not_private)
UNLESS_STATIC = ExportRule(_is_not_static)
