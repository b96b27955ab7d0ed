"""The names of the three formats, and the header that all of them begin with."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from rag_ls.errors import InvalidRequest
from rag_ls.model import Scope

NAME = "rag-ls-memories"
VERSION = 1


class Format(StrEnum):
    """The format of a file of memories."""

    JSON = "json"
    """One object."""
    JSONL = "jsonl"
    """A header line, then one memory per line."""
    MARKDOWN = "markdown"
    """One text, in which each memory has its own front matter."""


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
