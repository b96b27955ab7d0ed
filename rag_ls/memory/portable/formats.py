"""The names of the three formats, and the header that all of them begin with."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NoReturn

from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.model import Scope
from rag_ls.util.files import regular_file
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import without_surrogates

NAME = "rag-ls-memories"
VERSION = 1
_MAX_HEAD_BYTES = 64 * 1024
_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
FENCE = "---"
_ENTRY_NAME = lazy_pattern(r"([A-Za-z_][\w.-]*)\s*:(?:\s+(.*))?$")
_COMMENT = lazy_pattern(r"(?:^|\s)#.*$")
_TEXT_BELOW = lazy_pattern(r"[|>][+-]?$")
_ITEM = lazy_pattern(r"-(?:\s+(.*))?$")
_INLINE_ITEM = lazy_pattern(r'\s*("(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'|[^,]*)\s*(?:,|$)')
_MAX_DEPTH = 5


class Format(StrEnum):
    """The format of a file of memories."""

    JSON = "json"
    """One object."""
    JSONL = "jsonl"
    """A header line, then one memory per line."""
    MARKDOWN = "markdown"
    """One text, in which each memory has its own front matter."""


_SUFFIXES = {
    ".json": Format.JSON, ".jsonl": Format.JSONL, ".ndjson": Format.JSONL, ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
}  # fmt: skip


def format_named(name: str) -> Format:
    """The format with this name. Raises `InvalidRequest`, which lists those that there are."""
    try:
        return Format(name)
    except ValueError:
        raise InvalidRequest(f"there is no format {name[:40]!r}; give one of {', '.join(Format)}") from None


def header(scope: Scope) -> dict[str, object]:
    """The header of a file."""
    return {"format": NAME, "version": VERSION, "scope": scope.value}


def check_header(values: Mapping[str, object]) -> None:
    """Raise `InvalidRequest` for the header of something else, or of a newer rag-ls."""
    if values.get("format") != NAME:
        raise InvalidRequest(f"this is no file of memories: its header does not say format {NAME!r}")
    version = values.get("version")
    if not isinstance(version, int) or version < 1:
        raise InvalidRequest(f"the header has no version; {VERSION} is the one that this rag-ls writes")
    if version > VERSION:
        raise InvalidRequest(
            f"the file has version {version} of the format, this rag-ls knows {VERSION}; update rag-ls"
        )


def format_by_name(path: Path) -> str:
    """The format in which a file of memories is written: by its suffix, JSON where that names none."""
    return _SUFFIXES.get(path.suffix.lower(), Format.JSON)


def detect_format(path: Path) -> str:
    """The format of a file of memories, by its suffix, or else by its beginning.

    Raises `NotFound` if there is no such file, `InvalidRequest` if the format cannot be told.
    """
    if (known := _SUFFIXES.get(path.suffix.lower())) is not None:
        return known
    try:
        with regular_file(path, follow=True) as file:
            text = file.read(_MAX_HEAD_BYTES).decode("utf-8-sig", "replace").lstrip()
    except FileNotFoundError as error:
        raise NotFound(f"there is no {path}; give the file to import") from error
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}") from error
    if text.startswith(FENCE):
        return Format.MARKDOWN
    if text.startswith("["):
        return Format.JSON
    if text.startswith("{"):
        return Format.JSONL if _is_a_record_or_header(text.split("\n", 1)[0]) else Format.JSON
    raise InvalidRequest(f"{path} does not look like memories; give the format: {', '.join(Format)}")


def _is_a_record_or_header(line: str) -> bool:
    try:
        value = parse_json(line)
    except ValueError:
        return False
    return isinstance(value, dict) and "memories" not in value


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")


# Created once, because a large file holds a value in each line.
_READER = json.JSONDecoder(parse_constant=_refuse_constant)


def dump_json(value: object) -> str:
    """A value as one line of JSON; lone surrogates, which UTF-8 files cannot hold, are escaped."""
    text = _WRITER.encode(value)
    return text if text == without_surrogates(text) else json.dumps(value, allow_nan=False)


def parse_json(text: str) -> object:
    """Parse JSON. Raises `ValueError`, which names the error and its place."""
    try:
        value: object = _READER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        ends = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        raise ValueError(f"{error}{' (is it cut off?)' if ends else ''}") from None
    return value


def format_lines(values: Mapping[str, object]) -> Iterator[str]:
    """The lines for these values, with fences and line ends."""
    yield f"{FENCE}\n"
    for name, value in values.items():
        yield f"{name}: {dump_json(value)}\n"
    yield f"{FENCE}\n"


def parse_lines(lines: Sequence[str], depth: int = 0) -> dict[str, object]:
    """Parse the lines between the fences. Raises `ValueError`, which names the invalid line."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"it is nested more than {_MAX_DEPTH} levels deep")
    values: dict[str, object] = {}
    for head, below in _entries(lines):
        match = _ENTRY_NAME.match(head)
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
            return parse_json(text)
        except ValueError:
            return [_single(item) for item in _INLINE_ITEM.findall(text[1:-1]) if item.strip()]
    return _single(text)


def _single(text: str) -> object:
    text = text.strip()
    try:
        return parse_json(text)
    except ValueError:
        pass
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    plain = _COMMENT.sub("", text).strip()
    return None if plain in ("", "~") else plain
