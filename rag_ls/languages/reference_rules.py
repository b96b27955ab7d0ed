"""Rules to find uses of names in the tree of a document, and to tell what a name belongs to, as data.

A query captures the node that is called as `@call`, a base class or interface as `@base`: the name with which the node ends
is meant. `@skip` captures names that are no uses: labels of arguments, keys. So are those of `@namespace`, but the names behind them
have them as receivers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rag_ls.languages.names import read_fields

NAMES = frozenset(
    """identifier field_identifier property_identifier private_property_identifier shorthand_property_identifier
    shorthand_field_identifier type_identifier simple_identifier namespace_identifier package_identifier
    interpolated_identifier""".split()
)
"""The nodes that are names in most grammars."""

TYPE = r"([A-Za-z_][\w.]*)"
_NO_DECLARATION = "".join(
    f"(?<!{word} )" for word in "class struct enum actor interface object protocol extension impl".split()
)
"""Excludes the name of a type: its base follows the colon."""
COLON_TYPE = _NO_DECLARATION + r"(?<![\w.]){name}\s*[?!]?\s*:\s*[&*\"']*" + TYPE
"""`user: User`."""
COLON_PARAMETER = r"[(,]\s*(?:\w+\s+)*{name}\s*:"
"""`(of user: User)`."""
PREFIX_TYPE = r"\b([A-Z]\w*)(?:<[^<>;(){}]*>)?[\s*&]+\$?{name}\s*[=;,):]"
"""`User user`."""
CONSTRUCTED = r"(?<![\w.]){name}\s*=\s*([A-Z]\w*)\s*\("
"""`user = User()`."""
NEW = r"(?<![\w.]){name}\s*=\s*(?:await\s+)?new\s+" + TYPE
"""`user = new User`."""


class ReferenceRule(NamedTuple):
    """The nodes of one grammar that are uses of names."""

    calls: tuple[str, ...] = ()
    """Queries that capture what is called; without any, a name with `(` behind it is called."""
    heads: bytes = b""
    """A pattern of the heads of functions in texts, whose first group is a name that looks as if it were called."""
    bases: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    """Queries for statements that pass imported names on, as `@import`."""
    symbols: tuple[str, ...] = ()
    """Queries for texts that are names, as `@symbol`. `@key` is a member of an object that is unknown, `@shorthand` that and a name of
    the document (`chunking.uses`)."""
    words: tuple[str, ...] = ()
    """Queries for texts that the grammar does not parse, as `@words`: each word is a name."""
    texts: bytes = b""
    """A pattern of texts in quotes whose first group names a member of something."""
    locals: tuple[str, ...] = ()
    """Queries that tell variables from calls without brackets: variables as `@local`, the nodes in which they are seen as `@scope`
    or, where nothing from around is seen, `@closed`, and names of declarations as `@declared`. Without any, the text tells."""
    names: frozenset[str] = NAMES
    is_dotted: bool = False
    """Whether one of these nodes may hold the whole name of a module: `Shop.Cart`."""
    own: frozenset[str] = frozenset({"self", "this"})
    """The words for the object whose method it is."""
    parents: frozenset[str] = frozenset({"super", "base", "parent"})
    """The words for the same, as its base class sees it."""
    own_is_implied: bool = False
    """Whether a bare name may be a member of the class around it."""
    quoted: tuple[str, ...] = ()
    """Patterns of lines in which a text in quotes uses the type `{name}`, which may be declared later."""
    listed: tuple[str, ...] = ()
    """The same for texts that name anything: a list of exports."""
    qualified: tuple[str, ...] = ()
    """The same for texts that name the type and its module; which one they mean is not told."""
    renamed: str = ""
    """A pattern whose group holds the names that a document offers under others, without an import: `cart as basket`."""
    is_open: bool = False
    """Whether names of other documents need no import of their own: an include, or nothing, brings them all."""
    folders_are_namespaces: bool = False
    """Whether the path of a type's document usually ends as its qualified name does: `Node\\Stmt` in `Node/Stmt.php`."""
    holds_functions: bool = False
    """Whether every function and value belongs to a type: other documents see the types alone."""
    members_apart: bool = False
    """Whether a member of a type may be declared outside of the type's own text."""
    kin: str = ""
    """The name that it shares with languages in which its declarations can be used."""
    aliases: tuple[str, ...] = (r"{name}\s+as\s+([\w$]+)",)
    """Patterns that find, in the line of an import, the name that the document gives to the module `{name}`."""
    types: tuple[str, ...] = ()
    """Patterns that find the type of a variable in a text, by its `{name}`; the first group is the type."""
    returns: str = r"(?:->|\)\s*:)\s*[\"']?(?:(?:Optional|Promise|Awaitable)[\[<])?&?(?:mut\s+)?([A-Za-z_][\w.]*)"
    """A pattern that finds the type of a function's result in its signature, by its `{name}`; the last match counts."""
    wrappers: frozenset[str] = frozenset()
    """The types that stand for their argument, once it is waited for or unpacked."""
    parameters: str = r"[(,]\s*(?:\*{1,2}|\.\.\.|\w+\s+)?{name}\s*[,:=)?]"
    """A pattern that finds a parameter by its `{name}`."""
    has_bodies: bool = False
    """Whether the value of a property may be computed in a body of its own."""
    creators: frozenset[str] = frozenset()
    """The words for the type around that make an object of it where they are called, `new self()`, and the members of any type that do."""
    is_declared: bool = False
    """Whether a variable is declared with a type or a word: an assignment makes none, as in `new Cart { Size = 1 }`."""
    labels: str = ""
    """A pattern of a line, with a zero character for a name that is the key of a value, or the label of an argument."""
    library: str = ""
    """A pattern of the modules of the language's own library."""
    has_aliases: bool = False
    """Whether an import may go by any name that a build knows."""
    reaches_through_bases: bool = False
    """Whether the language's compiler counts the uses of a member and of one that takes its place as uses of both."""
    constructors: frozenset[str] = frozenset()
    """The names of members that the creation of an object calls; a function with the name of its type is one, too,
    where a bare name may be a member."""
    is_overloaded: bool = False
    """Whether a type may have several members of a name, which the arguments of a call tell apart."""
    has_prototypes: bool = False
    """Whether a function may be declared once more, apart from its body."""
    types_precede: bool = False
    """Whether a variable is declared by its type and its name, in this order."""
    pure_types: str = ""
    """A pattern of the signatures of types that are no values: a value may have the name of one."""
    reopened: str = ""
    """A pattern of the signatures of types that several documents may declare in parts."""
    variables: str = ""
    """The mark before the name of a variable, which is no function."""
    function_mark: str = ""
    """The mark before a function's name where it is not called; a name without it is no function."""


_SHARED = {
    "COLON_TYPE": COLON_TYPE, "COLON_PARAMETER": COLON_PARAMETER, "PREFIX_TYPE": PREFIX_TYPE, "CONSTRUCTED": CONSTRUCTED, "NEW": NEW,
}  # fmt: skip


def read_references(language: str) -> ReferenceRule:
    """Return the rule of a language, from the file of its family. A pattern of several languages is named there."""
    fields = read_fields("references", language)
    return ReferenceRule(**{name: _read_field(name, text, below) for name, text, below in fields})


def _read_field(name: str, text: str, below: Sequence[str]) -> Any:
    default = ReferenceRule._field_defaults[name]
    if isinstance(default, bool):
        return True
    if isinstance(default, frozenset):
        return frozenset(text.split())
    if isinstance(default, tuple):
        return tuple(_SHARED.get(each, each) for each in below)
    pattern = _SHARED.get(text) or text + "".join(below)
    return pattern.encode() if isinstance(default, bytes) else pattern
