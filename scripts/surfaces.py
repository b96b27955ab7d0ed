"""What the surfaces say of the operations: MCP's tools, JSON Schema, OpenAPI, and TypeScript for the VS Code extension."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from rag_ls.http.sessions import OperationRoute, find_needed_access, operation_routes
from rag_ls.mcp.code_text import is_text
from rag_ls.mcp.compact import DETAIL
from rag_ls.operations import OPERATIONS, Operation
from rag_ls.operations.fields import Argument, accepted_arguments, answer_fields, arguments_of

Json = dict[str, Any]
# The toolsets whose tools' names say what they are about.
_TOLD_BY_NAME = ("code", "memory")


def tools() -> str:
    """MCP's tools as rag_ls/operations/tools.json has them: one a line, with what its operation is called elsewhere."""
    found = [
        {
            "toolset": item.tool.toolset,
            "operation": item.name,
            "verb": item.verb.name if item.verb else item.shared_verb,
            "command": item.command or item.shared_command,
            "flags": [
                flag
                for flag, (hint, each) in arguments_of(item.request).items()
                if not each.shell_alone and hint in (bool, bool | None)
            ],
            "tool": make_tool(item, name),
        }
        for item in OPERATIONS
        if item.tool is not None
        for name in item.tool.names or (item.name,)
    ]
    return "[\n" + ",\n".join(map(_make_line, found)) + "\n]\n"


def http_description() -> str:
    """What /commands and /openapi.json answer, as rag_ls/http/description.json has it: without address and version."""
    routes = operation_routes()
    described = openapi(routes)
    paths = described.pop("paths")
    commands = ",\n".join(map(_make_line, catalogue(routes)))
    lines = ",\n".join(f"{json.dumps(path)}:{_make_line(each)}" for path, each in paths.items())
    head = _make_line(described).removesuffix("}")
    return f'{{"commands":[\n{commands}\n],"openapi":{head},"paths":{{\n{lines}\n}}}}}}\n'


def _make_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def make_tool(operation: Operation, name: str = "") -> Json:
    """An operation as MCP describes it, under its own name or another; one whose answer is text declares no schema of it."""
    tool, effects = operation.tool, operation.effects
    assert tool is not None
    assert isinstance(operation.answer, type)
    is_repeatable = effects.idempotent if effects.writes else tool.is_idempotent
    name = name or operation.name
    hints = {
        # A hint that says what clients take for granted costs each agent context: one that writes is not read-only.
        "readOnlyHint": None if effects.writes else True,
        "destructiveHint": effects.destroys if effects.writes else None,
        "idempotentHint": True if is_repeatable else None,
    }
    described = {
        "name": name,
        "title": _make_title(name, tool.toolset),
        "description": tool.description,
        # Strict clients refuse a tool without any argument.
        "inputSchema": input_schema(operation.request, tool.shows, None if tool.shows else DETAIL),
        "outputSchema": None if is_text(operation) else output_schema(operation.answer, tool.answers),
        "annotations": {hint: value for hint, value in hints.items() if value is not None},
    }
    return {key: value for key, value in described.items() if value is not None}


def _make_title(name: str, toolset: str) -> str:
    """A tool's name for people; of tools whose names do not tell their subject, with it."""
    words = name.removeprefix("rag_").replace("_", " ")
    return words.capitalize() if toolset in _TOLD_BY_NAME else f"{toolset.capitalize()}: {words}"


_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def input_schema(request: type, shows: Sequence[str], beside: Mapping[str, Json] | None = None) -> Json:
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


def output_schema(answer: type, names: Sequence[str]) -> Json:
    """JSON Schema of the keys `names` of an answer."""
    kinds = {name: hint for name, hint, _, _ in answer_fields(answer)}
    return _object_schema({name: _answer_value_schema(kinds[name]) for name in names}, answer)


def _object_schema(properties: Mapping[str, Json], declared: type) -> Json:
    """An object with its properties. Raises `TypeError` for one without, which strict clients refuse."""
    if not properties:
        raise TypeError(f"{declared.__name__}: agents see no property of this object: name those that it shows")
    return {"type": "object", "properties": dict(properties)}


