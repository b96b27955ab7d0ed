"""Reads and writes the block of `name: value` lines at the beginning of a Markdown text.

It writes each value as JSON, which YAML can read too. It reads the YAML that people write by hand: scalars, quoted
strings, lists, values below their name, and texts folded over several lines. No YAML parser reads what stands in rules and
notes of agents: `description: Use when: ...`, `globs: *.ts` and `name: @scope/package` are errors to it, `title: no` is false.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from rag_ls.memory.portable import strict_json
from rag_ls.util.patterns import lazy_pattern

FENCE = "---"
NAME = lazy_pattern(r"([A-Za-z_][\w.-]*)\s*:(?:\s+(.*))?$")
_COMMENT = lazy_pattern(r"(?:^|\s)#.*$")
_TEXT_BELOW = lazy_pattern(r"[|>][+-]?$")
_ITEM = lazy_pattern(r"-(?:\s+(.*))?$")
_INLINE_ITEM = lazy_pattern(r'\s*("(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'|[^,]*)\s*(?:,|$)')
_MAX_DEPTH = 5


def format_lines(values: Mapping[str, object]) -> Iterator[str]:
    """The lines for these values, with fences and line ends."""
    yield f"{FENCE}\n"
    for name, value in values.items():
        yield f"{name}: {strict_json.dump(value)}\n"
    yield f"{FENCE}\n"


def parse_lines(lines: Sequence[str], depth: int = 0) -> dict[str, object]:
    """Parse the lines between the fences. Raises `ValueError`, which names the invalid line."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"it is nested more than {_MAX_DEPTH} levels deep")
    values: dict[str, object] = {}
    for head, below in _entries(lines):
        match = NAME.match(head)
        if match is None:
            raise ValueError(f"{head[:60]!r} is not of the form `name: value`")
        values[match[1]] = _value((match[2] or "").strip(), below, depth)
    return values


def split_text(text: str) -> tuple[dict[str, object], str]:
    """The front matter of a Markdown text, and the rest; unreadable front matter counts as part of the rest."""
    lines = text.split("\n")
    ends = [number for number, line in enumerate(lines) if number and line.rstrip() == FENCE]
    if lines[0].rstrip() != FENCE or not ends:
        return {}, text
    try:
        values = parse_lines([line.rstrip() for line in lines[1 : ends[0]]])
    except ValueError:
        return {}, text
    return values, "\n".join(lines[ends[0] + 1 :])


def _entries(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each line that begins an entry, with the lines below that belong to it."""
    head, below = "", list[str]()
    for line in lines:
        if head and (not line.strip() or line.startswith((" ", "\t", "-"))):
            below.append(line)
        elif line.strip() and not line.startswith("#"):
            if head:
                yield head, below
            head, below = line, []
    if head:
        yield head, below


def _value(text: str, below: Sequence[str], depth: int) -> object:
    lines = textwrap.dedent("\n".join(below)).strip("\n").split("\n")
    if _TEXT_BELOW.match(text):
        return "\n".join(lines) if text.startswith("|") else " ".join(line.strip() for line in lines)
    if any(lines):
        if text:
            return _scalar(" ".join([text, *(line.strip() for line in lines)]))
        items = [_ITEM.match(line) for line in lines if line.strip()]
        if all(items):
            return [_scalar((item[1] or "").strip()) for item in items if item]
        return parse_lines(lines, depth + 1)
    return _scalar(text)


def _scalar(text: str) -> object:
    if text.startswith("[") and text.endswith("]"):
        try:
            return strict_json.parse(text)
        except ValueError:
            return [_single(item) for item in _INLINE_ITEM.findall(text[1:-1]) if item.strip()]
    return _single(text)


def _single(text: str) -> object:
    text = text.strip()
    try:
        return strict_json.parse(text)
    except ValueError:
        pass
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    plain = _COMMENT.sub("", text).strip()
    return None if plain in ("", "~") else plain
