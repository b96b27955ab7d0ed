"""Messages in the words of the surface that shows them: agents hear of tools, editors of commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from rag_ls.operations.answer_json import Json
from rag_ls.operations.fields import arguments_of
from rag_ls.operations.operation import Operation
from rag_ls.operations.table import OPERATIONS

_TOOLS = {name: item for item in OPERATIONS if item.tool for name in item.tool.names or (item.name,)}
_LINE = re.compile(r"`rag-ls ([a-z]+(?: [a-z]+)?)((?: --[a-z-]+)?)`")
# Only names with an underscore: a one-word name may be an English word.
_NAME = re.compile(rf"\b(?:{'|'.join(name for name in _TOOLS if '_' in name)})\b")
_NOTES = ("note", "notes", "hint", "message", "warning", "left_out")
_WITH_NOTES = ("stats", "exact")
_FOR_THE_USER = "; `rag-ls` lines are for the user to run, at the shell: ask for it"


def in_words_of_agents(message: str, offered: Mapping[str, Operation] = _TOOLS) -> str:
    """A message for an agent that is offered these tools: it names them, and says what it lacks and what is the user's to do."""
    said = _NAME.sub(lambda match: _say_if_lacking(match[0], offered), _name_tools(message, offered))
    is_for_user = "`rag-ls " in said and "the user" not in said and "shell" not in said
    return said.removesuffix(".") + _FOR_THE_USER if is_for_user else said


def in_words_of_editors(message: str) -> str:
    """A message with tools and verbs replaced by the editor's commands."""
    return _tool_names().sub(lambda match: _commands()[match[0]], _name_tools(message, _TOOLS))


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


def _name_tools(message: str, offered: Mapping[str, Operation]) -> str:
    """A message with each line of the shell replaced by the tool that does the same, if one of these does."""
    return _LINE.sub(lambda match: _find_tool(match[1], match[2].strip(" -"), offered) or match[0], message)


def _find_tool(verb: str, option: str, offered: Mapping[str, Operation]) -> str:
    """The first tool that runs a verb, with the argument that an option stands for; empty if none does."""
    name = next((name for name, item in offered.items() if verb == _verb_of(item)), "")
    if not name or not option:
        return name
    argument = option.replace("-", "_")
    _, declared = arguments_of(offered[name].request).get(argument, (None, None))
    return f"{name} with {argument} = true" if declared and not declared.shell_alone else ""


def _verb_of(item: Operation) -> str:
    return item.verb.name if item.verb else item.shared_verb


def _say_if_lacking(name: str, offered: Mapping[str, Operation]) -> str:
    if name in offered:
        return name
    tool = _TOOLS[name].tool
    assert tool is not None
    return f"{name} (not offered here: mcp.toolsets leaves {tool.toolset} out)"


@cache
def _tool_names() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(name for name in _commands() if '_' in name)})\b")


@cache
def _commands() -> dict[str, str]:
    """The commands by their operation."""
    return {item.name: command for item in OPERATIONS if (command := item.command or item.shared_command)}
