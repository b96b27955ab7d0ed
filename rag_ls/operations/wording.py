"""Messages in the words of the surface that shows them: agents hear of tools, editors of commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import cache

from rag_ls.operations.fields import Json, arguments_of
from rag_ls.operations.operation import Operation
from rag_ls.operations.table import OPERATIONS
from rag_ls.util.patterns import lazy_pattern

_VERB = lazy_pattern(r"`rag-ls ([a-z]+(?: [a-z]+)?)(?: --([a-z-]+))?`")
_COMMAND_LINE = lazy_pattern(r"`rag-ls [^`]+`")
_TELLS_WHO = "the user"
_NOTES = ("note", "notes", "hint", "message", "warning", "left_out")
_WITH_NOTES = ("stats", "exact")


def in_words_of_agents(message: str, offered: Collection[str] | None = None) -> str:
    """A message with the tools that an agent has, all or those `offered`, in place of the shell's verbs.

    A verb that no tool of these does is for the user to run, and the message says so.
    """
    tools = _tool_names() if offered is None else offered
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
    told = _VERB.sub(lambda match: _find_tool(match, _tool_names()), message)
    return _any_tool().sub(lambda match: _commands().get(match[0], match[0]), told)


def _find_tool(match: re.Match[str], offered: Collection[str]) -> str:
    """The first offered tool that does what a verb does, with the argument that its flag sets; else the verb as it is."""
    flag = (match[2] or "").replace("-", "_")
    for operation in _by_verb(match[1]):
        if operation.name in offered and (not flag or _takes(operation, flag)):
            return f"{operation.name} with {flag} = true" if flag else operation.name
    return match[0]


def _takes(operation: Operation, flag: str) -> bool:
    """Whether an agent may set an argument of an operation to true."""
    hint, declared = arguments_of(operation.request).get(flag, (None, None))
    return declared is not None and not declared.shell_alone and hint in (bool, bool | None)


def _name_verb(tool: str) -> str:
    """The command line that does what a tool does; where there is none, the setting that offers the tool."""
    operation = next(item for item in OPERATIONS if item.name == tool)
    verb = operation.verb.name if operation.verb else operation.shared_verb
    assert operation.tool is not None
    return f"`rag-ls {verb}`" if verb else f"{tool} (which the user offers: mcp.toolsets, {operation.tool.toolset})"


def _by_verb(verb: str) -> Iterator[Operation]:
    """The tools' operations that a verb runs."""
    for item in OPERATIONS:
        if item.tool and verb == (item.verb.name if item.verb else item.shared_verb):
            yield item


@cache
def _tool_names() -> frozenset[str]:
    return frozenset(item.name for item in OPERATIONS if item.tool)


@cache
def _any_tool() -> re.Pattern[str]:
    """A tool's name, but not between quotation marks: there it is what somebody gave. One word may be an English one."""
    names = "|".join(name for name in _tool_names() if "_" in name)
    return re.compile(rf"(?<![\w'\"/.-])(?:{names})(?![\w'\"/]|\.\w)")


@cache
def _commands() -> dict[str, str]:
    """The commands by their operation."""
    return {item.name: command for item in OPERATIONS if (command := item.command or item.shared_command)}
