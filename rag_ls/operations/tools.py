"""Agents' tools as plain data, each with the verb, the flags and the command that do the same.

scripts/dev.py docs makes `tools.json` of the table of operations.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

TOOLS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("tools.json").read_text("utf-8"))
TOOLSETS = tuple(dict.fromkeys(str(each["toolset"]) for each in TOOLS))


def offer_tools(toolsets: Collection[str], allowed: Collection[str] | None = None) -> dict[str, str]:
    """The operations of some toolsets by the names of their tools, all or those that are `allowed`."""
    return {
        each["tool"]["name"]: each["operation"]
        for each in TOOLS
        if each["toolset"] in toolsets and (allowed is None or each["operation"] in allowed)
    }


def describe_tools(names: Collection[str]) -> list[dict[str, Any]]:
    """The tools with some names as MCP describes them (`Tool`), in their order."""
    return [each["tool"] for each in TOOLS if each["tool"]["name"] in names]
