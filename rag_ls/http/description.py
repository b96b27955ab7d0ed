"""The server described for programs: OpenAPI, and a short catalogue of all addresses."""

from __future__ import annotations

from typing import Any

from rag_ls import __version__
from rag_ls.http.access import OperationRoute, find_needed_access
from rag_ls.operations.fields import accepted_arguments
from rag_ls.operations.schema import answer_schema, request_schema

Json = dict[str, Any]

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


def catalogue(routes: list[OperationRoute]) -> Json:
    """All addresses with what they take."""
    plain = [{"method": method, "path": path, "summary": summary} for method, path, summary in PLAIN_ROUTES]
    return {"version": __version__, "commands": [*plain, *map(_command, routes)]}


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


def openapi(routes: list[OperationRoute], url: str) -> Json:
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
        "info": {"title": "rag-ls", "version": __version__},
        "servers": [{"url": url.rstrip("/")}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "X-RAG-Token"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
        "security": [{"token": []}, {"bearer": []}],
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
    return {
        status: {"description": _STATUSES[status], "content": {"application/json": {"schema": _ERROR}}}
        for status in statuses
    }


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
