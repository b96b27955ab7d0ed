"""What the chunker knows of a language, as data.

A name is found along paths. Steps are parted by `/`: `name` is a field, `declarator*` a field
followed as often as it is there, `<type_identifier` the first child of that type. Paths are
tried in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a declaration does to its chunks."""

    TYPE = "type"
    """Its head (signature, doc, fields) is a chunk of its own; members follow."""
    FUNCTION = "function"
    """Split in its middle with overlap; variables in it are not declarations. Also style rules and tables."""
    VALUE = "value"
    """A variable, constant or field: as a function, but counts only outside of functions, and if it is large."""
    GROUP = "group"
    """Members without a head that means anything: sections, keys, elements."""
    SCOPE = "scope"
    """Always opened: namespaces and `impl` blocks only lend their name to what is in them."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """How to read one kind of node as a declaration."""

    kind: Kind
    names: tuple[str, ...] = ("name",)
    """Paths, tried in order; the empty tuple means that the scope has no name."""
    owner: tuple[str, ...] = ()
    """Paths to a type named before the declaration itself: Go's and Kotlin's receivers."""
    when: tuple[str, frozenset[str]] | None = None
    """A path, and the node types or texts of which it must lead to one."""
    listed: str | None = None
    """What an outline calls it, where that does not follow from its kind; empty: it is not listed."""


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """One grammar of the language pack, as data."""

    grammar: str
    declarations: Mapping[str, tuple[Declaration, ...]]
    wrappers: frozenset[str] = frozenset()
    """Nodes that stand for the one declaration among their children: `export`, decorators."""
    comments: frozenset[str] = frozenset({"comment"})
    attributes: frozenset[str] = frozenset()
    """Siblings, besides comments, that belong to the declaration after them."""
    trailers: frozenset[str] = frozenset()
    """Siblings that belong to the declaration before them."""
    transparent: frozenset[str] = frozenset()
    """Always opened, and nameless: conditional compilation, linkage blocks."""
    leaves: frozenset[str] = frozenset()
    """Never opened: their text is cut instead."""
    docstrings: frozenset[str] = frozenset()
    """First children of a body that are its documentation."""
    separator: str = "."
    qualified: bool = True
    """False where a name says enough without the scopes around it."""
    plain_names: bool = False
    """Names are texts (keys, headings), not code."""
    prose: bool = False
    lambdas: frozenset[str] = frozenset()
    """Functions without a name: variables in them are local."""
    outline_depth: int = 0
    """How deep an outline goes, where much that is nested has a name; 0 for all the way."""
    one_line: bool = False
    """Whether the first line of a declaration is its signature; else all of it up to its body."""
    clauses: bool = False
    """Whether adjacent declarations of one name are one, as equations of a function are."""


def declare(
    kind: Kind, *types: str, names: tuple[str, ...] = ("name",), listed: str | None = None
) -> dict[str, tuple[Declaration, ...]]:
    """The same declaration for several types of nodes."""
    return {type_: (Declaration(kind, names, listed=listed),) for type_ in types}
