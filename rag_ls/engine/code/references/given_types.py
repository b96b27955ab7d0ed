"""Reads the types that scripts write at declarations: what stands behind a name, its members, and the functions that it is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import NamedTuple, Protocol

from rag_ls.engine.code.references import type_texts
from rag_ls.engine.code.references.code_files import CodeFile, split_owner
from rag_ls.engine.code.references.expressions import Step, read_steps
from rag_ls.engine.code.references.names import Meaning, Names
from rag_ls.engine.code.references.script_text import ScriptText
from rag_ls.engine.code.references.type_texts import Parameter
from rag_ls.storage import StoredSymbol

_MAX_DEPTH = 12
_MAX_TYPES = 40
_MAX_EXPRESSION = 400
_MAX_DECLARATION = 6000
_CAST_AT_END = re.compile(r"^[^\n{}]*\b(?:as|satisfies)\s+((?!const\b)[A-Za-z_$][\w$.]*(?:<[^;(){}]*>)?)\s*;?\s*$")
_NAMED_TYPE = re.compile(r"\b(type|interface)\s+[\w$]")
_INDEXED = re.compile(r"\[[\"']([\w$]+)[\"']\]$")
_MAPPED = re.compile(r"\{\s*(?:readonly\s+)?\[[^\]]*\]\s*[-+]?\??\s*:\s*(.*?);?\s*\}$", re.DOTALL)


class TypeText(NamedTuple):
    """A type as a document writes it near a line, or a type without a name that such a one is made of."""

    source: CodeFile
    text: str
    line: int
    is_own: bool = False
    """Whether it is written at the place itself, where a type parameter is what bounds it; for others, it is what they give."""
    given: tuple[tuple[str, TypeText], ...] = ()
    """The types that are given for type parameters."""


class GivenType(NamedTuple):
    """A declared type, with the types that are given for its parameters."""

    item: StoredSymbol
    given: tuple[tuple[str, TypeText], ...] = ()


class Function(NamedTuple):
    """A function as a document writes it near a line."""

    home: TypeText
    """A place in the document, with the types that are given for type parameters."""
    parameters: list[Parameter]
    result: str

    def parameter(self, count: int) -> list[TypeText]:
        """The type of a parameter, the first one is 0; empty where none is written."""
        typed = self.parameters[count].type if count < len(self.parameters) else ""
        return [self.home._replace(text=typed)] if typed else []

    def results(self) -> list[TypeText]:
        """The type of the result; empty where none is written."""
        return [self.home._replace(text=self.result)] if self.result else []


class TypeReader(Protocol):
    """Tells the types of expressions."""

    def type_of_steps(self, source: CodeFile, steps: list[Step], line: int) -> Meaning | None:
        """The type or module that a chain gives; None if it is unknown."""

    def is_local(self, source: CodeFile, name: str, line: int) -> bool:
        """Whether a bare name is a variable of the function around it."""


class WrittenTypes:
    """Reads the types that scripts write. For one question; not safe from several threads."""

    def __init__(self, names: Names, types: TypeReader) -> None:
        self._names = names
        self._files = names.files
        self._types = types
        self._texts: dict[int, ScriptText] = {}

    def text(self, source: CodeFile) -> ScriptText:
        if source.id not in self._texts:
            self._texts[source.id] = ScriptText(self._files.lines(source))
        return self._texts[source.id]

    def member_of(self, owner: Meaning, name: str) -> Meaning | None:
        """The members of a name that the types have to which declarations give other names."""
        behind = [self._behind(GivenType(item)) for item in owner.declarations if item.kind == "type"]
        return self.meaning([each for each in behind if each is not None], name)

    def meaning(self, expected: Iterable[TypeText], name: str, unfit: Collection[StoredSymbol] = ()) -> Meaning | None:
        """The members of a name that some types have, but for those of some declared ones."""
        found: dict[StoredSymbol, None] = {}
        pending, seen = list(self._parts(expected)), set(unfit)
        while pending and len(seen) < _MAX_TYPES:
            part = pending.pop(0)
            if not isinstance(part, GivenType) or part.item in seen:
                continue
            seen.add(part.item)
            found.update(dict.fromkeys(self._names.members(part.item, name)))
            behind = self._behind(part)
            # `Omit<Cart, "size"> & { size: string }` has one `size`.
            if behind is not None and not re.search(rf"Omit\s*<[^;]*[\"']{re.escape(name)}[\"']", behind.text):
                pending += self._parts([behind])
        return Meaning(tuple(found)) if found else None

    def _parts(self, expected: Iterable[TypeText], depth: int = 0) -> Iterator[TypeText | GivenType]:
        """The declared types, and the parts of types that have no name, that some written ones are made of."""
        for written in expected:
            for part in type_texts.read_parts(written.text):
                yield from self._part(written._replace(text=part), depth)

    def _part(self, part: TypeText, depth: int) -> Iterator[TypeText | GivenType]:
        name, arguments, rest = type_texts.read_name(part.text)
        if depth > _MAX_DEPTH:
            return
        if not name or (rest and not _INDEXED.match(rest)):
            yield part
        elif rest:
            match = _INDEXED.match(rest)
            base = part._replace(text=part.text[: -len(rest)])
            yield from self._parts(self.values_of([base], match[1] if match else ""), depth + 1)
        elif name.startswith("typeof "):
            steps = read_steps(name.removeprefix("typeof "))
            found = self._types.type_of_steps(part.source, steps, part.line) if steps else None
            yield from (GivenType(item) for item in (found.declarations if found else ()) if item.kind == "type")
        elif name.rpartition(".")[2] in (
            "ReturnType",
            "ComponentProps",
            "ComponentPropsWithoutRef",
            "ComponentPropsWithRef",
        ):
            yield from self._parts(self._of_typeof(part, name, arguments), depth + 1)
        elif name in (given := dict(part.given)):
            yield from self._parts([given[name]], depth + 1)
        elif (bound := self._bound(part, name)) is not None:
            yield from self._parts([bound] if part.is_own else (), depth + 1)
        elif (item := self._names.type_named(part.source, name)) is not None:
            yield GivenType(item, self._give(item, part, arguments))
        else:
            yield part

    def _give(self, item: StoredSymbol, part: TypeText, arguments: list[str]) -> tuple[tuple[str, TypeText], ...]:
        """The types that are given for the parameters of a declared one."""
        head = re.search(r"\b(?:type|interface|class)\s+[\w$]+\s*(?=<)", item.signature) if arguments else None
        if head is None:
            return ()
        text = item.signature[head.end() + 1 : type_texts.close_type_bracket(item.signature, head.end())]
        names = (re.search(r"[\w$]+(?=\s*(?:$|extends\b|=))", each.strip()) for each in type_texts.split_top(text, ","))
        pairs = zip(names, arguments, strict=False)
        return tuple((match[0], part._replace(text=each.strip())) for match, each in pairs if match is not None)

    def _of_typeof(self, part: TypeText, name: str, arguments: list[str]) -> list[TypeText]:
        called = read_steps(arguments[0].strip().removeprefix("typeof ")) if arguments else []
        functions = list(self.find_called(part.source, called, part.line, is_new=False)) if called else []
        return [
            each
            for function in functions
            for each in (function.results() if name == "ReturnType" else function.parameter(0))
        ]

    def _bound(self, part: TypeText, name: str) -> TypeText | None:
        """The type by which a type parameter is bounded, where a name is one."""
        if "." in name:
            return None
        around = part.source.around(part.line)
        holders = [around, part.source.around(part.line, "type")] if around is not None else []
        for item in filter(None, holders):
            text = self._files.text(part.source, item.start_line, min(item.end_line, item.start_line + 40))
            match = re.search(rf"[<,]\s*(?:const\s+|in\s+|out\s+)*{re.escape(name)}\s+extends\s+", text)
            if match:
                bound = type_texts.split_top(text[match.end() : match.end() + 600] + ">", ",=>")[0]
                return part._replace(text=bound.strip()) if bound.strip() != name else None
        return None

    def types_of(self, expected: Iterable[TypeText]) -> list[StoredSymbol]:
        """The declared types, with those that stand behind the names of others."""
        parts = islice(self._expand(expected), _MAX_TYPES)
        return list(dict.fromkeys(part.item for part in parts if isinstance(part, GivenType)))

    def _behind(self, declared: GivenType) -> TypeText | None:
        """The type to which a declaration gives another name."""
        item = declared.item
        home = self._files.at(item.path)
        if home is None or (match := _NAMED_TYPE.search(item.signature)) is None:
            return None
        text = self.declared_text(home, item)
        if match[1] == "interface":
            # `extends Omit<Cart, "size">`: other bases are known.
            heads = type_texts.split_top(text.partition("{")[0].partition(" extends ")[2], ",")
            wrapped = [each.strip() for each in heads if type_texts.read_parts(each) not in ([], [each.strip()])]
            return TypeText(home, " & ".join(wrapped), item.start_line, given=declared.given) if wrapped else None
        match = re.search(r"\btype\s+[\w$]+\s*", text)
        if match is None:
            return None
        at = match.end()
        at = type_texts.close_type_bracket(text, at) + 1 if text[at : at + 1] == "<" else at
        equals = text.find("=", at)
        if equals < 0:
            return None
        behind = TypeText(home, text[equals + 1 :].strip().removesuffix(";"), item.start_line, given=declared.given)
        # `{ [K in keyof T]: T[K] }` has the members of `T`.
        mapped = re.match(r"\{\s*(?:[-+]?readonly\s+)?\[\s*\w+\s+in\s+keyof\s+(\w+)", behind.text)
        return behind._replace(text=mapped[1]) if mapped else behind

    def declared_text(self, home: CodeFile, item: StoredSymbol) -> str:
        text = self.text(home)
        start = text.offset(item.start_line, 0)
        end = text.offset(item.end_line, 0) + len(self._files.lines(home)[item.end_line - 1])
        return text.text[start : min(end, start + _MAX_DECLARATION)]

    def values_of(self, expected: Iterable[TypeText], key: str) -> list[TypeText]:
        """The types of a member of some types."""
        found: list[TypeText] = []
        for part in [*self._expand(expected)]:
            if isinstance(part, GivenType):
                for item in self._names.members(part.item, key):
                    is_own = split_owner(item.symbol)[0] == part.item.symbol and item.path == part.item.path
                    found += [each._replace(given=part.given if is_own else ()) for each in self.find_annotation(item)]
            else:
                found += _values_in(part, key)
        return found

    def _expand(self, expected: Iterable[TypeText], depth: int = 0) -> Iterator[TypeText | GivenType]:
        """The parts of types, and those of the types behind names."""
        for part in self._parts(expected):
            yield part
            behind = self._behind(part) if isinstance(part, GivenType) and depth < _MAX_DEPTH else None
            if behind is not None:
                yield from self._expand([behind], depth + 1)

    def find_annotation(self, item: StoredSymbol) -> list[TypeText]:
        """The type that is written behind the name of a declaration."""
        home = self._files.at(item.path)
        if home is None:
            return []
        name = split_owner(item.symbol)[1]
        text = self.declared_text(home, item)
        match = re.search(rf"(?<![\w$.]){re.escape(name)}[\"']?\s*(?:[?!]?\s*:\s*|=(?![=>])\s*)", text)
        if match is None:
            return []
        if not match[0].rstrip().endswith("="):
            return [TypeText(home, type_at(text, match.end()), item.start_line)]
        # `const make = makeAny as unknown as Make`
        cast = _CAST_AT_END.search(text)
        return [TypeText(home, cast[1], item.start_line)] if cast else []

    def elements_of(self, expected: Iterable[TypeText]) -> list[TypeText]:
        found = []
        for part in self._expand(expected):
            if isinstance(part, TypeText) and (element := type_texts.read_element(part.text)):
                found.append(part._replace(text=element))
        return found

    def functions_of(self, expected: Iterable[TypeText]) -> Iterator[Function]:
        """The functions that some types are: their parameters and results."""
        for part in self._expand(expected):
            if isinstance(part, TypeText):
                read = type_texts.read_function(part.text)
                if read is not None:
                    yield Function(part._replace(is_own=False), *read)
            elif (home := self._files.at(part.item.path)) is not None and "interface" in part.item.signature:
                text = self.declared_text(home, part.item)
                for match in re.finditer(r"[{;\n]\s*(?:<[^()]*>\s*)?(?=\()", text):
                    end = type_texts.close_type_bracket(text, match.end())
                    if text[end + 1 :].lstrip().startswith(":"):
                        result = type_at(text, end + 1 + text[end + 1 :].index(":") + 1)
                        place = TypeText(home, "", part.item.start_line, given=part.given)
                        yield Function(place, list(type_texts.read_parameters(text[match.end() + 1 : end])), result)

    # --- functions

    def find_called(self, source: CodeFile, steps: list[Step], line: int, *, is_new: bool) -> Iterator[Function]:
        """The functions that a chain may call: their parameters and results."""
        for item in self.find_callees(source, steps, line):
            home = self._files.at(item.path)
            if home is None:
                continue
            if item.kind == "type":
                made = self._names.members(item, "constructor") if is_new else ()
                for each in made:
                    if (there := self._files.at(each.path)) and (
                        read := type_texts.read_signature(self.declared_text(there, each), "constructor")
                    ):
                        yield Function(TypeText(there, "", each.start_line), *read)
            elif item.kind == "function":
                own = split_owner(item.symbol)[1]
                overloads = [each for each in home.by_name.get(own, ()) if each.symbol == item.symbol]
                text = self.declared_text(home, item)
                # Callers do not see the last one, which has the body.
                is_hidden = len(overloads) > 1 and item == overloads[-1] and text.rstrip().endswith("}")
                if not is_hidden and (read := type_texts.read_signature(text, own)) is not None:
                    yield Function(TypeText(home, "", item.start_line), *read)
            else:
                yield from self.functions_of(self.find_annotation(item))

    def find_callees(self, source: CodeFile, steps: list[Step], line: int) -> tuple[StoredSymbol, ...]:
        *before, last = steps
        if not before:
            if self._types.is_local(source, last.name, line):
                return ()
            meaning = self._names.bare(source, last.name)
        else:
            owner = self._types.type_of_steps(source, before, line)
            if owner is None:
                return ()
            meaning = self._names.member_of(owner, last.name)
            if meaning is None or not meaning.declarations:
                owners = [
                    TypeText(home, split_owner(item.symbol)[1], item.start_line)
                    for item in owner.declarations
                    if (home := self._files.at(item.path))
                ]
                meaning = self.meaning(owners, last.name)
        return meaning.declarations if meaning is not None else ()


def _values_in(part: TypeText, key: str) -> list[TypeText]:
    """The type of a member in a type that has no name."""
    name, arguments, rest = type_texts.read_name(part.text)
    if name == "Record" and len(arguments) == 2 and not rest:
        return [part._replace(text=arguments[1])]
    if not part.text.startswith("{"):
        return []
    if mapped := _MAPPED.match(part.text):
        return [part._replace(text=mapped[1])]
    for each in type_texts.split_top(part.text[1:-1], ";,\n"):
        own = re.match(rf"\s*(?:readonly\s+)?[\"']?{re.escape(key)}[\"']?\s*\??\s*:\s*(.+)", each, re.DOTALL)
        if own:
            return [part._replace(text=own[1])]
    return []


def type_at(text: str, start: int) -> str:
    """The type that a text has at an offset: up to what ends it outside of brackets."""
    depth = 0
    for at in range(start, min(len(text), start + _MAX_EXPRESSION * 4)):
        letter = text[at]
        if letter in "([{<":
            depth += 1
        elif letter in ")]}" or (letter == ">" and text[at - 1] != "="):
            depth -= 1
            if depth < 0:
                return text[start:at].strip()
        elif (
            (not depth and (letter in ";,"))
            or (letter == "=" and not depth and text[at + 1 : at + 2] != ">")
            or (letter == "\n" and not depth and _ends_line(text, start, at))
        ):
            return text[start:at].strip()
    return text[start : start + _MAX_EXPRESSION * 4].strip()


def _ends_line(text: str, start: int, at: int) -> bool:
    """Whether a type ends where its line does."""
    before, after = text[start:at].strip(), text[at : at + 200].lstrip()
    return (
        bool(before)
        and not before.endswith(("|", "&", "=>", "extends", "?", ":"))
        and not after.startswith(("|", "&", "=>", "?", ":", "extends"))
    )
