"""Agents' tools as plain data, and messages in the words of agents and editors.

scripts/dev.py docs makes `tools.json` of the table of operations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import Any

from rag_ls.operations.fields import Json
from rag_ls.util.patterns import lazy_pattern

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


_VERB = lazy_pattern(r"`rag-ls ([a-z]+(?: [a-z]+)?)(?: --([a-z-]+))?`")
_COMMAND_LINE = lazy_pattern(r"`rag-ls [^`]+`")
_TELLS_WHO = "the user"
_NOTES = ("note", "notes", "hint", "message", "warning", "left_out")
_WITH_NOTES = ("stats", "exact")


def in_words_of_agents(message: str, offered: Collection[str] | None = None) -> str:
    """A message with the tools that an agent has, all or those `offered`, in place of the shell's verbs.

    A verb that no tool of these does is for the user to run, and the message says so.
    """
    tools = _tools_by_operation() if offered is None else offered
    told = _VERB.sub(lambda match: _find_tool(match, tools), message)
    told = _any_tool().sub(lambda match: match[0] if match[0] in tools else _name_verb(match[0]), told)
    left = list(dict.fromkeys(_COMMAND_LINE.findall(told)))
    return f"{told} (only the user runs {', '.join(left)}; no tool does)" if left and _TELLS_WHO not in told else told


def reword_notes(answer: Json, reword: Callable[[str], str]) -> Json:
    """An answer with its notes reworded; its records stay: they are the repository's or the user's."""
    return {key: _reword_value(key, value, reword) for key, value in answer.items()}


def _reword_value(key: str, value: object, reword: Callable[[str], str]) -> object:
    if key in _WITH_NOTES and isinstance(value, dict):
        return reword_notes(value, reword)
    if key not in _NOTES:
        return value
    if isinstance(value, list):
        return [reword(each) if isinstance(each, str) else each for each in value]
    return reword(value) if isinstance(value, str) else value


def in_words_of_editors(message: str) -> str:
    """A message with tools and verbs replaced by the editor's commands; other verbs stay, since a person reads it."""
    told = _VERB.sub(lambda match: _find_tool(match, _tools_by_operation()), message)
    return _any_tool().sub(lambda match: _tools_by_operation()[match[0]]["command"] or match[0], told)


def _find_tool(match: re.Match[str], offered: Collection[str]) -> str:
    """The first offered tool that does what a verb does, with the argument that its flag sets; else the verb as it is."""
    flag = (match[2] or "").replace("-", "_")
    for tool in TOOLS:
        name = tool["operation"]
        if tool["verb"] == match[1] and name in offered and (not flag or flag in tool["flags"]):
            return f"{name} with {flag} = true" if flag else str(name)
    return match[0]


def _name_verb(name: str) -> str:
    """The command line that does what a tool does; where there is none, the setting that offers the tool."""
    tool = _tools_by_operation()[name]
    return (
        f"`rag-ls {tool['verb']}`"
        if tool["verb"]
        else f"{name} (which the user offers: mcp.toolsets, {tool['toolset']})"
    )


@cache
def _tools_by_operation() -> dict[str, Json]:
    """The tools by their operations."""
    return {tool["operation"]: tool for tool in TOOLS}


@cache
def _any_tool() -> re.Pattern[str]:
    """A tool's name, but not between quotation marks: there it is what somebody gave. One word may be an English one."""
    names = "|".join(name for name in _tools_by_operation() if "_" in name)
    return re.compile(rf"(?<![\w'\"/.-])(?:{names})(?![\w'\"/]|\.\w)")
