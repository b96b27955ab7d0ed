"""Helpers for the readers of other tools' files: read a file, and build records within our limits."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.memory.content_checks import MAX_CUSTOM, MAX_TAG, MAX_TAGS
from rag_ls.model import MemoryType
from rag_ls.util.files import read_regular
from rag_ls.util.patterns import lazy_pattern

_MAX_TEXT_BYTES = 5 * 2**20
_MAX_WORDS = 6
_MIN_WORD_CHARACTERS = 3
_WORD = lazy_pattern(r"\w[\w.+#-]*\w[+#]*|\w")
_FILLERS = frozenset("the and for with how from into this that are you our your its not what when use".split())
_SCALARS = (str, int, float, bool)


def read_text(path: Path, largest: int = _MAX_TEXT_BYTES) -> str:
    """Read a text file. Raises `NotFound` and `InvalidRequest`, which name the file."""
    try:
        if path.is_file() and path.stat().st_size > largest:
            raise InvalidRequest(f"{path} has more than {largest:,} bytes; split it")
        return read_regular(path, largest).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is no UTF-8 text ({error.reason} at byte {error.start}); convert it") from error
    except FileNotFoundError as error:
        raise NotFound(f"there is no {path}; give the file or the folder to import") from error
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}") from error


def file_uri(path: Path) -> str:
    """The URI of a file, for a record's source."""
    return path.absolute().as_uri()


def record(
    content: str,
    memory_type: MemoryType,
    tags: Iterable[str],
    *,
    source: str | None = None,
    custom: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """A record without an id, so that each import derives the same id from the same content.

    Tags and custom fields beyond our limits are left out.
    """
    kept = list(dict.fromkeys(tag for tag in map(str.strip, tags) if 0 < len(tag) <= MAX_TAG))[:MAX_TAGS]
    metadata = {"tags": kept, "custom": keep_fitting(custom or {})}
    return {
        "content": content,
        "memory_type": memory_type.value,
        "metadata": metadata,
        "source_uri": source,
    }


def keep_fitting(custom: Mapping[str, object]) -> dict[str, object]:
    """The foreign fields that are plain values or lists of them, as many as fit our limit."""
    kept: dict[str, object] = {}
    size = 2
    for name, value in custom.items():
        plain = _plain(value)
        size += len(json.dumps({name: plain}))
        if size > MAX_CUSTOM:
            break
        if plain is not None:
            kept[name] = plain
    return kept


def words(text: str) -> Iterator[str]:
    """The words of a heading that make tags."""
    found = [word for word in _WORD.findall(text.lower()) if len(word) >= _MIN_WORD_CHARACTERS and word not in _FILLERS]
    yield from dict.fromkeys(found[:_MAX_WORDS])


def _plain(value: object) -> object:
    if isinstance(value, list):
        return [item for item in value if isinstance(item, _SCALARS) and _finite(item)]
    return value if isinstance(value, _SCALARS) and _finite(value) else None


def _finite(value: object) -> bool:
    return not isinstance(value, float) or math.isfinite(value)
