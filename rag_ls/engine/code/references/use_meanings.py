"""Tells what the uses of names mean: by scopes and imports, or by the type of the receiver, where that stands written."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence

from rag_ls.chunking import KEY, SHORTHAND
from rag_ls.engine.code.references.code_files import CodeFile, split_owner
from rag_ls.engine.code.references.declarations import HOLDERS, OUTSIDE, Meaning
from rag_ls.engine.code.references.name_patterns import Step, compile_for, find_around, read_steps
from rag_ls.engine.code.references.names import Names
from rag_ls.engine.code.references.scopes import Scopes
from rag_ls.languages import ReferenceRule
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern

_MAX_HEAD = 2000
_MAX_DEPTH = 12
"""Types that are found by those of other names."""
_MAX_WRAPPERS = 6
_MAX_NAME = 100
_ASSIGNED = r"(?<![\w.])(?<!: ){name}(?:\s*,\s*\w+)*\s*(?::[^=\n]+)?:?=(?![=>])\s*([^\n;]+(?:\n\s*\??\.[^\n;]+)*)"
_DECLARED = r"\b(?:const|let|var|val)\s+{name}\b"
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
            meaning, count = self._whole_name(source, steps)
            if meaning is None:
                meaning, count = self._type_of_first(source, steps[0], line), 1
            for step in steps[count:]:
                meaning = self._type_of_member(source, meaning, step) if meaning is not None else None
            return meaning
        finally:
            self._depth -= 1

    def _whole_name(self, source: CodeFile, steps: Sequence[Step]) -> tuple[Meaning | None, int]:
        """The meaning of the whole name of a module that a chain begins with, and the number of its steps."""
        for count in range(len(steps), 1, -1):
            if (meaning := self._names.find_full(source, ".".join(step.name for step in steps[:count]))) is not None:
                return meaning, count
        return None, 0

    def _type_of_first(self, source: CodeFile, step: Step, line: int) -> Meaning | None:
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
        return self._of_meaning(self._names.find_bare(source, step.name))

    def _type_of_member(self, source: CodeFile, owner: Meaning, step: Step) -> Meaning | None:
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
        home = self._files.file_at(declared.path)
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
        body = self._scopes.body_around(source, line)
        key = (source.id, body.start_line if body else 0, body.end_line if body else 0, name)
        text = self._scopes.text_around(source, line)
        found = self._find_once(key, lambda: self._in_text(source, text, name, line))
        if found is not None or self._scopes.is_local(source, name, line):
            return found
        bare = self._names.find_bare(source, name)
        values = [item for item in bare.declarations if item.kind == "value"] if bare is not None else []
        return self._of_declaration(values[0]) if values else None

    def _of_value(self, declared: StoredSymbol) -> Meaning | None:
        home = self._files.file_at(declared.path)
        if home is None:
            return None
        text = self._files.read_text(home, declared.start_line, declared.end_line)[:_MAX_HEAD]
        return self._in_text(home, text, split_owner(declared.symbol)[1], declared.start_line)

    def _of_field(self, owner: StoredSymbol, name: str) -> Meaning | None:
        return self._find_once((owner, name), lambda: self._find_field(owner, name))

    def _find_field(self, owner: StoredSymbol, name: str) -> Meaning | None:
        """The type of a field, from what is written or assigned in its class, or in one that it derives from."""
        for each in (owner, *self._names.classes.bases_of(owner)):
            home = self._files.file_at(each.path)
            if home is None:
                continue
            text = self._files.read_text(home, each.start_line, each.end_line)
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
        matches = [match for pattern in source.rule.types for match in find_around(pattern, text, name)]
        if matches and len(list(find_around(_DECLARED, text, name))) > len(matches):
            # Each of several callbacks may declare a variable of its own by that name.
            return None
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
        meaning = self._names.find_bare(source, first)
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


_DECLARING = lazy_pattern(r"\b(?:func|fun|def|function)\s+$")
_QUALIFIER = lazy_pattern(r"(?:[A-Z]\w*\.)+$")


class UseMeanings:
    """The meanings of uses. For one question; not safe from several threads."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._files = names.files
        self._scopes = Scopes(names.files)
        self._types = ReceiverTypes(names, self._scopes)

    def find_meaning(self, source: CodeFile, use: Use) -> Meaning | None:
        """The things that a use means; None where that is unknown."""
        if use.kind == UseKind.IMPORT:
            found = self._names.find_imported(source, use)
            return None if found is None else Meaning(found)
        if use.receiver == KEY:
            return None
        if use.receiver == SHORTHAND:
            found_name = self._of_bare_name(source, use)
            return found_name if found_name is not None and found_name.declarations else None
        return self._of_member(source, use) if use.receiver else self._of_bare_name(source, use)

    def _of_bare_name(self, source: CodeFile, use: Use) -> Meaning | None:
        rule, before = source.rule, self._files.text_before(source, use)
        is_called = use.kind == UseKind.CALL or (bool(rule.function_mark) and before.endswith(rule.function_mark))
        if not is_called:
            if (rule.variables and before.endswith(rule.variables)) or (rule.locals and not use.name[:1].isupper()):
                return OUTSIDE
            # The label of an argument, the key of a value, a function within another one.
            around = f"{before}\0{self._files.text_after(source, use)}"
            if (rule.labels and re.search(rule.labels, around)) or _DECLARING.search(before):
                return None
            if rule.is_declared and self._scopes.is_local(source, use.name, use.line):
                return OUTSIDE
        if members := self._names.classes.implied_members(source, use.name, use.line):
            return Meaning(members)
        # There, functions and variables have names apart.
        is_function = bool(rule.locals) or (rule.is_dotted and is_called)
        if not is_function and self._scopes.is_local(source, use.name, use.line):
            return OUTSIDE
        return self._names.find_bare(source, use.name)

    def _of_member(self, source: CodeFile, use: Use) -> Meaning | None:
        chain, before = self._receiver_of(source, use), self._files.text_before(source, use)
        whole = f"{chain}.{use.name}"
        if (meaning := self._names.find_full(source, whole)) is not None:
            return meaning
        if before.endswith("\\") and (named := self._names.declared.in_folders(source, whole)) is not None:
            return Meaning((named,))
        steps = read_steps(re.sub(r"^\$(?!\d)", "", chain))
        owner = self._types.of_chain(source, steps, use.line)
        if owner is None or (owner == OUTSIDE and not self._is_foreign(source, steps, use.line)):
            return None
        return self._names.member_of(owner, use.name)

    def find_members(self, owner: StoredSymbol, name: str) -> tuple[StoredSymbol, ...]:
        """The member that a type, or the nearest type that it derives from, declares by a name."""
        return self._names.classes.find_members(owner, name)

    def _receiver_of(self, source: CodeFile, use: Use) -> str:
        """The chain of names and calls before a use."""
        qualifier = _QUALIFIER.search(self._files.text_before(source, use)) if source.rule.is_dotted else None
        return qualifier[0][:-1] if qualifier is not None else use.receiver

    def _is_foreign(self, source: CodeFile, steps: list[Step], line: int) -> bool:
        """Whether a receiver is a name from outside of the project: a value of a type from there may be of a type that derives from it."""
        is_name = not any(step.is_called for step in steps) and not self._scopes.is_local(source, steps[0].name, line)
        return is_name and self._names.find_bare(source, steps[0].name) == OUTSIDE