def _agents_name(name: str, declared: Argument) -> str:
    """The name of an argument for agents: `limit` if its flag is `--limit`."""
    return declared.flag.removeprefix("--") if declared.flag == "--limit" else name


def _argument_schema(hint: Any, declared: Argument) -> Json:
    schema = _type_schema(hint, declared)
    return {**schema, "description": declared.agents} if declared.agents else schema


def _type_schema(hint: Any, declared: Argument) -> Json:
    if declared.properties is not None:
        return input_schema(declared.properties, declared.shown)
    if declared.agents_type:
        return {"type": declared.agents_type}
    if hint == tuple[str, ...]:
        return {"type": "array", "items": {"type": "string"}}
    names = declared.names or tuple(choice for choice in declared.choices if choice != "all")
    return {"type": _SCALARS[_without_none(hint)], **({"enum": list(names)} if names else {})}


def _answer_value_schema(hint: Any) -> Json:
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


def request_schema(request: type) -> Json:
    """JSON Schema of all arguments of a request, as programs send them."""
    properties = {
        name: _program_schema(hint, declared) | ({"description": declared.doc} if declared.doc else {})
        for name, (hint, declared) in accepted_arguments(request).items()
    }
    required = [name for name, (_, declared) in arguments_of(request).items() if declared.required]
    schema: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def _program_schema(hint: Any, declared: Argument) -> Json:
    if hint is Any:
        return {}
    if hint == bool | str:
        return {"type": ["boolean", "string"]}
    if hint == tuple[str, ...]:
        return {"type": "array", "items": {"type": "string"}}
    kinds = [each for each in typing.get_args(hint) if each is not type(None)] if _is_union(hint) else [hint]
    if declared.properties is not None or typing.get_origin(kinds[0]) is Mapping:
        return {"type": "object"}
    limits: Json = {"enum": list(declared.choices)} if declared.choices else {}
    if declared.least is not None:
        limits["minimum"] = declared.least
    if kinds[0] is float:
        limits |= {"minimum": 0, "maximum": 1}
    if declared.required and kinds[0] is str:
        limits |= {"pattern": r"\S"}
    return {"type": _SCALARS[kinds[0]], **limits}


def answer_schema(answer: type | types.UnionType, found: dict[str, Json]) -> Json:
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


def _value_schema(hint: Any, found: dict[str, Json]) -> Json:
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


PLAIN_ROUTES = (
    ("GET", "/health", "Whether the server lives; needs no token."),
    ("GET", "/ready", "Whether the model and the stores can answer; needs no token."),
    ("GET", "/metrics", "Counters and gauges, as JSON or as Prometheus' text where that is accepted."),
    ("GET", "/commands", "This catalogue."),
    ("GET", "/openapi.json", "This description as OpenAPI."),
    ("GET", "/events", "What happens in the engine, as server-sent events."),
    ("POST", "/mcp", "MCP Streamable HTTP, with all projects that the token sees."),
    ("POST", "/rag-mcp/{project}", "MCP Streamable HTTP, with one project."),
)
_ERROR = {"$ref": "#/components/schemas/Error"}
_STATUSES = {
    "400": "An argument is missing, of a wrong type or out of range; or the body is no JSON.",
    "401": "No valid token.",
    "403": "The token does not allow it, or a path leads out of the projects.",
    "404": "Nothing has this id, name or path.",
    "409": "It was changed meanwhile, needs a confirmation, or its project cannot be used.",
    "413": "The body is too large.",
    "415": "The body is compressed.",
    "421": "The server is not called so.",
    "429": "Too many requests; Retry-After says when to come again.",
    "503": "A store or the model cannot be used now.",
    "507": "The disk is full; nothing was written.",
}


def catalogue(routes: list[OperationRoute]) -> list[Json]:
    """All addresses with what they take."""
    plain = [{"method": method, "path": path, "summary": summary} for method, path, summary in PLAIN_ROUTES]
    return [*plain, *map(_command, routes)]


