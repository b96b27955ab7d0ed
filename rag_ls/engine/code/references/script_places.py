"""Finds the parts of a script around an offset: the key before a value, the head of the function around it, where an expression begins."""

from __future__ import annotations

import re
from typing import NamedTuple

from rag_ls.engine.code.references.script_text import ScriptText

_MAX_BACK = 4000
_MAX_HEAD = 400
_PART_BEFORE = re.compile(r"[.\w$]")
_PARAMETER_END = re.compile(r"\s*(?:=>|[,)=:?])")
_MAX_EXPRESSION = 400
_KEY_BEFORE = re.compile(r"(?:([\w$]+)|[\"']([^\"'\n]*)[\"']|\])\s*:$")
_BLOCK_HEAD = re.compile(r"(?<![.\w$])(?:if|for|while|switch|catch|with|await)\s*$")


def key_before(text: ScriptText, end: int) -> str:
    """The key that ends at an offset with its colon; empty where a colon ends anything else."""
    match = _KEY_BEFORE.search(text.text, max(0, end - 200), end)
    if match is None:
        return ""
    start = match.start() if text.text[match.start()] != "]" else text.pairs.get(match.start(), 0)
    before = text.text[max(0, start - _MAX_BACK) : start].rstrip()
    around = text.around(start)
    is_key = before.endswith(("{", ",")) and around >= 0 and text.text[around] == "{"
    return (match[1] or match[2] or "?") if is_key else ""


def find_start(text: ScriptText, end: int) -> int:
    """The offset at which the expression begins of which an operand of `?`, `:`, `??`, `||` or `&&` ends at an offset; -1 if unknown."""
    at, limit, nested = end - 1, max(0, end - _MAX_BACK), 0
    while at >= limit:
        letter = text.text[at]
        if letter in ")]}" and at in text.pairs:
            at = text.pairs[at]
        elif (
            letter in "([{,;"
            or (letter == "=" and text.text[at + 1 : at + 2] not in ("=", ">") and text.text[at - 1] not in "=!<>")
            or (letter == ">" and text.text[at - 1] == "=")
            or (letter == "n" and re.search(r"(?<![.\w$])return$", text.text[max(0, at - 8) : at + 1]))
        ):
            return at + 1
        elif letter == ":":
            if nested <= 0 and at != end - 1 and key_before(text, at + 1):
                return at + 1
            nested += 1
        elif letter == "?" and text.text[at + 1 : at + 2] not in (".", "?") and text.text[at - 1] != "?":
            nested -= 1
        at -= 1
    return -1


def head_of_arrow(text: ScriptText, arrow: int) -> tuple[str, int]:
    """The written result of a function with an arrow, and the offset at which the function begins; -1 if that is unknown."""
    typed, bracket = result_before(text, arrow)
    if bracket >= 0:
        start = text.pairs[bracket]
    else:
        name = re.search(r"[\w$]+\s*$", text.text[max(0, arrow - 200) : arrow])
        if name is None:
            return "", -1
        start = max(0, arrow - 200) + name.start()
    head = text.text[max(0, start - 400) : start]
    shorter = head.rstrip()
    if shorter.endswith(">") and not shorter.endswith("=>"):
        shorter = without_type_arguments(shorter).rstrip()
    shorter = re.sub(r"(?<![.\w$])async$", "", shorter)
    return typed, start - (len(head) - len(shorter))


def result_before(text: ScriptText, end: int) -> tuple[str, int]:
    """The written result of a function whose body, or arrow, stands at an offset, and the bracket behind its parameters; -1 for none."""
    at, limit = end - 1, max(0, end - _MAX_BACK)
    while at >= limit:
        letter = text.text[at]
        if letter in ")]}" and at in text.pairs:
            between = text.text[at + 1 : end].strip()
            if letter == ")" and (not between or between.startswith(":")):
                return between.removeprefix(":").strip(), at
            at = text.pairs[at]
        elif letter in "([{;":
            break
        at -= 1
    return "", -1


class ParameterPlace(NamedTuple):
    """A parameter, by offsets."""

    start: int
    end: int
    """Behind its name."""
    bracket: int
    """The bracket before the parameters; -1 where the name stands alone before an arrow."""
    body: int
    body_end: int


def find_parameters(text: ScriptText, name: str) -> list[ParameterPlace]:
    """The parameters of a name."""
    found = []
    at = text.text.find(name)
    while at >= 0:
        end = at + len(name)
        is_whole = not _PART_BEFORE.match(text.text, at - 1) if at else True
        if is_whole and _PARAMETER_END.match(text.text, end) and (place := _read_parameter(text, at, end)) is not None:
            found.append(place)
        at = text.text.find(name, end)
    return found


def _read_parameter(text: ScriptText, start: int, end: int) -> ParameterPlace | None:
    if re.match(r"\s*=>", text.text[end : end + 20]):
        bracket, close = -1, end
    else:
        bracket = text.around(start)
        before = text.text[max(bracket, start - 60) : start].rstrip()
        if bracket < 0 or text.text[bracket] != "(" or before[-1:] not in ("(", ","):
            return None
        close = text.close(bracket) + 1
    body = re.match(r"\s*(?::[^;{}=]*)?(=>)?\s*", text.text[close : close + _MAX_HEAD])
    begin = close + body.end() if body else close
    if body is None or (text.text[begin : begin + 1] != "{" and not body[1]):
        return None
    if text.text[begin : begin + 1] == "{":
        is_function = body[1] or not is_block(text.text, bracket)
        return ParameterPlace(start, end, bracket, begin, text.close(begin)) if is_function else None
    around = text.around(close)
    last = min(text.close(around) if around >= 0 else len(text.text), begin + _MAX_BACK)
    return ParameterPlace(start, end, bracket, begin, text.end_of_part(begin, last))


def without_type_arguments(text: str) -> str:
    """A text without the arguments of types, `<Cart>`, with which it ends."""
    depth = 0
    for at in range(len(text) - 1, max(-1, len(text) - _MAX_EXPRESSION * 2), -1):
        if text[at] == ">" and text[at - 1] != "=":
            depth += 1
        elif text[at] == "<":
            depth -= 1
            if not depth:
                return text[:at]
    return text


def is_block(text: str, bracket: int) -> bool:
    """Whether brackets belong to a statement, `if (...)`."""
    return _BLOCK_HEAD.search(text[max(0, bracket - 300) : bracket]) is not None
