"""Names that documents share: those that they export, and those that they use without an import of their own.

In Go, Java and their kin, the documents of a package see each other's names; elsewhere `import *` brings some. Comments and texts
in quotes are no uses; a local variable of the same name may still be taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from rag_ls.model import Import

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


UNLESS_PRIVATE = ExportRule(lambda _name, signature, _member: not head_words(signature) & {"private", "fileprivate"})
UNLESS_STATIC = ExportRule(lambda _name, signature, member: member or "static" not in head_words(signature))
UNLESS_UNDERSCORED = ExportRule(lambda name, _signature, _member: not name.startswith("_"))

MAX_NAMES = 1500

TEXT = rb'"(?:[^"\\\n]|\\.)*"'
NAME = rb"(?<![\w.])[A-Za-z_]\w*"
_TYPE_NAME = rb"(?<!\w)[A-Z]\w*"


class OwnNameRule(NamedTuple):
    """The patterns that find the names in a text."""

    noise: bytes
    """A pattern of comments and texts in quotes; `.` matches line ends too."""
    find: Callable[[bytes], list[bytes]]
    """The names in a text without noise, in its order."""
    needs_star: bool = False
    """Whether names come from elsewhere by `import *` alone."""


TYPE_NAMES = OwnNameRule(rb"//[^\n]*|/\*.*?\*/|" + TEXT, lambda data: re.findall(_TYPE_NAME, data))
"""The types of a package: the languages of the JVM, and C#."""


def own_names(rule: OwnNameRule | None, imports: Iterable[Import], data: bytes) -> tuple[str, ...]:
    """The names that a document may take from its own package, or from `import *`; none without a rule."""
    if rule is None or (rule.needs_star and not any("*" in each.names for each in imports)):
        return ()
    found = rule.find(re.sub(rule.noise, b" ", data, flags=re.DOTALL))
    return tuple(name.decode() for name in list(dict.fromkeys(found))[:MAX_NAMES])
