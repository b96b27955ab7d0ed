"""TypeScript of answers, as the VS Code extension reads them."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from rag_ls.operations.fields import answer_fields

_TS_SCALARS = {str: "string", int: "number", float: "number", bool: "boolean", object: "unknown", type(None): "null"}


def typescript(answers: Sequence[type | types.UnionType]) -> str:
    """An interface for each answer, and for each record in one, by name."""
    found: dict[str, type] = {}
    for answer in answers:
        _collect_records(answer, found)
    return "\n".join(_interface(found[name]) for name in sorted(found))


def _collect_records(hint: Any, found: dict[str, type]) -> None:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type) and hint.__name__ not in found:
        found[hint.__name__] = hint
        for _, inner, _, _ in answer_fields(hint):
            _collect_records(inner, found)
    for inner in typing.get_args(hint):
        _collect_records(inner, found)


def _interface(answer: type) -> str:
    lines = [f"/** {' '.join((answer.__doc__ or '').split())} */", f"export interface {answer.__name__} {{"]
    for name, hint, is_optional, _ in answer_fields(answer):
        lines.append(f"  readonly {name}{'?' if is_optional else ''}: {_ts_type(hint, is_optional=is_optional)};")
    return "\n".join([*lines, "}", ""])


def _ts_type(hint: Any, *, is_optional: bool = False) -> str:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        kept = [each for each in inner if not (is_optional and each is type(None))]
        return " | ".join(_ts_type(each) for each in kept)
    if origin is tuple:
        item = _ts_type(inner[0])
        return f"readonly ({item})[]" if " " in item else f"readonly {item}[]"
    if origin is Mapping:
        return f"Readonly<Record<string, {_ts_type(inner[1])}>>"
    return _TS_SCALARS.get(hint) or str(hint.__name__)
