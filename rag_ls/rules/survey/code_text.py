"""Reads the values in the text of arguments alike in every language: parts, strings, names, keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_TOKEN = re.compile(
    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|//[^\n]*|/\*.*?\*/|(?<=\s)#\s[^\n]*|[()\[\]{},]",
    re.DOTALL,
)
_COMMENT = re.compile(r"^\s*(?://[^\n]*\n|/\*.*?\*/|#\s[^\n]*\n)\s*", re.DOTALL)
_STRING = re.compile(r"(?:[rRuUbB]{0,2}|@)([\"'`])(.*)\1", re.DOTALL)
_SYMBOL = re.compile(r":([\w?!]+)")
_MADE = re.compile(r"[$#]\{|(?<!\\)\$[A-Za-z_]|\n|[\"'`]")
"""The signs of a text that is put together, or of several."""
_LIST = re.compile(
    r"(?:new\s*(?:\w+\s*)?\[\]\s*|\[\]string|listOf|arrayOf|%[wi]|&)?\s*[\[{(](.*)[\])}](?:\s+as\s+const)?", re.DOTALL
)
_FUNCTION = re.compile(r"(?:async\s+)?(?:function|func|fn|lambda|def|import|require)\b|\(|\{|\||[\w$]+\s*=>")
_NAME = re.compile(r"(?:(?:new|await|do)\s+|\.\.\.|[&*@$]+)*([A-Za-z_$](?:[\w$.:\\]*[\w$?!])?)")
_GOES_ON = re.compile(r"^\(.*\)\s*\.", re.DOTALL)
"""A call whose result is asked for something: another name."""
_KEY = re.compile(
    r"(?:[\"'`]([\w-]+)[\"'`]\s*(?::|=>|,|\bto\b)|:([\w]+)\s*=>|([\w$]+)\s*(?::(?!:)|=(?![=>]))|([\w$]+)$)"
)
_BEFORE_KEYS = re.compile(r"[^\[{(]*[\[{(](.*)[\])}][^\])}]*", re.DOTALL)


def split_parts(text: str) -> list[str]:
    """The parts between the commas of a text, without those inside of brackets and strings, and without comments."""
    parts, depth, start = list[str](), 0, 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if token[0] == "," and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    stripped = (_COMMENT.sub("", each).strip() for each in (*parts, text[start:]))
    return [each for each in stripped if each]


def find_option(parts: Sequence[str], key: str) -> str:
    """The value of a named argument, or of a key of an object among the arguments; "" where there is none."""
    named = re.compile(rf"[\"':]?{key}[\"']?\s*(?::(?!:)|=>|=(?!=))\s*(.*)", re.DOTALL)
    inner = (part for each in parts if each[:1] in "{[" for part in split_parts(each[1:-1]))
    return next((found[1] for each in (*parts, *inner) if (found := named.fullmatch(each))), "")


def read_string(text: str) -> str | None:
    """The text that a literal stands for; None for anything else, and for one that is put together."""
    if symbol := _SYMBOL.fullmatch(text):
        return symbol[1]
    found = _STRING.fullmatch(text)
    return found[2] if found and not _MADE.search(found[2]) else None


def read_strings(text: str) -> list[str] | None:
    """The texts of a literal, or of a list of some; None where one is anything else."""
    text = text.strip()
    if (single := read_string(text)) is not None:
        return [single]
    if (listed := _LIST.fullmatch(text)) is None:
        return None
    if text.startswith("%"):
        return listed[1].split()
    found = [read_string(each) for each in split_parts(listed[1])]
    return None if None in found else [each for each in found if each is not None]


def read_names(text: str, inner: str, *, strings: bool) -> Iterator[str]:
    """The names in a value: of functions and classes, called or not, in lists, within calls of `inner`; of `strings` if asked."""
    if (listed := _LIST.fullmatch(text)) and text[0] in "[%":
        parts = listed[1].split() if text[0] == "%" else split_parts(listed[1])
        for part in parts:
            yield from read_names(f":{part}" if text[0] == "%" else part, inner, strings=strings)
    elif (string := read_string(text)) is not None or (string := _symbol_before(text)):
        if strings:
            yield string
    elif not _FUNCTION.match(text) and (found := _NAME.match(text)):
        name, rest = found[1], text[found.end() :]
        if inner and re.fullmatch(inner, name.rpartition(".")[2]) and rest.startswith("("):
            for part in split_parts(rest[1:-1])[:1]:
                yield from read_names(part, inner, strings=strings)
        elif not _GOES_ON.search(rest):
            yield re.sub(r"(?:::|\.)class$", "", name)


def _symbol_before(text: str) -> str:
    """The symbol of Elixir before a condition: `:login when action in [:edit]`."""
    found = re.match(r":(\w+)\s+when\b", text)
    return found[1] if found else ""


def read_keys(text: str) -> tuple[str, ...]:
    """The keys of a literal object or map."""
    if (inner := _BEFORE_KEYS.fullmatch(text)) is None:
        return ()
    parts = split_parts(inner[1])
    if len(parts) == 1 and parts[0][:1] in "{[":
        return read_keys(parts[0])
    found = (_KEY.match(part) for part in parts)
    return tuple(next(filter(None, each.groups())) for each in found if each)
