"""Resolves uses: what a name means where it is used, by its receiver's type too."""

from __future__ import annotations

import re
from functools import lru_cache

from rag_ls.engine.code.references.code_files import CodeFile
from rag_ls.engine.code.references.names import OUTSIDE, Meaning, Names, compile_for
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol

_RETURNS = re.compile(r"(?:->|\)\s*:)\s*[\"']?(?:(?:Optional|Promise|Awaitable)[\[<])?&?(?:mut\s+)?([A-Za-z_][\w.]*)")
_MAX_HEAD = 2000


class Uses:
    """Tells what the uses of names mean. For one question; not safe from several threads."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._files = names.files

    def meaning(self, source: CodeFile, use: Use) -> Meaning | None:
        """The things that a use means; None where that is unknown."""
        if use.kind == UseKind.IMPORT:
            found = self._names.imported(source, use)
            return None if found is None else Meaning(found)
        if use.receiver:
            return self._member(source, use)
        rule = source.rule
        around = self._names.type_around(source, use.line) if rule.own_is_implied else None
        if around is not None and (found := self._names.members(around, use.name)):
            return Meaning(found)
        if self._is_local(source, use):
            return OUTSIDE
        return self._names.bare(source, use.name)

    def _member(self, source: CodeFile, use: Use) -> Meaning | None:
        owner = self._owner(source, use.receiver, use.line)
        return self._names.member_of(owner, use.name) if owner is not None else None

    def _owner(self, source: CodeFile, receiver: str, line: int) -> Meaning | None:
        """The type or module that a receiver is; None if it is unknown."""
        rule, receiver = source.rule, receiver.removeprefix("$")
        if receiver in rule.own:
            return _as_meaning(self._names.type_around(source, line))
        if receiver in rule.parents:
            around = self._names.type_around(source, line)
            bases = self._names.bases_of(around) if around is not None else []
            return Meaning(tuple(bases)) if bases else None
        if receiver.endswith("()"):
            return self._result(source, receiver[:-2], line)
        first, _, rest = receiver.partition(".")
        if first in rule.own and rest and "." not in rest:
            around = self._names.type_around(source, line)
            return self._field(source, around, first, rest) if around is not None else None
        if not rest and (typed := self._variable(source, receiver, line)) is not None:
            return typed
        meaning = (
            self._names.bare(source, first)
            if not self._is_local(source, Use(first, UseKind.MENTION, line, 0))
            else None
        )
        for part in rest.split(".") if rest else ():
            meaning = self._names.member_of(meaning, part) if meaning is not None else None
        if meaning is not None and meaning.declarations and all(item.kind == "value" for item in meaning.declarations):
            return self._value(meaning.declarations[0])
        return meaning

    def _result(self, source: CodeFile, called: str, line: int) -> Meaning | None:
        """The type of a call's result: the class that is called, or what the function says that it returns."""
        meaning = self._names.bare(source, called)
        if meaning is None or not meaning.declarations:
            return meaning
        return self._made_by(meaning.declarations[0])

    def _made_by(self, declared: StoredSymbol) -> Meaning | None:
        if declared.kind == "type":
            return Meaning((declared,))
        returned = _RETURNS.search(declared.signature)
        home = self._files.at(declared.path)
        return _as_meaning(self._names.type_named(home, returned[1])) if returned and home is not None else None

    def _field(self, source: CodeFile, owner: StoredSymbol, own: str, name: str) -> Meaning | None:
        """The type of a field of a class, from what is assigned to it there, or in a class that it derives from."""
        for each in (owner, *self._names.bases_of(owner)):
            home = self._files.at(each.path)
            if home is None:
                continue
            text = self._files.text(home, each.start_line, each.end_line)
            for pattern in (f"{own}.{name}", name):
                if (found := self._typed(home, text, pattern)) is not None:
                    return found
            passed = re.search(rf"\b{re.escape(own)}\.{re.escape(name)}\s*=\s*(\w+)\s*(?:[;#\n]|$)", text)
            if passed and (found := self._typed(home, text, passed[1])) is not None:
                return found
        return None

    def _variable(self, source: CodeFile, name: str, line: int) -> Meaning | None:
        """The type of a variable, from the function around the line, else from the top of the document."""
        around = source.around(line, "function")
        if around is not None:
            text = self._files.text(source, around.start_line, around.end_line)
            if (found := self._typed(source, text, name)) is not None:
                return found
            if _binds(text, name):
                return None
        declared = [item for item in source.by_name.get(name, ()) if item.kind == "value"]
        return self._value(declared[0]) if declared else None

    def _value(self, declared: StoredSymbol) -> Meaning | None:
        home = self._files.at(declared.path)
        if home is None:
            return None
        text = self._files.text(home, declared.start_line, declared.end_line)[:_MAX_HEAD]
        return self._typed(home, text, declared.symbol.rpartition(".")[2])

    def _typed(self, source: CodeFile, text: str, name: str) -> Meaning | None:
        """The only type that a text gives to a variable."""
        found: set[str] = set()
        for pattern in source.rule.types:
            found.update(match[1] for match in compile_for(pattern, name).finditer(text))
        found -= {"None", "self"}
        meanings = {made for each in found if (made := self._type_or_result(source, each)) is not None}
        return meanings.pop() if len(meanings) == 1 and len(found) <= 2 else None

    def _type_or_result(self, source: CodeFile, name: str) -> Meaning | None:
        first, _, rest = name.partition(".")
        meaning = self._names.bare(source, first)
        for part in rest.split(".") if rest else ():
            meaning = self._names.member_of(meaning, part) if meaning is not None else None
        if meaning is None or not meaning.declarations:
            return meaning
        return self._made_by(meaning.declarations[0])

    def _is_local(self, source: CodeFile, use: Use) -> bool:
        """Whether a bare name is a variable of the function around it."""
        around = source.around(use.line, "function")
        if around is None or ((split := around.symbol.rpartition("."))[2] == use.name and not split[0]):
            return False
        return _binds(self._files.text(source, around.start_line, around.end_line), use.name)