def _command(route: OperationRoute) -> Json:
    operation = route.operation
    return {
        "method": route.method,
        "path": route.path,
        "summary": operation.doc,
        "operation": operation.name,
        "access": find_needed_access(operation).value,
        "arguments": request_schema(operation.request),
    }


def openapi(routes: list[OperationRoute]) -> Json:
    """The description in OpenAPI 3.1."""
    schemas: Json = {"Error": _error_schema()}
    paths: Json = {}
    for method, path, summary in PLAIN_ROUTES:
        if method == "GET":
            paths.setdefault(path, {})["get"] = _plain_operation(path, summary)
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "rag-ls"},
        "components": {
            "schemas": schemas,
            "responses": {
                status: {"description": words, "content": {"application/json": {"schema": _ERROR}}}
                for status, words in _STATUSES.items()
            },
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "X-RAG-Token"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
        "security": [{"token": []}, {"bearer": []}],
        "paths": paths,
    }


def _plain_operation(path: str, summary: str) -> Json:
    kind = "text/event-stream" if path == "/events" else "application/json"
    found: Json = {
        "summary": summary,
        "responses": {"200": {"description": "Done.", "content": {kind: {}}}, **_errors("401", "421", "429")},
    }
    if path in ("/health", "/ready"):
        found["security"] = []
    if path == "/ready":
        found["responses"]["503"] = {"description": "Not ready yet.", "content": {"application/json": {}}}
    if path == "/metrics":
        found["responses"]["200"]["content"]["text/plain"] = {}
        found["responses"] |= _errors("403")
    return found


def _operation(route: OperationRoute, schemas: Json) -> Json:
    operation = route.operation
    answer = answer_schema(operation.answer, schemas)
    found: Json = {
        "summary": operation.doc,
        "operationId": f"{route.method.lower()}{route.path.translate(str.maketrans('/{}-', '____'))}",
        "parameters": _parameters(route),
        "responses": {
            "200": {
                "description": "Done.",
                "content": {"application/json": {"schema": answer}, "text/event-stream": {}},
            },
            **_errors(*_STATUSES),
        },
    }
    if route.method in ("POST", "PATCH"):
        schema = request_schema(operation.request)
        if name := route.path_argument:
            schema = _without(schema, name)
        is_required = bool(schema.get("required"))
        found["requestBody"] = {"required": is_required, "content": {"application/json": {"schema": schema}}}
    return found


def _parameters(route: OperationRoute) -> list[Json]:
    header = {
        "name": "X-RAG-Project", "in": "header", "required": False, "schema": {"type": "string"},
        "description": "The one project that is meant, by name or root.",
    }  # fmt: skip
    found: list[Json] = [header]
    properties = request_schema(route.operation.request)["properties"]
    if name := route.path_argument:
        found.append({"name": name, "in": "path", "required": True, "schema": properties[name]})
    if route.method in ("GET", "DELETE"):
        found += [
            {"name": key, "in": "query", "required": declared.required, "schema": properties[key]}
            for key, (_, declared) in accepted_arguments(route.operation.request).items()
            if key != route.path_argument and properties[key].get("type") in _IN_QUERY
        ]
    return found


_IN_QUERY = ("string", "integer", "number", "boolean", "array")


def _errors(*statuses: str) -> Json:
    return {status: {"$ref": f"#/components/responses/{status}"} for status in statuses}


def _without(schema: Json, name: str) -> Json:
    properties = {key: value for key, value in schema["properties"].items() if key != name}
    required = [key for key in schema.get("required", ()) if key != name]
    found = {key: value for key, value in schema.items() if key not in ("properties", "required")}
    return {**found, "properties": properties, **({"required": required} if required else {})}


def _error_schema() -> Json:
    text = {"type": "string"}
    return {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["type", "message", "request_id"],
                "properties": {"type": text, "message": text, "request_id": text},
            }
        },
    }


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
