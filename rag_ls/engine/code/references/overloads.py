"""Tells overloads apart: by the number of a call's arguments, and by those of their types that are written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from rag_ls.engine.code.references.code_files import CodeFile, split_owner
from rag_ls.engine.code.references.expressions import close_bracket
from rag_ls.engine.code.references.names import Names
from rag_ls.engine.code.references.types import Uses
from rag_ls.storage import StoredSymbol

_MAX_CHARACTERS = 2000
_MAX_LINES = 30
_TYPE_ARGUMENTS = re.compile(r"(?<=\w)<[^<>(){};=&|\"']*>")
_COMMENTS_AND_STRINGS = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"{3}(?:\\.|[^\\])*?\"{3}|\$?@\$?\"(?:[^\"]|\"\")*\"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'",
    re.DOTALL,
)
_PARAMETER = re.compile(
    r"(?:(?:@\w+(?:\([^()]*\))?|\[[^\]]*\]|final|this|ref|out|in|params|const|volatile|struct|enum|unsigned)\s+)*(?:\w+::)*(\w+(?:\.\w+)*)([^=]*?)(?:=.*)?$",
    re.DOTALL,
)
_CONSTRUCTOR = r"(?:(?:@?\w+(?:\([^()]*\))?\s+)*constructor\s*)?"
_MODIFIERS = re.compile(r"^(?:(?:@\w+(?:\([^()]*\))?|\[[^\]]*\]|final|this|ref|out|in|params|scoped|readonly)\s+)*")
_NAMED = re.compile(r"(.*(?<!\bconst)(?<!\bunsigned)(?<!\bstruct)[\s*&>\].])@?\w+$", re.DOTALL)
"""A parameter with its name: prototypes may leave it out."""
_LABELLED_PARAMETER = re.compile(
    r"(?:@\w+(?:\([^()]*\))?\s*|(?:vararg|noinline|crossinline|implicit|using|override|private|va[lr])\s+)*(\w+)(?:\s+\w+)?\s*:\s*(?:@\w+\s+|inout\s+|any\s+|some\s+|=>\s*)*"
    r"(\w+(?:\.\w+)*)?((?:[^=]|=>)*)(?:=(?!>).*)?$",
    re.DOTALL,
)
_LABELLED_ARGUMENT = re.compile(r"(\w+)\s*(?::(?!:)|=(?!=))\s*")
_ANNOTATED = re.compile(r"@[\w.]*\Z")
_CREATED = re.compile(r"new\s+([\w.]+)\s*(?:\(|$)")
_LITERALS = (
    (re.compile(r"\$?\"[^\"]*\"\s*(?:\+|$)"), frozenset({"string"})),
    (re.compile(r"'[^']*'$"), frozenset({"char", "character"})),
    (re.compile(r"true$|false$"), frozenset({"boolean", "bool"})),
    (re.compile(r"-?\d[\d_]*$"), frozenset({"int", "integer"})),
    (re.compile(r"-?\d[\d_]*[lL]$"), frozenset({"long"})),
    (re.compile(r"-?\d[\d_.]*[dfm]?$"), frozenset({"double", "float", "decimal"})),
)
_PLAIN = frozenset().union(*(names for _, names in _LITERALS))
"""The types of values that no type of a project stands for."""
_NUMBERS = _PLAIN - {"string", "boolean", "bool"}
"""Those of which one may be given for another."""
_WIDTHS = ("int", "long", "float", "double")
"""Numbers, of which each may be given for those after it."""
_BOXES = frozenset({"Integer", "Character", "Long", "Double", "Float", "Boolean"})


class Fit(IntEnum):
    """The certainty with which an argument is one for a parameter."""

    NEVER = 0
    MAYBE = 1
    BOXED = 2
    """As an object that holds the value: an `int` for an `Integer`."""
    WIDENED = 3
    """As a value of a wider type: an `int` for a `long`, an object for one of a base class."""
    SURELY = 4


class Parameters(NamedTuple):
    """The parameters of a function, by their types as they are written; `""` for one that may be of any."""

    types: tuple[str, ...]
    optional: int
    """The number of those at the end that a call may leave out."""
    is_open: bool
    """Whether the last one takes any number of arguments."""
    begins_with_object: bool = False
    """Whether the first one is the object itself, as of a method that is written beside its type."""
    labels: tuple[str, ...] = ()
    """The names by which a call may label them, where the language has such."""
    written: tuple[str, ...] = ()
    """The whole types, as they are written."""

    def takes(self, labels: Sequence[str]) -> bool:
        """Whether a call with arguments of some labels fits; an argument without one has an empty label."""
        count = len(labels)
        is_enough = count >= len(self.types) - self.optional and (self.is_open or count <= len(self.types))
        return is_enough and all(not label or label in self.labels for label in labels)

    def spread(self, labels: Sequence[str]) -> tuple[str, ...]:
        """The type for each argument."""
        types = (*self.types, *self.types[-1:] * (len(labels) - len(self.types)))
        return tuple(self.types[self.labels.index(label)] if label else types[at] for at, label in enumerate(labels))


class Overloads:
    """Chooses among overloads. For one question; not safe from several threads."""

    def __init__(self, names: Names, uses: Uses) -> None:
        self._files = names.files
        self._names = names
        self._uses = uses
        self._parameters: dict[StoredSymbol, Parameters | None] = {}

    def choose(
        self, source: CodeFile, line: int, column: int, declared: Sequence[StoredSymbol], *, are_one: bool = False
    ) -> tuple[StoredSymbol, ...]:
        """The overloads that a call may mean: all of them where its arguments do not tell; none where it fits none, and a base
        class has others. `column`: where its name begins, from 0; `are_one`: declarations of several names are overloads.
        """
        if not are_one and len({item.symbol for item in declared}) > 1:
            return tuple(declared)
        has_others = self._has_others(declared[0])
        if len(declared) < 2 and not has_others:
            return tuple(declared)
        lines = self._files.lines(source)
        text = "\n".join((lines[line - 1][column:], self._files.text(source, line + 1, line + _MAX_LINES)))
        arguments = read_arguments(text[:_MAX_CHARACTERS], has_blocks=source.rule.types_follow)
        if arguments is None:
            return tuple(declared)
        labelled = [_LABELLED_ARGUMENT.match(each) if source.rule.types_follow else None for each in arguments]
        labels = [each[1] if each else "" for each in labelled]
        values = [each[match.end() :] if match else each for each, match in zip(arguments, labelled, strict=True)]
        known = {item: self.read_for_call(item, lines[line - 1][:column]) for item in declared}
        taking = {item: each for item, each in known.items() if each is None or each.takes(labels)}
        if None in taking.values() or (len(taking) < 2 and not has_others):
            return tuple(taking) or tuple(declared)
        types = [self._type_of(source, each, line) for each in values]
        spread = {item: each.spread(labels) for item, each in taking.items() if each is not None}
        fits = {item: [self._fit(item, *pair) for pair in zip(types, spread[item], strict=True)] for item in spread}
        fitting = [item for item, each in fits.items() if all(each)] or ([] if has_others else list(taking))
        if source.rule.prefers_fixed_arity:
            fitting = self._find_in_first_phase(fitting, fits)
        return tuple(
            item
            for item in fitting
            if not any(_is_nearer(spread[other], fits[other], spread[item], fits[item]) for other in fitting)
        )

    def _find_in_first_phase(
        self, fitting: Sequence[StoredSymbol], fits: Mapping[StoredSymbol, Sequence[Fit]]
    ) -> list[StoredSymbol]:
        """Those of some overloads that Java looks at first: without boxing, then with it, last those of any number of arguments."""
        phases = {}
        for item in fitting:
            least, parameters = min(fits[item], default=Fit.SURELY), self._read(item)
            is_open = parameters is not None and parameters.is_open
            # The phase of an argument of unknown type is not known.
            phases[item] = 3 if is_open else 0 if least <= Fit.MAYBE else 2 if least is Fit.BOXED else 1
        first = min((phase for phase in phases.values() if phase), default=0)
        return [item for item, phase in phases.items() if phase <= first]

    def _has_others(self, item: StoredSymbol) -> bool:
        """Whether a class from which the member's own one derives has members of its name."""
        name, home = split_owner(item.symbol)[1], self._files.at(item.path)
        owner = home.types.get(self._names.declared.owner_of(item)) if home is not None else None
        bases = self._names.bases_of(owner) if owner is not None else []
        return any(self._names.members(base, name) for base in bases if base != owner)

    def has_primary(self, item: StoredSymbol) -> bool:
        """Whether the head of a type is a constructor, too: `class Cart(val size: Int)`."""
        name = re.escape(split_owner(item.symbol)[1])
        return bool(re.search(rf"\b{name}\s*(?:<[^()]*>\s*)?{_CONSTRUCTOR}\(", item.signature))

    def is_like(self, one: StoredSymbol, other: StoredSymbol) -> bool:
        """Whether one of two members of a name may take the place of the other: overloads have as many parameters."""
        home = self._files.at(one.path)
        if home is None or not home.rule.is_overloaded:
            return True
        first, second = self._read(one), self._read(other)
        if first is None or second is None or first.written == second.written:
            return True
        # Of several with as many, the one whose types are written as these.
        beside = (each for each in self._files.named(split_owner(other.symbol)[1]) if each.symbol == other.symbol)
        is_clear = any(known.written == first.written for each in beside if (known := self._read(each)))
        return not is_clear and len(first.types) == len(second.types)

    def takes_as_many(self, one: StoredSymbol, other: StoredSymbol) -> bool:
        """Whether two functions have as many parameters."""
        first, second = self._read(one), self._read(other)
        return first is None or second is None or len(first.types) == len(second.types)

    def is_written_alike(self, one: StoredSymbol, other: StoredSymbol) -> bool:
        """Whether two functions have the same types of parameters, as they are written."""
        first, second = self._read(one), self._read(other)
        return first is None or second is None or first.written == second.written

    def read_for_call(self, item: StoredSymbol, before: str) -> Parameters | None:
        """The parameters that a call behind a text gives: on an object, not the object itself. None where they are not seen."""
        known, owner = self._read(item), split_owner(split_owner(item.symbol)[0])[1]
        if known is None or not known.begins_with_object or re.search(rf"\b{re.escape(owner)}\s*\.\s*$", before):
            return known
        return known._replace(types=known.types[1:], labels=known.labels[1:], written=known.written[1:])

    def _read(self, item: StoredSymbol) -> Parameters | None:
        if item not in self._parameters:
            home = self._files.at(item.path)
            text = self._files.text(home, item.start_line, item.end_line) if home is not None else ""
            types_follow = home is not None and home.rule.types_follow
            self._parameters[item] = read_parameters(
                text[:_MAX_CHARACTERS], split_owner(item.symbol)[1], types_follow=types_follow
            )
        return self._parameters[item]

    def _type_of(self, source: CodeFile, argument: str, line: int) -> str | StoredSymbol:
        """The type of an argument, or the name of one that is not the project's; empty where it is unknown."""
        for pattern, names in _LITERALS:
            if pattern.match(argument):
                return min(names)
        created = _CREATED.match(argument)
        # A call on a new object gives another type.
        if created and argument[close_bracket(argument, created.end() - 1) + 1 :].lstrip()[:1] in ("", "{"):
            return self._names.type_named(source, created[1]) or created[1].rpartition(".")[2]
        return self._uses.type_of_value(source, argument, line)

    def _fit(self, item: StoredSymbol, given: str | StoredSymbol, wanted: str) -> Fit:
        """The certainty with which an argument is one for a parameter of a type."""
        if not given or len(wanted) <= 1:
            return Fit.MAYBE
        name = given if isinstance(given, str) else split_owner(given.symbol)[1]
        if name.lower() == wanted.lower() or any({name.lower(), wanted.lower()} <= names for _, names in _LITERALS):
            return Fit.SURELY if (name in _BOXES) == (wanted in _BOXES) else Fit.BOXED
        if name in _WIDTHS and wanted in _WIDTHS[_WIDTHS.index(name) :]:
            return Fit.WIDENED
        home = self._files.at(item.path)
        target = self._names.type_named(home, wanted) if home is not None else None
        if isinstance(given, str):
            is_plain, is_number = name.lower() in _PLAIN, {name.lower(), wanted.lower()} <= _NUMBERS
            is_other = is_plain and not is_number and (target is not None or wanted.lower() in _PLAIN)
            return Fit.NEVER if is_other else Fit.MAYBE
        if target is None:
            return Fit.NEVER if wanted.lower() in _PLAIN else Fit.MAYBE
        return Fit.SURELY if target == given else Fit.WIDENED if self._names.derives(given, target) else Fit.NEVER


