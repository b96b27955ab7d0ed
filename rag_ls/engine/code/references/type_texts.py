"""Reads types of TypeScript as they are written: their parts, the parameters and results of functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MAX_DEPTH = 6
_MAX_PARTS = 40
_OPENING = "([{<"
_CLOSING = ")]}>"
_NAMED = re.compile(r"(?:typeof\s+)?[A-Za-z_$][\w$.]*")
_FIRST_OF = frozenset(
    "Partial Required Readonly NonNullable Omit Pick NoInfer OmitKeyof Awaited Promise PromiseLike MaybePromise".split()
)
"""The types that have the members of their first argument."""
_NOTHING = frozenset("never unknown any undefined null {}".split())
_LISTS = frozenset("Array ReadonlyArray Set ReadonlySet Iterable".split())
_MODIFIERS = re.compile(r"^(?:(?:public|private|protected|readonly|override|async|const)\s+|\.\.\.)+")
_SIGNATURE_HEAD = re.compile(r"[^=;]*?[\w$\"'\]]\s*(?=[(<])")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as a signature writes it."""

    text: str
    """Its name, or the pattern that takes it apart."""
    type: str
    """Empty where none is written."""


def split_top(text: str, marks: str) -> list[str]:
    """The parts of a text between some marks that stand in no brackets."""
    found, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        if letter in marks and not depth:
            found.append(text[start:at])
            start = at + 1
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING and not (letter == ">" and text[at - 1 : at] == "="):
            depth = max(0, depth - 1)
    return [*found, text[start:]]


def close_type_bracket(text: str, start: int) -> int:
    """The offset of the bracket that closes the one at an offset; the end of the text if none does."""
    depth = 0
    for at in range(start, len(text)):
        letter = text[at]
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING and not (letter == ">" and text[at - 1 : at] == "="):
            depth -= 1
            if not depth:
                return at
    return len(text)


def read_parts(text: str, depth: int = 0) -> list[str]:
    """The types whose members a written type has: of an intersection or union all, of `Partial<T>` those of `T`."""
    text = _strip(text)
    if not text or depth > _MAX_DEPTH:
        return []
    if "infer " in text:
        return []
    if (branches := _branches(text)) is not None:
        kept = [each for each in map(_strip, branches) if each not in _NOTHING]
        # The checker alone tells which one holds.
        return read_parts(kept[0], depth + 1) if len(kept) == 1 else []
    parts = [part for each in split_top(text, "|") for part in split_top(each, "&") if part.strip()]
    if len(parts) > 1:
        return (
            []
            if _is_function(text)
            else [found for each in parts for found in read_parts(each, depth + 1)][:_MAX_PARTS]
        )
    if text.startswith("(") and close_type_bracket(text, 0) == len(text) - 1:
        return read_parts(text[1:-1], depth + 1)
    name, arguments, rest = read_name(text)
    if name in _FIRST_OF and arguments and not rest:
        return read_parts(arguments[0], depth + 1)
    return [text]


def read_name(text: str) -> tuple[str, list[str], str]:
    """The name that a type begins with, its arguments, and what follows; an empty name where it begins with anything else."""
    match = _NAMED.match(text)
    if match is None:
        return "", [], text
    at = match.end()
    if text[at : at + 1] != "<":
        return match[0], [], text[at:].strip()
    end = close_type_bracket(text, at)
    return match[0], split_top(text[at + 1 : end], ","), text[end + 1 :].strip()


def read_element(text: str) -> str:
    """The type of the elements of a list; empty for any other type."""
    text = _strip(text).removeprefix("readonly ")
    name, arguments, rest = read_name(text)
    if name in _LISTS and arguments and not rest:
        return arguments[0]
    if text.endswith("[]"):
        return text[:-2]
    return text[1:-1] if text.startswith("[") and text.endswith("]") and "," not in text else ""


