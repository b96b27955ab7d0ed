"""The syntax of a language, as data: its grammar, its declarations, their names, and the nodes around them.

Paths lead to a name. Their steps are separated by `/`: `name` is a field, `declarator*` a field
that is followed as often as it exists, `<type_identifier` the first child of that type. Paths are
tried in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from rag_ls.languages.names import read_fields


class Kind(StrEnum):
    """The way a declaration is cut into chunks."""

    TYPE = "type"
    """Its head (signature, doc, fields) is its own chunk; the members follow."""
    FUNCTION = "function"
    """Split in its middle, with overlap; its variables are not declarations. Also style rules and tables."""
    VALUE = "value"
    """A variable, constant or field: like a function, but it counts only outside of functions and if it is large."""
    GROUP = "group"
    """Members without a meaningful head: sections, keys, elements."""
    SCOPE = "scope"
    """Always opened: namespaces and `impl` blocks only give their name to their contents."""


class Declaration(NamedTuple):
    """The rules to read one kind of node as a declaration."""

    kind: Kind
    names: tuple[str, ...] = ("name",)
    """Paths to the name, tried in order; empty for a scope without a name."""
    owner: tuple[str, ...] = ()
    """Paths to a type named before the declaration itself: Go's and Kotlin's receivers."""
    when: tuple[str, frozenset[str]] | None = None
    """A path, and the node types or texts one of which it must lead to."""
    each: str = ""
    """The field of its names, where it may have several."""
    listed: str | None = None
    """Its kind in the outline, if that does not follow from `kind`; empty if it is not listed."""


class Variant(NamedTuple):
    """A text with blanks in the place of branches that are not compiled, and of macros that begin or end a block.

    All offsets stay right.
    """

    text: bytes
    left_out: Sequence[tuple[int, int]]
    """The ranges of these branches."""


class Syntax(NamedTuple):
    """One grammar of the language pack, and how its trees are cut.

    Only grammars in a `Syntax` are used: some of the language pack hang (cobol, on `x = 1`; perl, on a word and a comment at the
    end), some crash the process (vhdl), and some fail on real code (fsharp, verilog). See `line_rules`.
    """

    grammar: str
    declarations: Mapping[str, tuple[Declaration, ...]]
    wrappers: frozenset[str] = frozenset()
    """Nodes that wrap a single declaration: `export`, decorators."""
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
    """First children of a body, or children of the declaration itself, that are its documentation."""
    promoted: frozenset[str] = frozenset()
    """Parameters of a constructor that declare a field of its type, too; `name` is the field of their name."""
    separator: str = "."
    qualified: bool = True
    """False if a name is clear without the scopes around it."""
    plain_names: bool = False
    """Whether names are texts (keys, headings) instead of code."""
    prose: bool = False
    lambdas: frozenset[str] = frozenset()
    """Anonymous functions, whose variables are local."""
    outline_depth: int = 0
    """The depth of an outline, for languages with many nested names; 0 for no limit."""
    one_line: bool = False
    """Whether only the first line of a declaration is its signature; else everything up to its body is."""
    clauses: bool = False
    """Whether adjacent declarations of one name are one declaration, such as the equations of a function."""

    masked: bytes = b""
    """A pattern of texts whose second group the grammar takes for something else: it is left out where they are parsed."""
    variant: Callable[[bytes], Variant] | None = None
    """The texts that a preprocessor may leave of one, for trees with errors; None in languages without one."""

    # --- the dangers of its scanner

    is_ascii_alone: bool = False
    """Whether it looks any character up in a table of 384 entries: a private one, such as an icon, crashes the process."""
    nesting: Callable[[bytes], int] | None = None
    """The depth at which a text is nested; None where no depth crashes the process."""


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def declare(table: str) -> dict[str, tuple[Declaration, ...]]:
    """Return the declarations of each type of node, from a table with a row for each rule: `kind type type, field value value`.

    The fields are those of `Declaration`. A node may have several rows, of which the first that fits counts:

        value field_declaration constant_declaration, names declarator/name
        function assignment, names left, when right is lambda function, listed value
    """
    found: dict[str, tuple[Declaration, ...]] = {}
    for row in table.strip().split("\n"):
        (kind, *types), *fields = [part.split() for part in row.split(",")]
        given = {name: tuple(values) for name, *values in fields}
        when = given.get("when")
        rule = Declaration(
            Kind(kind),
            names=given.get("names", ("name",)),
            owner=given.get("owner", ()),
            when=(when[0], frozenset(when[2:])) if when else None,
            each="".join(given.get("each", ())),
            listed="".join(given["listed"]) if "listed" in given else None,
        )
        found |= {each: (*found.get(each, ()), rule) for each in types}
    return found


MAX_NESTING = 200
"""The scanners of Markdown, YAML and Kotlin crash the process near 255, 254 and 1,025 levels."""

_NESTED_LINE = rb"(?m)^(?:[ \t>]|[-+*?:][ \t]|\d{1,9}[.)][ \t]){50,}"


def line_nesting(data: bytes) -> int:
    """The most levels that a line of the text may be in; 0 for few.

    A level needs a column at least, and its line must repeat the levels above: markers or white space.
    """
    prefixes = (match[0] for match in re.finditer(_NESTED_LINE, data.replace(b"\r", b"\n")))
    return max((len(prefix) + 3 * prefix.count(b"\t") for prefix in prefixes), default=0)


def template_nesting(data: bytes) -> int:
    """The most braces that are open at once in a text with templates in its strings; 0 for few templates."""
    if data.count(b"${") <= MAX_NESTING:
        return 0
    array = np.frombuffer(data, dtype=np.uint8)
    balance = np.cumsum((array == ord("{")).astype(np.int64) - (array == ord("}")))
    return int((balance - np.minimum.accumulate(balance)).max())


_NESTING = {"lines": line_nesting, "templates": template_nesting}
_KINDS = frozenset(Kind)


def read_syntax(language: str) -> Syntax:
    """Return the grammar of a language, with its declarations, from the file of its family."""
    table: list[str] = []
    fields: dict[str, Any] = {}
    for name, text, below in read_fields("declarations", language):
        text = " ".join((text, *below))
        if name in _KINDS:
            table.append(f"{name} {text}")
        else:
            fields[name] = _read_field(name, text)
    return Syntax(fields.pop("grammar", language), declare("\n".join(table)), **fields)


def _read_field(name: str, text: str) -> Any:
    if name == "nesting":
        return _NESTING[text]
    default = Syntax._field_defaults.get(name, "")
    if isinstance(default, bool):
        return text != "no"
    if isinstance(default, int):
        return int(text)
    return words(text) if isinstance(default, frozenset) else text
