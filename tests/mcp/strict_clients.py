"""What strict clients and models accept of a tool, as they publish it or refuse it: for one tool that does not fit they refuse all.

Gemini    https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/FunctionDeclaration and .../rest/v1/Schema; refusals:
          google-gemini/gemini-cli#4400 (a type), pipecat-ai/pipecat-flows#110 and tanaikech/ToolsForMCPServer#13 (properties),
          boshyxd/robloxstudio-mcp#72 (items), nanbingxyz/5ire#218 (one type, enums of texts), t8y2/dbx#6233 (no unions, no null),
          nanbingxyz/5ire#42 (no additionalProperties)
OpenAI    https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, into which
          openai/openai-agents-python, src/agents/strict_schema.py, turns schemas; refusals: kagent-dev/kagent#1888 and
          openai/openai-agents-python#449 (properties), tidyverse/ellmer#671 (depth)
VS Code   microsoft/vscode-copilot-chat, src/extension/tools/common/toolSchemaNormalizer.ts; microsoft/vscode#246119 (items)
Cursor    forty tools of all servers; a server's and a tool's name have sixty characters together, and it warns of more
Claude    https://docs.claude.com/en/api/messages (names of tools and properties)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import mcp_types as types

Schema = dict[str, Any]

MAX_TOOLS = 40
_MAX_NAMES = 60
_MAX_DESCRIPTION = 1024
_MAX_DEPTH = 5
_MAX_PROPERTIES = 100
# Gemini wants a letter or _ first, Claude and OpenAI no dot.
_TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_PROPERTY_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_TYPES = ("string", "integer", "number", "boolean", "array", "object")
# What all of them take: Gemini no additionalProperties, $ref and unions; OpenAI and VS Code with GPT no default, format and limits.
_KEYWORDS = {"type", "description", "enum", "items", "properties", "required"}


def refusals_of_tool(tool: types.Tool, server: str) -> list[str]:
    """The reasons why a strict client refuses a tool."""
    schemas = {"input": tool.input_schema, "output": tool.output_schema or {}}
    found = [f"{kind}: {reason}" for kind, schema in schemas.items() for reason in refusals_of_schema(schema) if schema]
    if not _TOOL_NAME.fullmatch(tool.name):
        found.append(f"name {tool.name!r}")
    if len(server) + len(tool.name) > _MAX_NAMES:
        found.append(f"name of {len(server) + len(tool.name)} characters with the server's")
    if not 0 < len(tool.description or "") <= _MAX_DESCRIPTION:
        found.append("description is missing or too long")
    return found


def refusals_of_schema(schema: Any) -> list[str]:
    """The reasons why a strict client refuses the schema of arguments or of an answer."""
    found = list(_refusals(schema, "", 1))
    if not isinstance(schema, dict) or schema.get("type") != "object":
        found.append("is no object")
    if (count := str(schema).count("'type'")) > _MAX_PROPERTIES:
        found.append(f"{count} properties")
    return found


def _refusals(schema: Any, path: str, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{path}: {schema!r} is no schema"
        return
    if unknown := sorted(set(schema) - _KEYWORDS):
        yield f"{path}: unknown {', '.join(unknown)}"
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _TYPES:
        yield f"{path}: type {kind!r}"
        return
    if depth > _MAX_DEPTH:
        yield f"{path}: deeper than {_MAX_DEPTH}"
    if len(schema.get("description", "")) > _MAX_DESCRIPTION:
        yield f"{path}: long description"
    yield from _refusals_of_enum(schema, path)
    if ("items" in schema) != (kind == "array"):
        yield f"{path}: items {'missing' if kind == 'array' else 'of no array'}"
    elif kind == "array":
        yield from _refusals(schema["items"], f"{path}[]", depth)
    if bool(schema.get("properties")) != (kind == "object"):
        yield f"{path}: properties {'missing' if kind == 'object' else 'of no object'}"
    properties = schema.get("properties") or {}
    for name in schema.get("required", ()):
        if name not in properties:
            yield f"{path}: required {name} is no property"
    for name, inner in properties.items():
        if not _PROPERTY_NAME.fullmatch(name):
            yield f"{path}: property name {name!r}"
        yield from _refusals(inner, f"{path}.{name}", depth + 1)


def _refusals_of_enum(schema: Schema, path: str) -> Iterator[str]:
    choices: Sequence[Any] | None = schema.get("enum")
    if choices is None:
        return
    if schema["type"] != "string" or not choices or not all(isinstance(each, str) and each for each in choices):
        yield f"{path}: enum of {schema['type']}: {choices!r}"
