"""Tells which names are variables of the function around a line: these hide what other documents declare."""

from __future__ import annotations

import re

from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles
from rag_ls.engine.code.references.name_patterns import find_around
from rag_ls.languages import ReferenceRule
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern

_MAX_HEAD = 2000
# Comments and annotations have brackets, too.
_ABOVE = lazy_pattern(r"(?:\s*(?://|/?\*|#|@\w+(?=\n))[^\n]*\n)*")
_SET = r"(?<![@.])\b(?:const|let|var|val)\s+(?:mut\s+)?{name}\b"
_VAR = r"(?<![@.])\bvar\s+{name}\b"
_SET_NO_PATTERN = _SET + r"(?!\s*(?:[({]|::))"
# A parameter that is taken out of an object: `({ name }: Props)`.
_TAKEN = r"[(,]\s*\{(?:[^{}]*[,\s])?{name}\s*[,=}]"
_AS = r"\bas\s+{name}\s*[:,)]"
_ASSIGNED = r"^[ \t]*{name}\s*(?::(?!:)[^=\n]+)?=(?![=>])"
_BRACKETS = lazy_pattern(r"[()\[\]{}]")
_OPENING = {")": "(", "]": "[", "}": "{"}
_QUOTED = lazy_pattern(r"\"{3}.*?\"{3}|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_WAYS = (
    r"^[ \t]*(?:\w+\s*,\s*)+{name}\s*(?:,[\s\w,]*)?=(?!=)",
    r"\bfor\s*\(?\s*(?:\w+\s*,\s*)*{name}\b[\w\s,]*\bin\b",
    # Blocks of Kotlin and Swift.
    r"\{\s*\(?(?:\w+\s*,\s*\(?)*{name}\s*(?:[,)][\w\s,()]*)?(?:->|\bin\b)",
    r"\bva[lr]\s*\((?:\w+\s*,\s*)*{name}\s*[,)]",
    # `{ key: name }` takes `name` out of an object.
    r"(?<![@.])\b(?:const|let|var)\s+\{[^}]*?\b{name}\b(?!\s*:)",
    r"(?<![\w.]){name}\s*:=",
    r"(?<![\w.]){name}\s*(?:,\s*\w+\s*)+:=",
    r"\blambda\s[^:\n]*\b{name}\b",
    # Excludes the type of a result: `(a): Word =>`.
    r"(?:[(,=?]|=>|\basync|\breturn|[\w\"'\]]\s*:)\s*{name}\s*=>",
    r"\((?:[^()]*,)?\s*\b{name}\s*(?:[,:?=}][^()]*)?\)\s*(?::[^=\n]+)?=>",
    r"\((?:[^()]*,)?\s*\{[^{}]*?\b{name}\s*[,=}][^()]*\)\s*(?::[^=\n]+)?=>",
)
"""The ways in which a function declares a variable."""
_TYPED = (
    # `final Map<Key, List<Value>> name =`, at the beginning of a statement or parameter.
    r"(?:^|[;{}(,])\s*(?:(?:@\w+(?:\([^()]*\))?|const|final|in|late|out|ref|required|static|struct|this|unsigned|using|volatile)\s+)*"
    r"(?!(?:assert|await|case|delete|do|else|goto|import|in|is|new|package|return|throw|typedef|yield)\b)"
    r"[A-Za-z_][\w.:]*(?:<[^;(){}]*>)?(?:\[[^\]\n]*\])*(?:\s*[*&?]+\s*|\s*\.\.\.\s*|\s+(?:const\s+)?){name}\s*"
    r"(?:=(?![=>])|[;,)}]|:(?!:)|\[|\bin\b)",
    r"(?:[(,=?]|\breturn|->)\s*{name}\s*->",
    r"\((?:\s*\w+\s*,)*\s*{name}\s*(?:,\s*\w+\s*)*\)\s*->",
    r"\b(?:instanceof|is|out)\s+(?:final\s+)?[\w.]+(?:<[^;(){}]*>)?\??\s+{name}\b",
)
"""The ways in languages that write the type before the name."""


