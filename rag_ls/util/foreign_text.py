"""Reads JSON and TOML that anybody may have written: too deep is an error like any other, and nothing takes for ever."""

from __future__ import annotations

import json
from typing import Any

# Python's TOML parser takes a time that grows with the square of the number of a key's parts: this many take a second or two.
_MAX_KEY_COST = 10_000_000
_TOO_DEEP = "its values lie too deep in each other"


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises `ValueError`."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises `ValueError`."""
    import tomllib

    if sum(line.count(".") ** 2 for line in text.split("\n") if "." in line) > _MAX_KEY_COST:
        raise ValueError("a key has too many parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