_CALLED = re.compile(r"[\w$]+\s*\(|[\w$]+\??\s+[\w$]+\s*(?:\([^()]*\)|\{[^{}]*\})?\s*=>?\s*new\s*\(")
"""The beginning of a call, `add(` or `new Cart(` from the name on, or of a creation of the type that is declared: `Cart cart = new(`."""


def read_arguments(text: str, *, has_blocks: bool = False) -> list[str] | None:
    """The arguments of a call, from the name that is called on; None where none is called. `has_blocks`: a block behind it is one."""
    text = _simplify(text)
    called = _CALLED.match(text)
    end = close_bracket(text, called.end() - 1) if called else len(text)
    if called is None or end >= len(text):
        return None
    block = ["{"] if has_blocks and text[end + 1 :].lstrip(" ").startswith("{") else []
    return [*_split(text[called.end() : end]), *block]


def read_parameters(text: str, name: str, *, types_follow: bool = False) -> Parameters | None:
    """The parameters of a function of a name, from its text; None where they are not seen."""
    written = _read_written(text, name, types_follow=types_follow)
    parts = _parameters_in(_simplify(text), name)
    if parts is None:
        return None
    if types_follow:
        matches = [_LABELLED_PARAMETER.match(part) for part in parts]
        kinds = tuple(each[2] or "" if each and not each[3].strip(" ?!") else "" for each in matches)
        defaults = sum(bool(re.search(r"=(?!>)", part)) for part in parts)
        is_open = any(re.search(r"\bvararg\b|\.\.\.|\*$", part) for part in parts)
        labels = tuple(each[1] if each else "" for each in matches)
        return Parameters(kinds, defaults + is_open, is_open, labels=labels, written=written)
    types = []
    for part in parts:
        match = _PARAMETER.match(part)
        is_array = match is not None and "[]" in match[2]
        types.append(match[1].rpartition(".")[2] if match and not is_array else "")
    is_open = bool(parts) and ("..." in parts[-1] or parts[-1].startswith("params "))
    defaults = sum("=" in part for part in parts) + is_open
    labels = tuple(each[0] if (each := re.findall(r"(\w+)\s*(?:=.*)?$", part)) else "" for part in parts)
    begins_with_object = bool(parts) and parts[0].startswith("this ")
    return Parameters(tuple(types), defaults, is_open, begins_with_object, labels=labels, written=written)


