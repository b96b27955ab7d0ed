"""Turns answers into JSON, once, just before a surface sends them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Any

from rag_ls.operations.fields import answer_fields

Json = dict[str, Any]


def make_json(answer: object) -> Json:
    """An answer as a JSON object, without optional fields that have their defaults."""
    result = _make_plain(answer)
    assert isinstance(result, dict)
    return result


# Most of an answer: looked at first, because the other checks cost more.
_PLAIN = frozenset({str, int, float, bool, type(None)})


def _make_plain(value: object) -> Any:
    if type(value) in _PLAIN:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((name, getattr(value, name), *rest) for name, _, *rest in answer_fields(type(value)))
        return {
            name: _make_plain(found)
            for name, found, is_optional, default in fields
            if not (is_optional and found == default)
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _make_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in value]
    return value
