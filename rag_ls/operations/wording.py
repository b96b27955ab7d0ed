"""Messages in the words of the surface that shows them: agents hear of tools, editors of commands."""

from __future__ import annotations

import re
from functools import cache

from rag_ls.operations.table import OPERATIONS

# Verbs that only the shell has stay as they are: `rag-ls index`, `rag-ls doctor`.
_VERB = re.compile(r"`rag-ls ([a-z]+(?: [a-z]+)?)`")


def in_words_of_agents(message: str) -> str:
    """A message with the shell's verbs replaced by the tools that do the same."""
    return _VERB.sub(lambda match: _tools().get(match[1], match[0]), message)


def in_words_of_editors(message: str) -> str:
    """A message with tools and verbs replaced by the editor's commands."""
    return _tool_names().sub(lambda match: _commands()[match[0]], in_words_of_agents(message))


@cache
def _tool_names() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(name for name in _commands() if '_' in name)})\b")


@cache
def _tools() -> dict[str, str]:
    """The tools by the verb that does the same."""
    verbs = [(item.verb.name if item.verb else item.shared_verb, item.name) for item in OPERATIONS if item.tool]
    # Of several tools that share a verb, the first one stands for it.
    return {verb: tool for verb, tool in reversed(verbs) if verb}


@cache
def _commands() -> dict[str, str]:
    """The commands by their operation."""
    return {item.name: command for item in OPERATIONS if (command := item.command or item.shared_command)}