def _parameters_in(text: str, name: str) -> list[str] | None:
    """The parameters in the text of a function of a name; None where they are not seen."""
    named = re.finditer(rf"(?<!\w){re.escape(name)}\s*(?:\[[^\[\]()]*\]\s*|<[^()]*>\s*)?{_CONSTRUCTOR}\(", text)
    found = next((each for each in named if not _ANNOTATED.search(text, 0, each.start())), None)
    end = close_bracket(text, found.end() - 1) if found else len(text)
    return _split(text[found.end() : end]) if found and end < len(text) else None


def _read_written(text: str, name: str, *, types_follow: bool) -> tuple[str, ...]:
    """The types of parameters with their own arguments, without names and defaults."""
    parts = _parameters_in(_blank(text), name) or ()
    if types_follow:
        return tuple(re.sub(r"\s*=(?!>).*", "", part.partition(":")[2], flags=re.DOTALL).strip() for part in parts)
    bare = (re.sub(r"\s*=.*", "", part, flags=re.DOTALL) for part in parts)
    return tuple(" ".join(_NAMED.sub(r"\1", _MODIFIERS.sub("", part.strip())).split()) for part in bare)


def _simplify(text: str) -> str:
    """A text without comments, the texts in quotes and the arguments of types."""
    text = _blank(text)
    while (shorter := _TYPE_ARGUMENTS.sub("", text)) != text:
        text = shorter
    return text


def _blank(text: str) -> str:
    """A text without comments and what stands in quotes."""
    return _COMMENTS_AND_STRINGS.sub(lambda found: "" if found[0][0] == "/" else f"{found[0][-1]} {found[0][-1]}", text)


def _split(text: str) -> list[str]:
    """The parts of a list that commas outside of brackets divide."""
    found, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        # Of types; an arrow or a comparison is none.
        depth += (letter == "<" and text[at - 1 : at].isalnum()) - (letter == ">" and text[at - 1 : at] not in "=- ")
        if letter == "," and not depth:
            found.append(text[start:at].strip())
            start = at + 1
    return [*found, text[start:].strip()] if text.strip() else []


def _is_nearer(one: Sequence[str], fits: Sequence[Fit], other: Sequence[str], theirs: Sequence[Fit]) -> bool:
    """Whether a call means one overload rather than another: nothing in which they differ speaks for the other."""
    pairs = list(zip(one, fits, other, theirs, strict=True))
    return all(a == b or fit > their for a, fit, b, their in pairs) and any(a != b for a, _, b, _ in pairs)