def _as_meaning(item: StoredSymbol | None) -> Meaning | None:
    return Meaning((item,)) if item is not None else None


def _binds(text: str, name: str) -> bool:
    """Whether a function declares a parameter or variable of a name."""
    return bool(_parameter(name).search(_parameters_in(text)) or _binding(name).search(text))


def _parameters_in(text: str) -> str:
    """The first brackets of a function's text, with what is in them."""
    start, depth = text.find("(", 0, _MAX_HEAD), 0
    for at in range(max(start, 0), min(len(text), start + _MAX_HEAD)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return text[start : at + 1]
    return ""


@lru_cache(maxsize=4096)
def _parameter(name: str) -> re.Pattern[str]:
    # Behind a bracket or comma, perhaps with a type before it.
    return re.compile(rf"[(,]\s*(?:\*{{1,2}}|\.\.\.|\w+\s+)?{re.escape(name)}\s*[,:=)?]")


@lru_cache(maxsize=4096)
def _binding(name: str) -> re.Pattern[str]:
    word = re.escape(name)
    ways = (
        rf"^[ \t]*{word}\s*(?::[^=\n]+)?=(?!=)",
        rf"^[ \t]*(?:\w+\s*,\s*)+{word}\s*(?:,[\s\w,]*)?=(?!=)",
        rf"\bfor\s+(?:\w+\s*,\s*)*{word}\b[\w\s,]*\bin\b",
        rf"\bas\s+{word}\s*[:,)]",
        rf"\b(?:const|let|var|val)\s+(?:\{{[^}}]*?)?(?:mut\s+)?{word}\b",
        rf"(?<![\w.]){word}\s*:=",
        rf"\blambda\s[^:\n]*\b{word}\b",
        rf"(?<![\w.]){word}\s*=>",
        rf"\((?:[^()]*,)?\s*(?:\{{[^{{}}]*?)?\b{word}\s*(?:[,:?=}}][^()]*)?\)\s*(?::[^=\n]+)?=>",
    )
    return re.compile("|".join(ways), re.MULTILINE)
