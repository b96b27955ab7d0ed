"""Tells which types objects have from where they stand in a script: by annotations, parameters, results, and the members around them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from rag_ls.chunking import ATTRIBUTE, INDEX, TAKEN
from rag_ls.engine.code.references import type_texts
from rag_ls.engine.code.references.code_files import CodeFile, split_owner
from rag_ls.engine.code.references.expressions import Step, read_chain_before, read_steps
from rag_ls.engine.code.references.given_types import Function, TypeReader, TypeText, WrittenTypes, type_at
from rag_ls.engine.code.references.name_patterns import compile_for
from rag_ls.engine.code.references.names import Meaning, Names
from rag_ls.engine.code.references.script_places import (
    ParameterPlace,
    find_parameters,
    find_start,
    head_of_arrow,
    is_block,
    key_before,
    result_before,
    without_type_arguments,
)
from rag_ls.engine.code.references.script_text import ScriptText
from rag_ls.model import Use
from rag_ls.storage import StoredSymbol

_MAX_DEPTH = 12
_MAX_BACK = 4000
_MAX_EXPRESSION = 400
_USED = r"(?<![.\w$]){name}(?![\w$])\s*[?!]?\."
_SET = r"\b(?:const|let|var)\s[^=;]*(?<![.\w$]){name}(?![\w$])"
_CALLEE_END = re.compile(r"[\w$\])>]$")
_NO_CALLEE = re.compile(
    r"(?<![.\w$])(?:if|for|while|switch|catch|with|return|typeof|await|in|of|case|function|do|else|yield|async)\s*$"
)
_FUNCTION_HEAD = re.compile(r"(?<![.\w$])function\s*\*?\s*[\w$]*\s*(?:<[^()]*>)?\s*$")
_CAST_AFTER = re.compile(r"\s*\)?\s*(?:as|satisfies)\s+(?!const\b)")
_DECLARED_BEFORE = re.compile(r"\b(?:const|let|var|using)\s+$")
_TAG = re.compile(r"<\s*([A-Za-z][\w$.]*)")
_COMPONENT = re.compile(
    r"\b(?:React\.)?(?:FC|FunctionComponent|VFC|ComponentType|ComponentClass|Component|PureComponent|ParentComponent)\s*<"
)
_FORWARDED = re.compile(r"\bforwardRef\s*<")
_NEW = re.compile(r"(?<![.\w$])new\s+$")
_KEY = re.compile(r"(?:^|[,{\n])\s*([\w$]+)\s*(?=[:,}\n]|$)")
_TOLD = re.compile(r"(?:^|[,{\n])\s*([\w$]+)\s*:\s*[\"']([\w$@./:#-]+)[\"']\s*(?=[,}\n]|$|as\b)")


class Contexts:
    """The types that places of scripts expect. For one question; not safe from several threads."""

    def __init__(self, names: Names, types: TypeReader) -> None:
        self._names = names
        self._files = names.files
        self._types = types
        self._written = WrittenTypes(names, types)
        self._known: dict[tuple[int, int, bool], list[TypeText]] = {}
        self._members: dict[tuple[int, int, bool, str], Meaning | None] = {}
        self._parameters: dict[tuple[int, str], list[ParameterPlace]] = {}
        self._typed: dict[tuple[int, int], Meaning | None] = {}
        self._depth = 0

    def member_of(self, owner: Meaning, name: str) -> Meaning | None:
        """The members of a name that the types have to which declarations give other names."""
        return self._written.member_of(owner, name)

    def meaning(self, source: CodeFile, use: Use) -> Meaning | None:
        """The members that a key of an object, of what is taken apart or of an element means; None where that is unknown."""
        text = self._written.text(source)
        at = text.offset(use.line, use.column)
        if use.receiver == ATTRIBUTE:
            return self._written.meaning(self._of_element(source, text, at), use.name)
        if use.receiver == INDEX:
            return self._written.meaning(self._before_index(source, text, at), use.name)
        brace = text.around(at)
        if brace < 0 or text.text[brace] != "{":
            return None
        is_taken = use.receiver == TAKEN
        if is_taken and (found := self._of_module(source, text, brace, use.name)) is not None:
            return found
        key = (source.id, brace, is_taken, use.name)
        if key not in self._members:
            expected = self._of_braces(source, text, brace, is_taken=is_taken)
            unfit = self._find_unfit(expected, text, brace) if not is_taken else ()
            self._members[key] = self._written.meaning(expected, use.name, unfit)
        return self._members[key]

    def _before_index(self, source: CodeFile, text: ScriptText, at: int) -> list[TypeText]:
        """The type that stands before brackets: of `Cart<T>["size"]`, of `Cart["shop"]["size"]`."""
        before = text.text[max(0, at - _MAX_EXPRESSION) : at].rstrip("\"' \n")
        match = re.search(r"[A-Za-z_$][\w$.]*(?:<[^;{}]*>)?(?:\[[\"'][\w$]+[\"']\])*(?=\[$)", before)
        return [TypeText(source, match[0], text.line(at), is_own=True)] if match else []

    def parameter(self, source: CodeFile, name: str, line: int) -> Meaning | None:
        """The types of the parameter of a name whose function, around a line, stands where a function of a known type is expected."""
        if not source.rule.pure_types or not name:
            return None
        text = self._written.text(source)
        if (source.id, name) not in self._parameters:
            self._parameters[source.id, name] = find_parameters(text, name)
        if not (places := self._parameters[source.id, name]):
            return None
        start = text.offset(line, 0)
        used = compile_for(_USED, name).search(text.text, start, start + len(self._files.lines(source)[line - 1]))
        at = used.start() if used else start
        around = [each for each in places if each.body <= at < each.body_end]
        if not around or compile_for(_SET, name).search(text.text, around[-1].body, at):
            return None
        key = (source.id, around[-1].start)
        if key not in self._typed:
            self._typed[key] = None
            types = self._written.types_of(self._of_parameter(source, text, around[-1]))
            self._typed[key] = Meaning(tuple(types)) if types else None
        return self._typed[key]

    def _of_parameter(self, source: CodeFile, text: ScriptText, place: ParameterPlace) -> list[TypeText]:
        if place.bracket < 0:
            start = head_of_arrow(text, text.text.index("=>", place.end))[1]
            functions = self._written.functions_of(self._at(source, text, start))
            return [each for function in functions for each in function.parameter(0)]
        if typed := re.match(r"\s*\??\s*:\s*", text.text[place.end : place.body]):
            return [TypeText(source, type_at(text.text, place.end + typed.end()), text.line(place.start), is_own=True)]
        return self._parameter_of(source, text, place.bracket, place.start)

    def _of_module(self, source: CodeFile, text: ScriptText, brace: int, name: str) -> Meaning | None:
        """The meaning of a name that is taken out of a module: `const { size } = require("./cart")`, `const { size } = cart`."""
        given = re.match(
            r"\s*=(?![=>])\s*((?:await\s+)?(?:require|import)\s*\()?",
            text.text[text.close(brace) + 1 :][:_MAX_EXPRESSION],
        )
        if given is None:
            return None
        if given[1]:
            meaning = self._names.bare(source, name)
            return meaning if meaning is not None and meaning.declarations else None
        start = text.close(brace) + 1 + given.end()
        steps = read_steps(text.text[start : start + _MAX_EXPRESSION])
        owner = self._types.type_of_steps(source, steps, text.line(start)) if steps else None
        return self._names.member_of(owner, name) if owner is not None and owner.modules else None

    def _find_unfit(self, expected: Sequence[TypeText], text: ScriptText, brace: int) -> Collection[StoredSymbol]:
        """The types that an object does not have: those whose `kind` is another text than the object's, unless that are all.

        All of them where the object's `kind` is no text: which of the types it has is not seen.
        """
        types = self._written.types_of(expected)
        if len(types) < 2:
            return ()
        own = text.own_text(brace)[:_MAX_EXPRESSION]
        told = {match[1]: match[2] for match in _TOLD.finditer(own)}
        untold = {match[1] for match in _KEY.finditer(own)} - told.keys()
        if any(self._differs(each, key, "") for key in untold for each in types):
            return types
        unfit = [each for each in types if any(self._differs(each, key, value) for key, value in told.items())]
        return unfit if len(unfit) < len(types) else ()

    def _differs(self, owner: StoredSymbol, key: str, value: str) -> bool:
        """Whether a member of a type is another text, or none of several."""
        for item in self._names.members(owner, key):
            written = [each.text for each in self._written.find_annotation(item)]
            texts = [part.strip() for each in written for part in each.split("|")]
            if texts and all(each[:1] in ("'", '"') for each in texts):
                return value not in {each[1:-1] for each in texts}
        return False

    # --- places

    def _of_braces(self, source: CodeFile, text: ScriptText, brace: int, *, is_taken: bool) -> list[TypeText]:
        key = (source.id, brace, is_taken)
        if key not in self._known:
            self._known[key] = []
            if self._depth > _MAX_DEPTH:
                del self._known[key]
                return []
            self._depth += 1
            try:
                self._known[key] = (
                    self._of_pattern(source, text, brace) if is_taken else self._of_value(source, text, brace)
                )
            finally:
                self._depth -= 1
        return self._known[key]

    def _of_value(self, source: CodeFile, text: ScriptText, start: int) -> list[TypeText]:
        """The types that an object or list in brackets has."""
        end = text.close(start) + 1
        cast = _CAST_AFTER.match(text.text, end)
        if cast is not None:
            return [TypeText(source, type_at(text.text, cast.end()), text.line(start), is_own=True)]
        return self._at(source, text, start)

    def _at(self, source: CodeFile, text: ScriptText, at: int) -> list[TypeText]:
        """The types that are expected of an expression that begins at an offset."""
        if self._depth > _MAX_DEPTH * 2:
            return []
        self._depth += 1
        try:
            return self._find_at(source, text, at)
        finally:
            self._depth -= 1

    def _find_at(self, source: CodeFile, text: ScriptText, at: int) -> list[TypeText]:
        before = text.text[max(0, at - _MAX_BACK) : at].rstrip()
        end = at - (len(text.text[max(0, at - _MAX_BACK) : at]) - len(before))
        if before.endswith("=>"):
            return self._of_arrow(source, text, end - 2)
        last = before[-1:]
        if last == "(":
            return self._argument(source, text, end - 1, 0)
        if last == ",":
            around = text.around(at)
            if around >= 0 and text.text[around] == "(":
                return self._argument(source, text, around, text.count_commas(around + 1, end))
            return (
                self._written.elements_of(self._of_value(source, text, around))
                if around >= 0 and text.text[around] == "["
                else []
            )
        if last == "[":
            return (
                self._written.elements_of(self._of_value(source, text, end - 1))
                if not _CALLEE_END.search(before[:-1].rstrip())
                else []
            )
        if last == "=":
            return (
                self._find_assigned(source, text, end - 1) if before[-2:-1] not in "=!<>" or before[-2:-1] == "" else []
            )
        if last == "{" and before[:-1].rstrip().endswith("="):
            name = re.search(r"([\w$-]+)\s*=$", before[:-1].rstrip())
            return self._written.values_of(self._of_element(source, text, end - 1), name[1]) if name else []
        if last == ":" and (key := key_before(text, end)):
            return self._written.values_of(self._of_braces(source, text, text.around(at), is_taken=False), key)
        if last in ":?|&":
            start = find_start(text, end)
            return self._at(source, text, start) if start >= 0 else []
        if re.search(r"(?<![.\w$])return$", before):
            return self._of_result(source, text, at)
        return self._at(source, text, end - 5) if re.search(r"(?<![.\w$])await$", before) else []

    def _argument(self, source: CodeFile, text: ScriptText, bracket: int, count: int) -> list[TypeText]:
        """The types of a call's argument, of what stands in mere brackets."""
        start = max(0, bracket - _MAX_BACK)
        before = text.text[start:bracket].rstrip()
        if not _CALLEE_END.search(before) or before.endswith("=>") or _NO_CALLEE.search(before):
            return self._at(source, text, bracket) if not count else []
        if before.endswith(">"):
            before = without_type_arguments(before)
        chain = read_chain_before(before + ".")
        steps = read_steps(chain) if chain else []
        if not steps or not chain:
            return []
        is_new = _NEW.search(before[: len(before) - len(chain)] + "") is not None
        line = text.line(bracket)
        found = []
        for function in self._written.find_called(source, steps, line, is_new=is_new):
            if count < len(function.parameters):
                found.append(function.parameter(count))
        return self._agreed(found)

    def _agreed(self, found: list[list[TypeText]]) -> list[TypeText]:
        """The types on which all overloads agree, where there are several."""
        if len(found) <= 1:
            return found[0] if found else []
        sets = [frozenset(self._written.types_of(each)) for each in found]
        known = [each for each in sets if each]
        return found[sets.index(known[0])] if known and all(each == known[0] for each in known) else []

    def _find_assigned(self, source: CodeFile, text: ScriptText, equals: int) -> list[TypeText]:
        """The types of what is set by the sign at an offset."""
        at, limit, typed = equals - 1, max(0, equals - _MAX_BACK), 0
        while at >= limit:
            letter = text.text[at]
            if letter in ")]}" and at in text.pairs:
                at = text.pairs[at]
            elif letter == ">" and text.text[at - 1] != "=":
                typed += 1
            elif letter == "<":
                typed -= 1
            elif letter in "([{;" or (letter in ",\n" and typed <= 0):
                break
            elif letter == ":" and typed <= 0:
                return [TypeText(source, text.text[at + 1 : equals], text.line(equals), is_own=True)]
            at -= 1
        name = re.search(r"([\w$.]+)\s*$", text.text[at + 1 : equals])
        if name is None or _DECLARED_BEFORE.search(text.text[at + 1 : equals][: name.start()]):
            return []
        steps = read_steps(name[1])
        return self._of_chain(source, steps, text.line(equals)) if steps else []

    def _of_chain(self, source: CodeFile, steps: list[Step], line: int) -> list[TypeText]:
        """The types of a chain's value."""
        if len(steps) > 1 and not steps[-1].is_called:
            written = [
                each
                for item in self._written.find_callees(source, steps, line)
                for each in self._written.find_annotation(item)
            ]
            if written:
                return written
        found = self._types.type_of_steps(source, steps, line)
        if found is not None and found.declarations:
            homes = ((self._files.at(item.path), item) for item in found.declarations if item.kind == "type")
            return [
                TypeText(home, split_owner(item.symbol)[1], item.start_line) for home, item in homes if home is not None
            ]
        if not steps[-1].is_called:
            return []
        return [
            each
            for function in self._written.find_called(source, steps, line, is_new=False)
            for each in function.results()
        ]

    def _of_arrow(self, source: CodeFile, text: ScriptText, arrow: int) -> list[TypeText]:
        """The types of the result of the function whose arrow stands at an offset."""
        typed, start = head_of_arrow(text, arrow)
        if typed:
            return [TypeText(source, typed, text.line(arrow), is_own=True)]
        functions = self._written.functions_of(self._at(source, text, start)) if start >= 0 else ()
        return [each for function in functions for each in function.results()]

    def _of_result(self, source: CodeFile, text: ScriptText, at: int) -> list[TypeText]:
        """The types of the results of the function around an offset."""
        brace = text.around(at)
        while brace >= 0:
            if text.text[brace] == "{":
                before = text.text[max(0, brace - _MAX_BACK) : brace].rstrip()
                if before.endswith("=>"):
                    return self._of_arrow(
                        source, text, brace - (len(text.text[max(0, brace - _MAX_BACK) : brace]) - len(before)) - 2
                    )
                typed, bracket = result_before(text, brace)
                if bracket >= 0:
                    if not is_block(text.text, text.pairs[bracket]):
                        if typed:
                            return [TypeText(source, typed, text.line(brace), is_own=True)]
                        functions = self._written.functions_of(self._of_function(source, text, text.pairs[bracket]))
                        return [each for function in functions for each in function.results()]
                elif not re.search(r"(?:\b(?:else|try|finally|do)|[;{}:])$", before):
                    return []
            brace = text.around(brace)
        return []

    def _of_function(self, source: CodeFile, text: ScriptText, bracket: int) -> list[TypeText]:
        """The types that are expected of the function, no arrow, whose parameters begin at an offset."""
        start = max(0, bracket - 400)
        head = text.text[start:bracket]
        if named := _FUNCTION_HEAD.search(head):
            before = re.sub(r"(?<![.\w$])async\s*$", "", head[: named.start()].rstrip())
            return self._at(source, text, start + len(before))
        method = re.search(r"(?:^|[{,])\s*(?:async\s+)?\*?\s*([\w$]+)\s*(?:<[^()]*>)?\s*$", head)
        around = text.around(bracket)
        if (
            method is None
            or around < 0
            or text.text[around] != "{"
            or re.search(r"\bclass\b[^{}]*$", text.text[max(0, around - 300) : around])
        ):
            return []
        return self._written.values_of(self._of_braces(source, text, around, is_taken=False), method[1])

    def _of_pattern(self, source: CodeFile, text: ScriptText, brace: int) -> list[TypeText]:
        """The types of what a pattern takes apart."""
        end, line = text.close(brace) + 1, text.line(brace)
        after = text.text[end : end + _MAX_EXPRESSION]
        if annotated := re.match(r"\s*:\s*", after):
            return [TypeText(source, type_at(text.text, end + annotated.end()), line, is_own=True)]
        before = text.text[max(0, brace - _MAX_BACK) : brace].rstrip()
        if looped := re.match(r"\s*\bof\b\s*", after):
            steps = read_steps(after[looped.end() :])
            return self._written.elements_of(self._of_chain(source, steps, line)) if steps else []
        is_declared = _DECLARED_BEFORE.search(before + " ")
        if is_declared and (given := re.match(r"\s*=(?![=>])\s*", after)):
            steps = read_steps(after[given.end() :])
            return self._of_chain(source, steps, text.line(end)) if steps else []
        around = text.around(brace)
        if around < 0:
            return []
        if text.text[around] == "{":
            key = key_before(text, brace - (len(text.text[max(0, brace - _MAX_BACK) : brace]) - len(before)))
            return self._written.values_of(self._of_braces(source, text, around, is_taken=True), key) if key else []
        if text.text[around] == "(":
            return self._parameter_of(source, text, around, brace)
        return []

    def _parameter_of(self, source: CodeFile, text: ScriptText, bracket: int, at: int) -> list[TypeText]:
        """The types of the parameter at an offset of a function whose parameters begin at another, from where the function stands."""
        count = text.count_commas(bracket + 1, at)
        close = text.close(bracket)
        arrow = re.match(r"\s*(?::[^=;{}]*)?=>", text.text[close + 1 : close + 300])
        if arrow:
            start = head_of_arrow(text, close + 1 + arrow.end() - 2)[1]
            expected = self._at(source, text, start) if start >= 0 else []
        else:
            expected = self._of_function(source, text, bracket)
        return [each for function in self._written.functions_of(expected) for each in function.parameter(count)]

    # --- elements

    def _of_element(self, source: CodeFile, text: ScriptText, at: int) -> list[TypeText]:
        """The types of the attributes of the element in whose opening tag an offset lies."""
        limit = max(0, at - _MAX_BACK)
        at -= 1
        while at >= limit:
            letter = text.text[at]
            if letter in ")]}" and at in text.pairs:
                at = text.pairs[at]
            elif letter == "<" and (match := _TAG.match(text.text, at)):
                return (
                    self._of_component(source, match[1], text.line(at))
                    if match[1][0].isupper() or "." in match[1]
                    else []
                )
            elif letter in "({[;":
                return []
            at -= 1
        return []

    def _of_component(self, source: CodeFile, name: str, line: int) -> list[TypeText]:
        found = []
        for item in self._written.find_callees(source, read_steps(name), line):
            home = self._files.at(item.path)
            if home is None:
                continue
            text, place = self._written.declared_text(home, item), TypeText(home, "", item.start_line)
            if item.kind != "function":
                match = _FORWARDED.search(text) or _COMPONENT.search(text)
                if match is not None:
                    arguments = type_texts.split_top(
                        text[match.end() : type_texts.close_type_bracket(text, match.end() - 1)], ","
                    )
                    at = 1 if "forwardRef" in match[0] else 0
                    found += [TypeText(home, arguments[at], item.start_line)] if at < len(arguments) else []
                elif item.kind == "value" and (inner := re.search(r"\((?=\s*(?:\{[^{}]*\}|[\w$]+)\s*:)", text)):
                    end = type_texts.close_type_bracket(text, inner.start())
                    found += Function(place, list(type_texts.read_parameters(text[inner.end() : end])), "").parameter(0)
                continue
            if (component := _COMPONENT.search(item.signature.partition("=")[0])) is not None:
                inside = item.signature[
                    component.end() : type_texts.close_type_bracket(item.signature, component.end() - 1)
                ]
                found.append(TypeText(home, type_texts.split_top(inside, ",")[0], item.start_line))
                continue
            read = type_texts.read_signature(text, split_owner(item.symbol)[1])
            found += Function(place, *read).parameter(0) if read is not None else []
        return found
