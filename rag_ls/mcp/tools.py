"""Generates agents' tools from the table of operations."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import mcp_types as types

from rag_ls.mcp.code_text import is_text
from rag_ls.mcp.compact import DETAIL
from rag_ls.operations import OPERATIONS, Operation
from rag_ls.operations.schema import input_schema, output_schema

TOOLSETS = tuple(dict.fromkeys(operation.tool.toolset for operation in OPERATIONS if operation.tool))
# The toolsets whose tools' names say what they are about.
_TOLD_BY_NAME = ("code", "memory")


def offer_tools(toolsets: Collection[str], table: Iterable[Operation] = OPERATIONS) -> dict[str, Operation]:
    """The operations of some toolsets, by the names of their tools."""
    return {
        name: item
        for item in table
        if item.tool is not None and item.tool.toolset in toolsets
        for name in item.tool.names or (item.name,)
    }


def make_tool(operation: Operation, name: str = "") -> types.Tool:
    """An operation as MCP describes it, under its own name or another; one whose answer is text declares no schema of it."""
    tool, effects = operation.tool, operation.effects
    assert tool is not None
    assert isinstance(operation.answer, type)
    is_repeatable = effects.idempotent if effects.writes else tool.is_idempotent
    name = name or operation.name
    return types.Tool(
        name=name,
        title=_make_title(name, tool.toolset),
        description=tool.description,
        # Strict clients refuse a tool without any argument.
        input_schema=input_schema(
            operation.request, tool.shows, DETAIL if tool.names_detail or not tool.shows else None
        ),
        output_schema=None if is_text(operation) else output_schema(operation.answer, tool.answers),
        annotations=types.ToolAnnotations(
            # A hint that says what clients take for granted costs each agent context: one that writes is not read-only.
            read_only_hint=None if effects.writes else True,
            destructive_hint=effects.destroys if effects.writes else None,
            idempotent_hint=True if is_repeatable else None,
        ),
    )


def _make_title(name: str, toolset: str) -> str:
    """A tool's name for people; of tools whose names do not tell their subject, with it."""
    words = name.removeprefix("rag_").replace("_", " ")
    return words.capitalize() if toolset in _TOLD_BY_NAME else f"{toolset.capitalize()}: {words}"
