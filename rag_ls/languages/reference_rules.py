"""Rules to find uses of names in the tree of a document, and to tell what a name belongs to, as data.

A query captures the node that is called as `@call`, a base class or interface as `@base`: the name with which the node ends
is meant. `@skip` captures names that are no uses: labels of arguments, keys. So are those of `@namespace`, but the names behind them
have them as receivers.
"""

from __future__ import annotations

from typing import NamedTuple

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
    """Queries for texts that are names, as `@symbol`; `@own_symbol` for those of them that name a method of the object itself. `@key`,
    `@shorthand`, `@taken`, `@attribute` and `@index` are members of the type that a place expects (`chunking.uses`)."""
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
    registered: tuple[str, ...] = ()
    """Patterns of lines in which texts in quotes name a type and, in the first group, the folder of its application."""
    registered_in: str = ""
    """A pattern of what follows that folder in the path of the type's document."""
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
    lists: frozenset[str] = frozenset()
    """The types whose argument is the type of what they hold."""
    wrappers: frozenset[str] = frozenset()
    """The types that stand for their argument, once it is waited for or unpacked."""
    elements: frozenset[str] = frozenset({"[]"})
    """The methods of a list that give one of its elements; `[]` stands for brackets."""
    same: frozenset[str] = frozenset()
    """The methods of a list that give a list of the same elements."""
    loops: tuple[str, ...] = ()
    """Patterns that find the list whose elements `{name}` goes through: it begins where the match ends."""
    callbacks: tuple[str, ...] = ()
    """The same for parameters of functions that are given to a method of the list: it ends where the match begins."""
    results: str = ""
    """A pattern that finds the values that a function's text returns, where its signature may leave the type out."""
    parameters: str = r"[(,]\s*(?:\*{1,2}|\.\.\.|\w+\s+)?{name}\s*[,:=)?]"
    """A pattern that finds a parameter by its `{name}`."""
    has_bodies: bool = False
    """Whether the value of a property may be computed in a body of its own."""
    leading_dot: bool = False
    """Whether a member without a receiver, `.small`, is of the type that its place wants."""
    creators: frozenset[str] = frozenset()
    """The words for the type around that make an object of it where they are called, `new self()`, and the members of any type that do."""
    is_declared: bool = False
    """Whether a variable is declared with a type or a word: an assignment makes none, as in `new Cart { Size = 1 }`."""
    labels: str = ""
    """A pattern of what follows a name that is the key of a value; a key is no type and no function."""
    library: str = ""
    """A pattern of the modules of the language's own library."""
    has_aliases: bool = False
    """Whether an import may go by any name that a build knows."""
    argument_labels: str = ""
    """A pattern of what follows the label of an argument, which is none of the names of the document."""
    reaches_through_bases: bool = False
    """Whether the language's compiler counts the uses of a member and of one that takes its place as uses of both."""
    constructors: frozenset[str] = frozenset()
    """The names of members that the creation of an object calls; a function with the name of its type is one, too,
    where a bare name may be a member."""
    inherits_constructors: bool = False
    """Whether a type without a constructor is created by that of the type that it derives from."""
    is_overloaded: bool = False
    """Whether a type may have several members of a name, which the arguments of a call tell apart."""
    has_prototypes: bool = False
    """Whether a function may be declared once more, apart from its body."""
    has_arities: bool = False
    """Whether types of one name may differ by the number of their own arguments."""
    types_precede: bool = False
    """Whether a variable is declared by its type and its name, in this order."""
    types_follow: bool = False
    """Whether a parameter's type follows its name, which may label the argument; a block behind a call is an argument, too."""
    chained: frozenset[str] = frozenset()
    """The words, among the names, with which a constructor calls another one of its type or of a base."""
    pure_types: str = ""
    """A pattern of the signatures of types that are no values: a value may have the name of one."""
    type_uses: str = ""
    """A pattern of a line, with a zero character for a name, in which the name means a type and no value."""
    global_scope: str = ""
    """The scope whose declarations all documents see, each of which may add to them."""
    global_files: str = ""
    """A pattern of the paths of documents that declare for all others, unless they import or export."""
    reopened: str = ""
    """A pattern of the signatures of types that several documents may declare in parts."""
    variables: str = ""
    """The mark before the name of a variable, which is no function."""
    namespace: str = ""
    """A pattern of the statement whose first group is the namespace of the functions below it: others do not see them."""
    tables: str = ""
    """A pattern of the assignment to a variable `{name}` in whose fields functions may be declared; the first group is a module that it
    is loaded from."""
    extensions: str = ""
    """A pattern of the signatures of functions that are called on a type's objects, but imported by their own names."""
    function_mark: str = ""
    """The mark before a function's name where it is not called; a name without it is no function."""
    several_set: str = ""
    """A pattern of a line, with a zero character for a member, in which a value is given to it among others: `a.x, b.y = 1, 2`."""
    creating_members: frozenset[str] = frozenset()
    """The members of a type that call its constructor."""
    reflective: str = ""
    """A pattern of the text before a symbol that names a method in the body of another one; elsewhere there it is a mere value."""
    delegations: str = ""
    """A pattern of a statement whose symbols are methods of what its group `to` or `of` names: `delegate :name, to: :user`."""
    associations: str = ""
    """A pattern of the statement that declares `{name}` to be an object of the type with that name in capitals."""
    declaring: str = ""
    """A pattern of the text before a function's name where it is declared once more: a further clause, a specification."""
    bringing: str = ""
    """A pattern of the statements that bring the functions of a module, which no other document sees without its name."""
    setters: str = ""
    """A pattern of what follows a member to which a value is given: this calls the member whose name ends in `=`, and where its group
    matches, both."""
    fields: str = ""
    """A pattern of the text before a name that is a variable or field there, and no function, unless it is called."""
