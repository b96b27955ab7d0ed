"""The folders that the user's settings name for data. They are needed before the settings are loaded, and stay for a process's life.

`config` checks the same values, and tells what is wrong with them.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

from rag_ls.util.decoding import decode_marked, read_toml

_SECTION = "locations"
_ENVIRONMENT_PREFIX = "RAG_LS_LOCATIONS_"


def named_location(config_file: Path, key: str) -> Path | None:
    """The folder that the environment or the user's file names for one kind of data; None where none is, or it is no full path."""
    named = os.environ.get(f"{_ENVIRONMENT_PREFIX}{key.upper()}") or _read_section(config_file).get(key)
    folder = os.path.expanduser(named) if isinstance(named, str) else ""
    return Path(os.path.realpath(folder)) if os.path.isabs(folder) and "\0" not in folder else None


@functools.cache
def _read_section(config_file: Path) -> dict[str, Any]:
    """The section of the user's file as this process found it first: data must not move while it works."""
    try:
        section = read_toml(decode_marked(config_file.read_bytes())).get(_SECTION)
    except (OSError, ValueError):
        return {}
    return section if isinstance(section, dict) else {}
