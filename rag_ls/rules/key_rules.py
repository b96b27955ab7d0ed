"""Extracts the key rules of a text, word for word and with their lines: sentences with MUST, NEVER, ALWAYS, SHALL or DO NOT."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.chunking import find_fenced_lines
from rag_ls.util.records import dataclass

_SHOUTED = re.compile(r"\b(?:MUST|NEVER|ALWAYS|SHALL|SHALL NOT|DO NOT|DON'T|FORBIDDEN|REQUIRED)\b")
_COMMAND = re.compile(r"\b(?:must|never|always|shall|do not|don't|forbidden)\b", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_YAML_ITEM = re.compile(r"^\s*-\s+(?P<value>\S.*)$")
_YAML_VALUE = re.compile(r"^\s*(?:-\s+)?[\w.-]+\s*:\s*(?P<value>\S.*)$")
_YAML_MAPPING = re.compile(r"^[\w.-]+\s*:(?:\s|$)")
_YAML_LIST = re.compile(r"^\s*(?:-\s+)?(?P<key>[\w.-]+)\s*:\s*$")
_MAX_CHARACTERS = 600
_MAX_RULES = 50


PLACE_LISTS = frozenset({"exceptions", "examples"})
"""The keys of ARCHITECTURE.yml whose lists name places in the code, and state no rule."""


@dataclass(frozen=True, slots=True)
class KeyRule:
    """A rule in the words of its document."""

    text: str
    """A part of the document, character by character; a long one ends at a word, with `…` after it."""
    line: int
    """1-based."""


def key_rules(text: str, *, is_yaml: bool, first_line: int = 1) -> tuple[KeyRule, ...]:
    """The key rules of a section that begins on `first_line` of its document.

    In prose: the paragraphs and list items that hold one of the words in capitals; if there are none, those that hold one in
    small letters. In YAML: the items of lists but of `PLACE_LISTS`, and the values that hold one of the words.
    """
    found = list(_of_yaml(text) if is_yaml else _of_prose(text))
    return tuple(KeyRule(rule.text, first_line + rule.line) for rule in found[:_MAX_RULES])


def obliges(rule: str) -> bool:
    """Whether a rule says MUST, NEVER or the like, in capitals."""
    return _SHOUTED.search(rule) is not None


def _of_prose(text: str) -> list[KeyRule]:
    blocks = list(paragraphs_in(text))
    shouted = [block for block in blocks if _SHOUTED.search(block.text)]
    return shouted or [block for block in blocks if _COMMAND.search(block.text)]


def paragraphs_in(text: str) -> Iterator[KeyRule]:
    """The paragraphs and list items of a text, without headings and code; lines count from 0."""
    lines = text.splitlines()
    code = {number for first, last in find_fenced_lines(lines) for number in range(first, last)}
    start = -1
    for number, line in enumerate([*lines, ""]):
        begins = bool(_ITEM.match(line)) and number not in code
        ends = number in code or not line.strip() or bool(_HEADING.match(line))
        if start >= 0 and (begins or ends):
            yield _block(lines, start, number)
            start = -1
        if start < 0 and not ends:
            start = number


def _block(lines: list[str], start: int, end: int) -> KeyRule:
    joined = "\n".join(lines[start:end])
    return KeyRule(_shorten(_ITEM.sub("", joined, count=1).strip()), start)


def _of_yaml(text: str) -> Iterator[KeyRule]:
    list_key = ""
    for number, line in enumerate(text.splitlines()):
        bare = line.split(" #", 1)[0].rstrip()
        if bare.lstrip().startswith("#"):
            continue
        item = _YAML_ITEM.match(bare)
        value = _YAML_VALUE.match(bare)
        if item and not _YAML_MAPPING.match(item["value"]):
            if list_key not in PLACE_LISTS:
                yield KeyRule(_strip_quotes(item["value"]), number)
            continue
        begun = _YAML_LIST.match(bare)
        list_key = begun["key"] if begun else ""
        if value and _COMMAND.search(value["value"]):
            yield KeyRule(_strip_quotes(value["value"]), number)


def _strip_quotes(value: str) -> str:
    value = value.strip()
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return _shorten(value[1:-1] if quoted else value)


def _shorten(text: str) -> str:
    """The text; one of more than `_MAX_CHARACTERS` ends before the word that it cuts, but for a very long word."""
    if len(text) <= _MAX_CHARACTERS:
        return text
    kept = text[:_MAX_CHARACTERS]
    whole_words = kept if text[_MAX_CHARACTERS].isspace() else re.sub(r"\s\S{0,60}\Z", "", kept)
    return f"{whole_words.rstrip()}…"
