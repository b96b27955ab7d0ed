"""Every tool fits the strictest client: one that does not fit keeps an agent from starting at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from rag_ls.mcp.handshake import NAME
from rag_ls.mcp.resources import list_prompts
from rag_ls.operations.fields import argument
from scripts.surfaces import input_schema, output_schema
from tests.agents import describe_tool, tool_operations
from tests.mcp.strict_clients import MAX_TOOLS, refusals_of_schema, refusals_of_tool

_OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize("name", tool_operations())
def test_a_tool_fits_every_strict_client(name: str) -> None:
    tool = describe_tool(tool_operations()[name], name)
    assert refusals_of_tool(tool, NAME) == []
    assert tool.title
    assert tool.title[0].isupper()
    assert "_" not in tool.title


def test_titles_tell_tools_apart() -> None:
    titles = [describe_tool(item, name).title for name, item in tool_operations().items()]
    assert len(set(titles)) == len(titles) <= MAX_TOOLS


def test_prompts_and_their_arguments_have_names_and_descriptions() -> None:
    for prompt in list_prompts():
        assert prompt.description
        assert all(given.name.isidentifier() and given.description for given in prompt.arguments or ())


@pytest.mark.parametrize(
    "refused",
    [
        {"enum": ["full"]},
        {"type": ["string", "null"]},
        {"type": "null"},
        {"type": "array"},
        {"type": "array", "items": True},
        {"type": "array", "items": [{"type": "string"}]},
        {"type": "array", "items": {}},
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "integer", "enum": [1, 2]},
        {"type": "string", "enum": ["", "x"]},
        {"type": "string", "const": "x"},
        {"type": "string", "default": "x"},
        {"type": "string", "format": "uri"},
        {"type": "integer", "exclusiveMinimum": 0},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {"$ref": "#/$defs/x"},
        {**_OBJECT, "required": ["b"]},
        {"type": "object", "properties": {"a b": {"type": "string"}}},
    ],
)
def test_what_clients_were_seen_to_refuse_is_refused_here(refused: dict[str, Any]) -> None:
    for schema in (
        {"type": "object", "properties": {"it": refused}},
        {"type": "object", "properties": {"each": {"type": "array", "items": refused}}},
        {"type": "object", "properties": {"inner": {"type": "object", "properties": {"it": refused}}}},
    ):
        assert refusals_of_schema(schema), schema
    assert refusals_of_schema(_OBJECT) == []


@dataclass(frozen=True)
class _Shapeless:
    options: dict[str, Any] = argument({}, "anything")
    nothing: tuple[str, ...] = ()


def test_an_operation_cannot_declare_an_object_without_properties() -> None:
    for make in (
        lambda: input_schema(_Shapeless, ("options",)),
        lambda: input_schema(_Shapeless, ()),
        lambda: output_schema(_Shapeless, ()),
        lambda: output_schema(_Shapeless, ("options",)),
    ):
        with pytest.raises((TypeError, KeyError)):
            make()