def read_function(text: str) -> tuple[list[Parameter], str] | None:
    """The parameters and the result of a function's type, `(size: number) => Cart`; None for any other type."""
    text = _strip(text)
    if text.startswith("<"):
        text = text[close_type_bracket(text, 0) + 1 :].lstrip()
    if not text.startswith("("):
        return None
    end = close_type_bracket(text, 0)
    rest = text[end + 1 :].lstrip()
    if not rest.startswith("=>"):
        return read_function(text[1:end]) if not rest and end == len(text) - 1 else None
    return list(read_parameters(text[1:end])), rest[2:].strip()


def read_signature(text: str, name: str) -> tuple[list[Parameter], str] | None:
    """The parameters and the result of a declared function or method of a name, from its text; None where it has none."""
    for match in re.finditer(
        rf"(?<![\w$.]){re.escape(name)}\s*\??\s*(?:=\s*(?:async\s*)?(?:function\s*\*?\s*[\w$]*\s*)?)?(?=[(<])", text
    ):
        at = match.end()
        if text[at] == "<":
            at = close_type_bracket(text, at) + 1
            at += len(text[at:]) - len(text[at:].lstrip())
        if text[at : at + 1] == "(":
            end = close_type_bracket(text, at)
            rest = text[end + 1 :].lstrip()
            return list(read_parameters(text[at + 1 : end])), _result(rest[1:]) if rest.startswith(":") else ""
    return None


def read_parameters(text: str) -> Iterator[Parameter]:
    """The parameters in the brackets of a signature."""
    for part in split_top(text, ","):
        part = _MODIFIERS.sub("", part.strip())
        if not part or part.startswith("this:"):
            continue
        end = close_type_bracket(part, 0) + 1 if part[0] in "{[" else len(part)
        own, _, typed = (
            part.partition(":") if part[0] not in "{[" else (part[:end], "", part[end:].lstrip().removeprefix(":"))
        )
        if part[0] in "{[" and not part[end:].lstrip().startswith(":"):
            typed = ""
        yield Parameter(own.strip().rstrip("?").strip(), _before_default(typed).strip())


def _result(text: str) -> str:
    """The type that a text begins with: up to the body of a function or the end of its signature."""
    depth = 0
    for at, letter in enumerate(text):
        if letter in _OPENING:
            if (
                letter == "{"
                and not depth
                and text[:at].strip()
                and not text[:at].rstrip().endswith(("|", "&", "=>", "extends", "?", ":"))
            ):
                return text[:at].strip()
            depth += 1
        elif letter in _CLOSING and not (letter == ">" and text[at - 1 : at] == "="):
            depth -= 1
            if depth < 0:
                return text[:at].strip()
        elif (letter in ";," and not depth) or (
            letter == "=" and text[at + 1 : at + 2] == ">" and not depth and not text[:at].rstrip().endswith(")")
        ):
            return text[:at].strip()
    return text.strip()


def _before_default(text: str) -> str:
    depth = 0
    for at, letter in enumerate(text):
        depth += letter in _OPENING
        depth -= letter in _CLOSING and text[at - 1 : at] != "="
        if letter == "=" and not depth and text[at + 1 : at + 2] != ">":
            return text[:at]
    return text


def _branches(text: str) -> tuple[str, str] | None:
    """The two results of a conditional type; None for any other type."""
    if " extends " not in text or "?" not in text:
        return None
    parts = split_top(text, "?")
    if len(parts) < 2 or " extends " not in parts[0]:
        return None
    rest = text[len(parts[0]) + 1 :]
    nested, start = 0, 0
    depth = 0
    for at, letter in enumerate(rest):
        depth += letter in _OPENING
        depth -= letter in _CLOSING and rest[at - 1 : at] != "="
        if depth:
            continue
        if letter == "?":
            nested += 1
        elif letter == ":" and nested:
            nested -= 1
        elif letter == ":":
            return rest[start:at], rest[at + 1 :]
    return None


def _is_function(text: str) -> bool:
    return read_function(text) is not None


def _strip(text: str) -> str:
    return text.strip().lstrip("|&").strip().removesuffix(";").strip()
