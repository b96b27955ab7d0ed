"""Reads what agents were told in files as records, and detects the format of our own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.memory.portable import front_matter, strict_json
from rag_ls.memory.portable.formats import Format
from rag_ls.memory.portable.rule_files import AGENTS, CLAUDE, read_agents, read_claude
from rag_ls.util.files import regular_file

_READERS: Mapping[str, Callable[[Path], list[dict[str, object]]]] = {
    CLAUDE: read_claude,
    AGENTS: read_agents,
}
KINDS = tuple(_READERS)
_SUFFIXES = {
    ".json": Format.JSON, ".jsonl": Format.JSONL, ".ndjson": Format.JSONL, ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
}  # fmt: skip
_MAX_HEAD_BYTES = 64 * 1024


def read_foreign(kind: str, path: Path) -> list[dict[str, object]]:
    """The records of another tool's file or folder, for `import_records`. Nothing is written.

    They have no ids, so that records imported before are recognised by their content. Raises `InvalidRequest` for an
    unknown kind or an unreadable file, `NotFound` for a missing one.
    """
    reader = _READERS.get(kind)
    if reader is None:
        raise InvalidRequest(f"there is no kind {kind[:40]!r}; give one of {', '.join(KINDS)}")
    if not path.exists():
        raise NotFound(f"there is no {path}; give the file or the folder to import")
    return reader(path)


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
    if text.startswith(front_matter.FENCE):
        return Format.MARKDOWN
    if text.startswith("["):
        return Format.JSON
    if text.startswith("{"):
        return Format.JSONL if _is_a_record_or_header(text.split("\n", 1)[0]) else Format.JSON
    raise InvalidRequest(f"{path} does not look like memories; give the format: {', '.join(Format)}")


def _is_a_record_or_header(line: str) -> bool:
    try:
        value = strict_json.parse(line)
    except ValueError:
        return False
    return isinstance(value, dict) and "memories" not in value