class Scopes:
    """The variables of functions. For one question; not safe from several threads."""

    def __init__(self, files: CodeFiles) -> None:
        self._files = files
        self._bound: dict[tuple[int, int, int, str], bool] = {}

    def body_around(self, source: CodeFile, line: int) -> StoredSymbol | None:
        """The function around a line, or the property whose value is computed there."""
        around = (
            source.declaration_around(line, "function", "value")
            if source.rule.has_bodies
            else source.declaration_around(line, "function")
        )
        if around is None or around.kind == "function" or "{" in around.signature:
            return around
        return around if around.end_line > around.start_line else None

    def text_around(self, source: CodeFile, line: int) -> str:
        """The text of the function around a line, else that of the whole document."""
        body = self.body_around(source, line)
        if body is None:
            return "\n".join(self._files.read_lines(source))
        text = self._files.read_text(source, body.start_line, body.end_line)
        return text if body.kind == "function" else text[text.find("{") :]

    def is_local(self, source: CodeFile, name: str, line: int) -> bool:
        """Whether a bare name is a variable of the function around it."""
        if source.rule.locals and name[:1].isupper():
            # It is a constant there.
            return False
        body = self.body_around(source, line)
        if body is None:
            return bool(source.rule.locals) and is_bound(self.text_around(source, line), name, source.rule)
        if body.symbol == name:
            # Its own declaration makes no variable; a parameter of its name does.
            return is_parameter(self.text_around(source, line), name, source.rule)
        key = (source.id, body.start_line, body.end_line, name)
        if key not in self._bound:
            self._bound[key] = is_bound(self.text_around(source, line), name, source.rule)
        return self._bound[key]


def is_bound(text: str, name: str, rule: ReferenceRule) -> bool:
    """Whether a function declares a parameter or variable of a name."""
    if name not in text:
        return False
    # A type may also follow `as`, and begin a pattern: `let Cart { size } = cart`.
    ways: tuple[str, ...] = (*_WAYS, _SET_NO_PATTERN) if name[:1].isupper() else (*_WAYS, _SET, _AS)
    ways = ways if rule.is_declared else (_ASSIGNED, *ways)
    if rule.types_precede:
        # `const` stands before a type there.
        ways = (*_WAYS, _VAR, _AS, *_TYPED)
    return is_parameter(text, name, rule) or any(
        way != _ASSIGNED or not _is_argument(text, match.start)
        for way in ways
        for match in find_around(way, text, name)
    )


def is_parameter(text: str, name: str, rule: ReferenceRule) -> bool:
    """Whether a function declares a parameter of a name."""
    parameters = _parameters_in(text) if name in text else ""
    return any(any(find_around(way, parameters, name)) for way in (rule.parameters, _TAKEN))


def _is_argument(text: str, at: int) -> bool:
    """Whether a line stands in the brackets of a call: `name=value` gives no value to a variable there."""
    depths, around = {"(": 0, "[": 0, "{": 0}, ""
    for mark in reversed(_BRACKETS.findall(_QUOTED.sub("", text[max(0, at - _MAX_HEAD) : at]))):
        if mark in _OPENING:
            depths[_OPENING[mark]] += 1
        elif depths[mark]:
            depths[mark] -= 1
        else:
            around = mark
            break
    return around in ("(", "[")


def _parameters_in(text: str) -> str:
    """The first brackets of a function's text, with what is in them: in Go, the receiver and results too."""
    above = _ABOVE.match(text)
    start, depth, end = text.find("(", above.end() if above else 0, _MAX_HEAD), 0, 0
    for at in range(max(start, 0), min(len(text), start + _MAX_HEAD)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth and text[at] == ")":
            end = at + 1
        elif not depth and text[at] in "{:=\n":
            break
    # A body alone, or a value that is computed without parameters, has brackets of calls.
    is_head = start < 0 or not (text.startswith("{") or "=>" in text[above.end() if above else 0 : start])
    return text[max(start, 0) : end] if is_head else ""
