"""Infers the types of receivers where they stand written: annotations, constructor calls, fields, results of functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence

from rag_ls.engine.code.references.chains import Step, read_steps
from rag_ls.engine.code.references.code_files import CodeFile, split_owner
from rag_ls.engine.code.references.declarations import HOLDERS, Meaning
from rag_ls.engine.code.references.name_patterns import compile_for, find_around
from rag_ls.engine.code.references.names import Names
from rag_ls.engine.code.references.scopes import Scopes
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern

_MAX_HEAD = 2000
_MAX_DEPTH = 12
"""Types that are found by those of other names."""
_MAX_WRAPPERS = 6
_MAX_NAME = 100
_ASSIGNED = r"(?<![\w.])(?<!: ){name}(?:\s*,\s*\w+)*\s*(?::[^=\n]+)?:?=(?![=>])\s*([^\n;]+(?:\n\s*\??\.[^\n;]+)*)"
_TYPE_NAME = lazy_pattern(r"\s*[&*|(\"']*([A-Za-z_$](?:\w*(?:::\w+)+|[\w.$]*))")
_ARGUMENT = lazy_pattern(r"\s*[<\[]")
_OTHER_TYPE = lazy_pattern(r"(?:<[^<>]*>|[\s>)])*(?:\|(?!\|)\s*(?!undefined\b|null\b|None\b)|\[\])")
"""The text after a type that may be another one, or of which there is a list."""
_OTHER_BEFORE = lazy_pattern(r"(?<!None)(?<!null)(?<!undefined)\s*(?<!\|)\|\s*$")
_OF_OWNER = lazy_pattern(r"(?:->|\)\s*:)\s*(?:static|Self)\b")
"""The result of a function that gives an object of the type that it was called on."""
_KEYWORDS = frozenset({"readonly", "typeof"})


class ReceiverTypes:
    """The types of the receivers of members. For one question; not safe from several threads."""

    def __init__(self, names: Names, scopes: Scopes) -> None:
        self._names = names
        self._files = names.files
        self._scopes = scopes
        self._known: dict[Hashable, Meaning | None] = {}
        self._depth = 0

    def of_chain(self, source: CodeFile, steps: Sequence[Step], line: int) -> Meaning | None:
        """The type or module that a chain of names gives; None if it is unknown."""
        if not steps or self._depth > _MAX_DEPTH:
            return None
        self._depth += 1
        try:
            meaning, count = self._whole_name(source, steps, line)
            if meaning is None:
                meaning, count = self._first(source, steps[0], line), 1
            for step in steps[count:]:
                meaning = self._after(source, meaning, step) if meaning is not None else None
            return meaning
        finally:
            self._depth -= 1

    def _whole_name(self, source: CodeFile, steps: Sequence[Step], line: int) -> tuple[Meaning | None, int]:
        """The meaning of the qualified name that a chain begins with, a module's or a path, and the number of its steps."""
        first, is_dotted = steps[0], source.rule.is_dotted
        if not is_dotted and (
            source.language.paths is None
            or first.is_called
            or first.name in source.rule.own
            or self._scopes.is_local(source, first.name, line)
        ):
            return None, 0
        for count in range(len(steps), 1, -1):
            name = ".".join(step.name for step in steps[:count])
            meaning = self._names.full(source, name) if is_dotted else self._names.whole(source, name, line)
            if meaning is not None:
                return meaning if is_dotted else self._of_meaning(meaning), count
        return None, 0

    def _first(self, source: CodeFile, step: Step, line: int) -> Meaning | None:
        rule, classes = source.rule, self._names.classes
        if step.name in (rule.creators if step.is_called else rule.own):
            return _as_meaning(classes.type_around(source, line))
        if step.name in rule.parents or (step.is_called and f"{step.name}()" in rule.parents):
            around = classes.type_around(source, line)
            bases = classes.bases_of(around) if around is not None else []
            return Meaning(tuple(bases)) if bases else None
        if members := classes.implied_members(source, step.name, line):
            return self._of_declaration(members[0])
        if not step.is_called and (typed := self._of_variable(source, step.name, line)) is not None:
            return typed
        if self._scopes.is_local(source, step.name, line):
            return None
        return self._of_meaning(self._names.bare(source, step.name))

    def _after(self, source: CodeFile, owner: Meaning, step: Step) -> Meaning | None:
        """The type of a member of a type or module."""
        member = self._names.member_of(owner, step.name)
        if member is not None:
            of_owner = step.is_called and any(_OF_OWNER.search(item.signature) for item in member.declarations[:1])
            return owner if of_owner else self._of_meaning(member)
        if step.name in source.rule.creators:
            return owner
        types = [item for item in owner.declarations if item.kind == "type"]
        return self._of_field(types[0], step.name) if types and not step.is_called else None

    def _of_meaning(self, meaning: Meaning | None) -> Meaning | None:
        if meaning is None or not meaning.declarations:
            return meaning
        return self._of_declaration(meaning.declarations[0])

    def _of_declaration(self, declared: StoredSymbol) -> Meaning | None:
        """The type of what a declaration stands for: a type itself, the result of a function, the value of a variable."""
        if declared.kind in HOLDERS:
            return Meaning((declared,))
        find = self._of_result if declared.kind == "function" else self._of_value
        return self._find_once(declared, lambda: find(declared))

    def _find_once(self, key: Hashable, find: Callable[[], Meaning | None]) -> Meaning | None:
        """The type of a key, which is found once; None where the answer needs itself: `({ store }: Props)`."""
        if key not in self._known:
            self._known[key] = None
            self._known[key] = find()
        return self._known[key]

    def _of_result(self, declared: StoredSymbol) -> Meaning | None:
        home = self._files.at(declared.path)
        if home is None:
            return None
        owner, name = split_owner(declared.symbol)
        returned = list(compile_for(home.rule.returns, name).finditer(declared.signature))
        written = read_written_type(declared.signature, returned[-1].start(1), home.rule) if returned else ""
        if written in home.rule.own | {"Self"}:
            return _as_meaning(home.types.get(owner))
        return _as_meaning(self._names.type_named(home, written)) if written else None

    def _of_variable(self, source: CodeFile, name: str, line: int) -> Meaning | None:
        """The type of a variable: from the function around the line, else from its declaration."""
        body = self._scopes.body(source, line)
        key = (source.id, body.start_line if body else 0, body.end_line if body else 0, name)
        text = self._scopes.text(source, line)
        found = self._find_once(key, lambda: self._in_text(source, text, name, line))
        if found is not None or self._scopes.is_local(source, name, line):
            return found
        bare = self._names.bare(source, name)
        values = [item for item in bare.declarations if item.kind == "value"] if bare is not None else []
        return self._of_declaration(values[0]) if values else None

    def _of_value(self, declared: StoredSymbol) -> Meaning | None:
        home = self._files.at(declared.path)
        if home is None:
            return None
        text = self._files.text(home, declared.start_line, declared.end_line)[:_MAX_HEAD]
        return self._in_text(home, text, split_owner(declared.symbol)[1], declared.start_line)

    def _of_field(self, owner: StoredSymbol, name: str) -> Meaning | None:
        return self._find_once((owner, name), lambda: self._find_field(owner, name))

    def _find_field(self, owner: StoredSymbol, name: str) -> Meaning | None:
        """The type of a field, from what is written or assigned in its class, or in one that it derives from."""
        for each in (owner, *self._names.classes.bases_of(owner)):
            home = self._files.at(each.path)
            if home is None:
                continue
            text = self._files.text(home, each.start_line, each.end_line)
            passed = re.search(rf"\b(?:self|this)\.{re.escape(name)}\s*=\s*(\w+)\s*(?:[;#\n]|$)", text)
            variables = (*(f"{own}.{name}" for own in sorted(home.rule.own)), name, passed[1] if passed else "")
            for variable in filter(None, variables):
                if (found := self._in_text(home, text, variable, each.start_line)) is not None:
                    return found
        return None

    def _in_text(self, source: CodeFile, text: str, name: str, line: int) -> Meaning | None:
        """The type that a text gives to a variable: that of its annotations, else that of its values."""
        if name not in text:
            return None
        matches = (match for pattern in source.rule.types for match in find_around(pattern, text, name))
        written = {read_written_type(text, match.value.start(1), source.rule) for match in matches} - {"self"}
        if found := {typed for each in written if each and (typed := self._of_written(source, each)) is not None}:
            # In `(props: { show: (props: Shown) => void })` one of them is of another function.
            return found.pop() if len(found) == 1 and len(written) <= (1 if source.rule.pure_types else 2) else None
        if written:
            return None
        values = {match.value[1] for match in find_around(_ASSIGNED, text, name)}
        types = {self.of_chain(source, read_steps(value), line) for value in values} if len(values) <= 2 else set()
        found = {each for each in types if each is not None}
        return found.pop() if len(found) == 1 else None

    def _of_written(self, source: CodeFile, name: str) -> Meaning | None:
        """The type that a name stands for, or the result of the function of that name, which is called."""
        if (typed := self._names.type_named(source, name)) is not None:
            return Meaning((typed,))
        first, *rest = name.split(".")
        meaning = self._names.bare(source, first)
        for part in rest:
            meaning = self._names.member_of(meaning, part) if meaning is not None else None
        return self._of_meaning(meaning)


def read_written_type(text: str, start: int, rule: ReferenceRule) -> str:
    """The name of the type at an offset: `User` for `Promise<User>`; empty where it is a list, or may be one of several."""
    if _OTHER_BEFORE.search(text, max(0, start - _MAX_NAME), start):
        return ""
    at = start
    for _ in range(_MAX_WRAPPERS):
        match = _TYPE_NAME.match(text, at)
        if match is None:
            break
        name, at = match[1].removesuffix(".new"), match.end()
        argument = _ARGUMENT.match(text, at)
        if argument is not None and re.split(r"[.:]", name)[-1] in rule.wrappers:
            at = argument.end()
        elif name not in _KEYWORDS:
            return "" if _OTHER_TYPE.match(text, at) else name
    return ""


def _as_meaning(item: StoredSymbol | None) -> Meaning | None:
    return Meaning((item,)) if item is not None else None
