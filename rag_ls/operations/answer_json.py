"""Turns answers into JSON, once, just before a surface sends them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from rag_ls.operations.fields import answer_fields

Json = dict[str, Any]


def make_json(answer: object, without: Collection[str] = (), instead: Mapping[str, Any] = MappingProxyType({})) -> Json:
    """An answer as a JSON object, without optional fields that have their defaults, and without the fields `without`.

    `instead` has the JSON of fields that are shown otherwise than they are.
    """
    return {
        name: instead[name] if name in instead else _make_plain(value)
        for name, value in _stated_fields(answer)
        if name not in without
    }


def _stated_fields(answer: object) -> Iterator[tuple[str, Any]]:
    """Names and values of a record, without optional fields that have their defaults."""
    if isinstance(answer, Mapping):
        yield from ((str(name), value) for name, value in answer.items())
        return
    kind: type = type(answer)
    for name, _, is_optional, default in answer_fields(kind):
        value = getattr(answer, name)
        if not (is_optional and value == default):
            yield name, value


# Checked first, because most values have these types and the other checks cost more.
_PLAIN = frozenset({str, int, float, bool, type(None)})


def _make_plain(value: object) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return make_json(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in value]
    return value
