"""Finds the type that a place wants: of an argument, of what is set or compared, of a result. `.member` and `new(...)` are of that type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rag_ls.engine.code.references.bindings import blank
from rag_ls.engine.code.references.code_files import CodeFile, split_owner
from rag_ls.engine.code.references.expressions import read_chain_before
from rag_ls.engine.code.references.names import Meaning, Names, is_constructor
from rag_ls.engine.code.references.overloads import Overloads
from rag_ls.engine.code.references.written_types import read_written_types
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol

if TYPE_CHECKING:
    from rag_ls.engine.code.references.types import Uses

_MAX_LINES = 30
_MAX_DEPTH = 3
_OPENING = {")": "(", "]": "[", "}": "{"}
_LABEL = re.compile(r"\s*(\w+)\s*:(?!:)\s*")
_CALLED = re.compile(r"(\w+)[?!]?(?:<[^<>()]*>)?\s*$")
_COMPARED = re.compile(r"(?:[!=]=|\?\?)=?\s*$")
_SET = re.compile(r"(?<![=!<>])(?:\?\?|[-+|&])?=\s*$")
_RESULT = re.compile(r"(?:^|[;{}\n])\s*return\s+(?:try[?!]?\s+|await\s+)*$")
_CHOSEN = re.compile(r"\s\?\s+(?:[^\n;{}]*?\s:\s+)?$")
"""The part of a choice between two values that stands before one of them: `isBig ? .big : .small`."""
_BEFORE_CHOICE = re.compile(r"(?:[^=]*\breturn\s+|.*?(?<![=!<>])=(?!=)\s*|\s*\w+\s*:\s*)?", re.DOTALL)
_CASE = re.compile(r"^\s*case\b[^:\n]*$")
_SUBJECT = re.compile(r"\bswitch\s+([^{\n]+?)\s*$")
_PATTERN = re.compile(r"(?:\b(?:if|guard|while)|,)\s+case\s+$")
_MATCHED = re.compile(r"[^=\n]*=\s*([^{=,\n]+?)\s*(?:\{|\belse\b|,|$)")


class _Place(NamedTuple):
    """The text before a place, back to the beginning of its statement or to the bracket around it."""

    text: str
    """All of it, but for other elements in the bracket."""
    bracket: str
    start: int
    """The offset of the bracket, or of the statement."""
    element: int
    """The number of elements before it in the bracket."""


class ExpectedTypes:
    """Tells the type that a value has to be of, where the code does not name it. For one question."""

    def __init__(self, names: Names, uses: Uses, overloads: Overloads) -> None:
        self._names = names
        self._files = names.files
        self._uses = uses
        self._overloads = overloads

    def find(self, source: CodeFile, line: int, column: int) -> Meaning | None:
        """The type that a value at a line, from 1, and an offset in it has to be of; None where that is unknown."""
        first = max(0, line - 1 - _MAX_LINES)
        lines = self._files.lines(source)
        head = "\n".join(lines[first : line - 1])
        text = f"{head}\n{lines[line - 1][:column]}" if head else lines[line - 1][:column]
        pattern = _MATCHED.match(lines[line - 1][column:]) if _PATTERN.search(text) else None
        of_pattern = self._uses.type_of_chain(source, pattern[1], line) if pattern else None
        found = of_pattern if pattern else self._find(source, blank(text), first + 1, 0)
        return found if found is not None and (found.declarations or found.is_list) else None

    def find_labelled(self, source: CodeFile, use: Use, column: int) -> Meaning | None:
        """The field of the type that is created, where a name labels an argument; nothing where it labels one of a function. None where
        it labels no argument.
        """
        first = max(0, use.line - 1 - _MAX_LINES)
        lines = self._files.lines(source)
        text = blank("\n".join((*lines[first : use.line - 1], lines[use.line - 1][:column])))
        place = _read_place(text)
        called = _CALLED.search(text[: place.start]) if place.bracket == "(" and not place.text.strip() else None
        if called is None or re.search(r"\b(?:fun|def|class|constructor|if|while|when)\s+\w*$", text[: called.end(1)]):
            return None
        call = self._use_at(source, text, called.start(), first + 1)
        meaning = self._uses.meaning(source, call._replace(kind=UseKind.CALL)) if call is not None else None
        made = meaning.declarations if meaning is not None else ()
        # A parameter of a function that has the name of a type is no field, nor is one of another constructor.
        types = (
            [item for item in made if self._overloads.has_primary(item)]
            if {item.kind for item in made} == {"type"}
            else []
        )
        fields = tuple(
            found
            for item in types
            for found in self._names.members(item, use.name)
            if found.kind == "value" and use.name in getattr(self._overloads.read_for_call(item, ""), "labels", ())
        )
        return Meaning(fields)

    def _use_at(self, source: CodeFile, text: str, at: int, first: int) -> Use | None:
        """The use of the name at an offset of a text whose first line is `first`."""
        line, column = first + text[:at].count("\n"), at - (text.rfind("\n", 0, at) + 1)
        name = re.match(r"\w+", text[at:])
        known = self._files.lines(source)[line - 1][:column].encode("utf-8", "surrogatepass")
        found = source.uses({name[0]}) if name else ()
        return next((each for each in found if (each.line, each.column) == (line, len(known))), None)

    def _find(self, source: CodeFile, text: str, first: int, depth: int) -> Meaning | None:
        """The type at the end of a text whose first line is `first`."""
        place = _read_place(text)
        line = first + text.count("\n")
        before = place.text
        if _CHOSEN.search(before) and (whole := _BEFORE_CHOICE.match(before)):
            before = whole[0]
        if _RESULT.search(before):
            return self._result(source, line)
        if compared := _COMPARED.search(before):
            return self._uses.type_of_chain(source, read_chain_before(before[: compared.start()].rstrip() + "."), line)
        if given := _SET.search(before):
            return self._of_target(source, before[: given.start()], line)
        if _CASE.match(before):
            return self._subject(source, text[: place.start], line)
        if before.strip() and not _LABEL.fullmatch(before):
            return None
        if place.bracket == "(":
            return self._of_argument(source, text[: place.start], first, before, place.element)
        if place.bracket == "[" and depth < _MAX_DEPTH:
            held = self._find(source, text[: place.start], first, depth + 1)
            return Meaning(held.elements) if held is not None and held.elements else None
        return self._result(source, line) if place.bracket == "{" else None

    def _of_target(self, source: CodeFile, target: str, line: int) -> Meaning | None:
        """The type of what a value is given to: that of its declaration, else of the chain."""
        declared = re.search(r"(?:^|[\s(,])\w+\s*:\s*([^=]+?)\s*$", target) if source.rule.types_follow else None
        if declared:
            return self._read_type(source, declared[1], line)
        chain = read_chain_before(target.rstrip() + ".")
        return self._uses.type_of_chain(source, chain, line) if chain else None

    def _result(self, source: CodeFile, line: int) -> Meaning | None:
        around = source.around(line, "function", "value")
        return self._uses.result_of(around) if around is not None else None

    def _subject(self, source: CodeFile, before: str, line: int) -> Meaning | None:
        """The type of what the branches of a `switch` around a place are for."""
        depth = 0
        for at in range(len(before) - 1, -1, -1):
            depth += (before[at] == "}") - (before[at] == "{")
            if depth < 0:
                subject = _SUBJECT.search(before[:at])
                return self._uses.type_of_chain(source, subject[1], line) if subject else None
        return None

    def _of_argument(self, source: CodeFile, before: str, first: int, label: str, index: int) -> Meaning | None:
        """The type of a parameter of the function that is called before a bracket."""
        called = _CALLED.search(before)
        use = self._use_at(source, before, called.start(), first) if called else None
        if called is None or use is None:
            return None
        line, column = use.line, called.start() - (before.rfind("\n", 0, called.start()) + 1)
        name = match[1] if (match := _LABEL.fullmatch(label)) else ""
        if called[1] in source.rule.adders and use.receiver:
            chain = read_chain_before(before[: called.start()])
            added_to = self._uses.type_of_chain(source, chain, line) if chain else None
            if added_to is not None and added_to.elements:
                return Meaning(added_to.elements)
        meaning = self._uses.meaning(source, use._replace(kind=UseKind.CALL))
        found = [
            self._parameter(item, name, index, before[: called.start()])
            for item in self._called(source, use, column, meaning.declarations if meaning is not None else ())
        ]
        known_types = {each for each in found if each is not None}
        return known_types.pop() if len(known_types) == 1 and None not in found else None

    def _called(
        self, source: CodeFile, use: Use, column: int, declared: tuple[StoredSymbol, ...]
    ) -> tuple[StoredSymbol, ...]:
        """The functions that a call may mean; the constructors of a type."""
        functions = tuple(item for item in declared if item.kind == "function")
        for item in declared if not functions else ():
            home = self._files.at(item.path)
            own = home.symbols if home is not None and item.kind == "type" else ()
            made = tuple(
                each for each in own if is_constructor(each, source.rule) and split_owner(each.symbol)[0] == item.symbol
            )
            functions += made or (item,)
        called = [item for item in functions if item.kind == "function"]
        return self._overloads.choose(source, use.line, column, called) if len(called) > 1 else functions

    def _parameter(self, item: StoredSymbol, label: str, index: int, before: str) -> Meaning | None:
        """The type of a parameter by its label, else by its place; of a type without a constructor, of its field of that name."""
        home, parameters = self._files.at(item.path), self._overloads.read_for_call(item, before)
        if home is None:
            return None
        if parameters is None or (item.kind == "type" and label and label not in parameters.labels):
            fields = self._names.members(item, label) if item.kind == "type" and label else ()
            return self._uses.result_of(fields[0]) if fields else None
        at = parameters.labels.index(label) if label in parameters.labels else index
        if parameters.labels and label and label not in parameters.labels:
            return None
        written = parameters.written[min(at, len(parameters.written) - 1)] if parameters.written else ""
        is_whole = at < len(parameters.written) or parameters.is_open
        return self._read_type(home, written, item.start_line) if written and is_whole else None

    def _read_type(self, source: CodeFile, text: str, line: int) -> Meaning | None:
        """The type that is written in a text."""
        return self._uses.meaning_of_written(source, read_written_types(text, 0, source.rule), line)


def _read_place(text: str) -> _Place:
    depth = index = 0
    for at in range(len(text) - 1, -1, -1):
        mark = text[at]
        if mark in _OPENING:
            depth += 1
        elif mark in "([{" and depth:
            depth -= 1
        elif mark in "([{":
            return _Place(_after_last_comma(text[at + 1 :]), mark, at, index)
        elif not depth and mark == ",":
            index += 1
        elif not depth and (mark == ";" or (mark == "\n" and _ends_statement(text, at))):
            return _Place(text[at + 1 :], "", at + 1, 0)
    return _Place(text, "", 0, 0)


def _ends_statement(text: str, at: int) -> bool:
    """Whether a line's end is that of a statement: neither it nor the next line shows that more belongs to it."""
    before, after = text[:at].rstrip(), text[at + 1 :].lstrip()
    return (
        bool(after)
        and not before.endswith((",", "(", "[", "=", ":", "?", "&&", "||", "return"))
        and after[:1] not in ".?:"
    )


def _after_last_comma(text: str) -> str:
    depth, start = 0, 0
    for at, mark in enumerate(text):
        depth += (mark in "([{") - (mark in _OPENING)
        if mark == "," and not depth:
            start = at + 1
    return text[start:]
