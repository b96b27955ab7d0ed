"""Generates agents' tools from the table of operations."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import mcp_types as types

from rag_ls.mcp.code_text import is_text
from rag_ls.mcp.compact import DETAIL
from rag_ls.operations import OPERATIONS, Operation
from rag_ls.operations.schema import input_schema, output_schema

TOOLSETS = tuple(dict.fromkeys(operation.tool.toolset for operation in OPERATIONS if operation.tool))


def offer_tools(toolsets: Collection[str], table: Iterable[Operation] = OPERATIONS) -> dict[str, Operation]:
    """The operations of some toolsets, by the names of their tools."""
    return {
        name: item
        for item in table
        if item.tool is not None and item.tool.toolset in toolsets
        for name in item.tool.names or (item.name,)
    }


def make_tool(operation: Operation, name: str = "", *, is_typed: bool = True) -> types.Tool:
    """An operation as MCP describes it, under its own name or another.

    `is_typed`: the client gets structured content beside a text. For other clients, a tool that answers with text declares
    no schema of an answer.
    """
    tool, effects = operation.tool, operation.effects
    assert tool is not None
    assert isinstance(operation.answer, type)
    schema = input_schema(operation.request, tool.shows)
    if tool.names_detail:
        schema["properties"]["detail"] = DETAIL
    is_repeatable = effects.idempotent if effects.writes else tool.is_idempotent
    return types.Tool(
        name=name or operation.name,
        description=tool.description,
        input_schema=schema,
        output_schema=output_schema(operation.answer, () if is_text(operation) else tool.answers)
        if is_typed or not is_text(operation)
        else None,
        annotations=types.ToolAnnotations(
            read_only_hint=not effects.writes,
            # MCP defines the next two hints only for tools that write; some tools state `idempotent` all the same.
            destructive_hint=effects.destroys if effects.writes else None,
            idempotent_hint=True if is_repeatable else None,
            open_world_hint=False,
        ),
    )
