"""JSON Schema of requests and answers, as agents read it."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from rag_ls.operations.fields import Argument, accepted_arguments, answer_fields, arguments_of

Schema = dict[str, Any]

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def input_schema(request: type, shows: Sequence[str], beside: Mapping[str, Schema] | None = None) -> Schema:
    """JSON Schema of those arguments of a request that agents see, in their order, and of what they may give `beside` these.

    Strict clients refuse all tools for one schema that they do not know, so agents' schemas have one type each, an object its
    properties, an array its items, and no other limits than the names of choices.
    """
    accepted = accepted_arguments(request)
    known = {_agents_name(name, declared): name for name, (_, declared) in accepted.items()}
    declared = {shown: accepted[known.get(shown, shown)] for shown in shows}
    required = [shown for shown, (_, each) in declared.items() if each.required or each.agents_required]
    properties = {shown: _argument_schema(*each) for shown, each in declared.items()}
    schema = _object_schema({**properties, **(beside or {})}, request)
    return {**schema, "required": required} if required else schema


def output_schema(answer: type, names: Sequence[str]) -> Schema:
    """JSON Schema of the keys `names` of an answer."""
    kinds = {name: hint for name, hint, _, _ in answer_fields(answer)}
    return _object_schema({name: _answer_value_schema(kinds[name]) for name in names}, answer)


def _object_schema(properties: Mapping[str, Schema], declared: type) -> Schema:
    """An object with its properties. Raises `TypeError` for one without, which strict clients refuse."""
    if not properties:
        raise TypeError(f"{declared.__name__}: agents see no property of this object: name those that it shows")
    return {"type": "object", "properties": dict(properties)}


def _agents_name(name: str, declared: Argument) -> str:
    """The name of an argument for agents: `limit` if its flag is `--limit`."""
    return declared.flag.removeprefix("--") if declared.flag == "--limit" else name


def _argument_schema(hint: Any, declared: Argument) -> Schema:
    schema = _type_schema(hint, declared)
    return {**schema, "description": declared.agents} if declared.agents else schema


def _type_schema(hint: Any, declared: Argument) -> Schema:
    if declared.properties is not None:
        return input_schema(declared.properties, declared.shown)
    if declared.agents_type:
        return {"type": declared.agents_type}
    if hint == tuple[str, ...]:
        return {"type": "array", "items": {"type": "string"}}
    names = declared.names or tuple(choice for choice in declared.choices if choice != "all")
    return {"type": _SCALARS[_without_none(hint)], **({"enum": list(names)} if names else {})}


def _answer_value_schema(hint: Any) -> Schema:
    """JSON Schema of a value in an answer; of a record its first key, as answers may leave out others."""
    hint = _without_none(hint)
    if typing.get_origin(hint) is tuple:
        return {"type": "array", "items": _answer_value_schema(typing.get_args(hint)[0])}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return output_schema(hint, [answer_fields(hint)[0][0]])
    return {"type": _SCALARS[hint]}


def _without_none(hint: Any) -> Any:
    """The first kind of a union that is not null, else the type itself."""
    return next(each for each in typing.get_args(hint) if each is not type(None)) if _is_union(hint) else hint


def request_schema(request: type) -> Schema:
    """JSON Schema of all arguments of a request, as programs send them."""
    properties = {
        name: _program_schema(hint, declared) | ({"description": declared.doc} if declared.doc else {})
        for name, (hint, declared) in accepted_arguments(request).items()
    }
    required = [name for name, (_, declared) in arguments_of(request).items() if declared.required]
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def _program_schema(hint: Any, declared: Argument) -> Schema:
    if hint is Any:
        return {}
    if hint == bool | str:
        return {"type": ["boolean", "string"]}
    if hint == tuple[str, ...]:
        return {"type": "array", "items": {"type": "string"}}
    kinds = [each for each in typing.get_args(hint) if each is not type(None)] if _is_union(hint) else [hint]
    if declared.properties is not None or typing.get_origin(kinds[0]) is Mapping:
        return {"type": "object"}
    limits: Schema = {"enum": list(declared.choices)} if declared.choices else {}
    if declared.least is not None:
        limits["minimum"] = declared.least
    if kinds[0] is float:
        limits |= {"minimum": 0, "maximum": 1}
    if declared.required and kinds[0] is str:
        limits |= {"pattern": r"\S"}
    return {"type": _SCALARS[kinds[0]], **limits}


def answer_schema(answer: type | types.UnionType, found: dict[str, Schema]) -> Schema:
    """JSON Schema of an answer by reference; `found` collects the schemas of it and of the records in it by name."""
    if isinstance(answer, types.UnionType):
        return _value_schema(answer, found)
    if answer.__name__ not in found:
        # Noted first, because a record may hold others of its kind.
        found[answer.__name__] = {}
        fields = answer_fields(answer)
        found[answer.__name__] = {
            "type": "object",
            "properties": {name: _value_schema(hint, found) for name, hint, _, _ in fields},
            "required": [name for name, _, is_optional, _ in fields if not is_optional],
        }
    return {"$ref": f"#/components/schemas/{answer.__name__}"}


def _value_schema(hint: Any, found: dict[str, Schema]) -> Schema:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return answer_schema(hint, found)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [item.value for item in hint]}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if _is_union(hint):
        return {"anyOf": [_value_schema(each, found) for each in arguments]}
    if origin is tuple:
        return {"type": "array", "items": _value_schema(arguments[0], found)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _value_schema(arguments[1], found)}
    if hint is type(None):
        return {"type": "null"}
    return {"type": _SCALARS[hint]} if hint in _SCALARS else {}


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (types.UnionType, typing.Union)
