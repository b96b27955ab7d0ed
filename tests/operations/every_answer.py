"""Answers of a type in each of its branches: fields there and not, lists of none, one and two, one after the other.

Not all combinations: each branch of each field, however deep, comes once, with everything else as usual.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any

from rag_ls.operations.fields import answer_fields
from rag_ls.operations.memories.consolidation import ConsolidationAnswer
from rag_ls.operations.projects.status import EngineRecord

_STAMP = "2026-03-01T10:20:30Z"
_SCALARS: dict[Any, tuple[Any, ...]] = {
    str: ("some text", "", "zwei\nZeilen: §, [x](y) and `code`"), int: (3, 0), float: (0.25, 0.0), bool: (True, False),
    object: ("anything", 1, None, ["a"], {"b": []}),
}  # fmt: skip
_STAMPS = ("at", "newest", "last_sync", "last_opened", "lastIndexed", "timestamp")
# What a field can hold where its type says less.
_KNOWN: dict[tuple[str, str], tuple[Any, ...]] = {
    ("MemoryRecord", "kind"): ("memory",),
    ("CommitRecord", "kind"): ("commit",),
    ("MemoryRecord", "reason"): ("deleted",),
    ("CodeRecord", "kind"): ("chunk",),
    ("CodeRecord", "text"): ("def total():\n    return 1\n",),
    ("CodeRecord", "file"): ("/work/shop/src/cart.py", ""),
    ("StoredAnswer", "status"): ("inserted", "updated", "duplicate"),
    ("SummaryAnswer", "status"): ("inserted", "updated", "preview"),
    ("AnchorRecord", "state"): ("fresh", "drifted", "orphaned"),
    ("EngineRecord", "mode"): ("shared", "standalone"),
    ("ContradictionRecord", "memories"): (),
}
# Fields that may be left out by their type, and never are where a surface looks at them.
_ALWAYS = {("MemoryRecord", "kind")}
# Fields that are there together or not at all.
_TOGETHER = {("MemoryRecord", "deleted_at"): ("reason",), ("MemoryRecord", "reason"): ("deleted_at",)}
# Answers of which parts exclude each other: a consolidation shows merges or what taking one back restored; an engine is
# described in full or in four words.
_WHOLE: dict[type, tuple[tuple[str, ...], ...]] = {
    ConsolidationAnswer: (
        ("restored",),
        ("dry_run", "threshold", "merges", "proposals", "contradictions", "never_recalled", "undo"),
    ),
    EngineRecord: (("address", "log", "memory_bytes", "models", "clients", "latency"),),
}


def every_answer(hint: Any) -> tuple[Any, ...]:
    """Values of a type, the usual one first."""
    return tuple(_values(hint))


@cache
def _values(hint: Any) -> tuple[Any, ...]:
    return tuple(_made(hint))


def _made(hint: Any) -> Iterator[Any]:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint in _SCALARS:
        yield from _SCALARS[hint]
    elif hint is type(None):
        yield None
    elif isinstance(hint, type) and issubclass(hint, Enum):
        yield from hint
    elif origin in (types.UnionType, typing.Union):
        for each in inner:
            yield from _values(each)
    elif origin is tuple:
        items = _values(inner[0])
        yield (items[0], items[-1])
        yield ()
        yield from ((item,) for item in items)
    elif origin is Mapping:
        items = _values(inner[1])
        yield {"project": items[0], "global": items[-1]}
        yield {}
        yield from ({"project": item} for item in items)
    else:
        yield from _records(hint)


def _records(kind: type) -> Iterator[Any]:
    """The usual record; one with nothing that may be left out; then each value of each field."""
    fields = {name: _of_field(kind, name, hint) for name, hint, _, _ in answer_fields(kind)}
    usual = {name: values[0] for name, values in fields.items()}
    optional = dict(_left_out(kind))
    parts = _WHOLE.get(kind, ())
    if len(parts) > 1:
        for part in parts:
            absent = {name: None for other in parts if other is not part for name in other}
            yield from (kind(**{**usual, **absent, name: value}) for name in part for value in fields[name])
        return
    yield kind(**usual)
    if not parts:
        yield kind(**{**usual, **optional})
    for name, values in fields.items():
        yield from (kind(**{**usual, name: value}) for value in values[1:])
        if name in optional and not parts:
            gone = (name, *_TOGETHER.get((kind.__name__, name), ()))
            yield kind(**{**usual, **{each: optional[each] for each in gone}})


def _left_out(kind: type) -> Iterator[tuple[str, object]]:
    for name, _, is_optional, default in answer_fields(kind):
        if is_optional and (kind.__name__, name) not in _ALWAYS:
            yield name, default


def _of_field(kind: type, name: str, hint: Any) -> tuple[Any, ...]:
    if known := _KNOWN.get((kind.__name__, name)):
        return known
    if (kind.__name__, name) in _KNOWN:
        # A pair, as the record says.
        items = _values(typing.get_args(hint)[0])
        return tuple((item, items[0]) for item in items)
    if name in _STAMPS or name.endswith("_at"):
        return (_STAMP, None) if type(None) in typing.get_args(hint) else (_STAMP,)
    is_left_out = kind in _WHOLE
    return tuple(value for value in _values(hint) if not (is_left_out and value is None))
