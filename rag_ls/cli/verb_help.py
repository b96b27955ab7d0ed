"""The text of the help: the verbs that one needs first, all of them as a tree, and the other names of each."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from rag_ls.cli.verbs import SHELL, VERBS

_FIRST: Mapping[str, Sequence[str]] = {
    "ask": ("search", "show", "check"),
    "remember": ("add", "list", "delete"),
    "keep in order": ("index", "status", "connect", "doctor"),
}
_USAGE = """\
Usage: rag-ls "a question in words"
       rag-ls VERB ...

One memory of your code for your editor and your agent."""
_SHORT = "The verbs of `memory` go without it too: `rag-ls add` is `rag-ls memory add`."
_MORE = """\
`rag-ls help --all` lists all verbs, `rag-ls help VERB` explains one.
Options before a verb: --version; --no-pager; -v logs more, to standard error (-vv: everything)."""
_ALONE = "search refs why check index status connect config doctor trust open completions lsp mcp hook".split()
"""Verbs that stand at the top of the tree, in this order; those of no group come after them."""
_NAME_COLUMNS = 13
MAX_COLUMNS = 100


def first_help() -> str:
    """The verbs that one needs first, each with an example."""
    parts = [_USAGE]
    for title, verbs in _FIRST.items():
        lines = [title]
        for verb in verbs:
            summary = VERBS[verb]["summary"].partition(";")[0]
            lines += [_entry(verb, summary), f"{'':{_NAME_COLUMNS + 2}}{VERBS[verb]['example']}"]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, _wrap(_MORE)])


def full_help() -> str:
    """All verbs as a tree."""
    in_groups = {" ".join(words) for group in SHELL["groups"] for words in actions_of(group).values()}
    alone = dict.fromkeys([*_ALONE, *(verb for verb in VERBS if verb not in in_groups)])
    entries = [_entry(verb, VERBS[verb]["summary"]) for verb in alone]
    return "\n\n".join([_USAGE, "\n".join(entries), *map(_group, SHELL["groups"]), _wrap(f"{_SHORT}\n{_MORE}")])


def group_help(group: str) -> str:
    """The verbs of one group."""
    usage = f"Usage: rag-ls {group} ACTION ..."
    return "\n\n".join([usage, _group(group), f"`rag-ls help {group} ACTION` explains one."])


def actions_of(group: str) -> dict[str, list[str]]:
    """The actions of a group, each with the words that run it."""
    actions: dict[str, list[str]] = SHELL["groups"][group][1]
    return actions


def other_names_of(verb: str) -> list[str]:
    """The lines that run a verb by other names."""
    named = ((f"{group} {action}", words) for group in SHELL["groups"] for action, words in actions_of(group).items())
    return [f"rag-ls {name}" for name, words in named if words == verb.split() and name != verb]


def _group(group: str) -> str:
    about, actions = SHELL["groups"][group]
    return "\n".join([f"{group}: {about}", *(_entry(action, _sum_up(words)) for action, words in actions.items())])


def _sum_up(words: Iterable[str]) -> str:
    line = " ".join(words)
    return str(VERBS[line]["summary"]) if line in VERBS else f"the same as `rag-ls {line}`"


def _entry(name: str, summary: str) -> str:
    width, margin = max(_columns(), _NAME_COLUMNS + 20), " " * (_NAME_COLUMNS + 2)
    return textwrap.fill(summary, width, initial_indent=f"  {name:<{_NAME_COLUMNS}}", subsequent_indent=margin)


def _wrap(text: str) -> str:
    return "\n".join(textwrap.fill(line, _columns()) for line in text.split("\n"))


def _columns() -> int:
    return min(MAX_COLUMNS, shutil.get_terminal_size().columns)
