"""The text of the help: the verbs that one needs first, all of them as a tree, and an example of each."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from rag_ls.cli.verb_names import ALONE, GROUPS, TREE
from rag_ls.cli.verbs import VERBS

_FIRST: Mapping[str, Sequence[str]] = {
    "ask": ("search", "show", "check"),
    "remember": ("add", "list", "delete"),
    "keep in order": ("index", "status", "connect", "doctor"),
}
_EXAMPLES: Mapping[str, str] = {
    "check": "rag-ls check --changed HEAD",
    "hook": "rag-ls hook before < event.json",
    "config": "rag-ls config embedding.model",
    "connect": "rag-ls connect claude-code --write",
    "completions": 'eval "$(rag-ls completions bash)"',
    "serve": "rag-ls serve --http 127.0.0.1:17080",
    "token add": "rag-ls token add ci --scope read --expires 30d",
    "token revoke": "rag-ls token revoke ci",
    "store copy": "rag-ls store copy . postgresql://host/rag",
    "store drop": "rag-ls store drop shop",
    "lsp": "rag-ls lsp --tcp 2087",
    "mcp": "rag-ls mcp --project ~/work/shop",
}
"""Examples of verbs that run no operation and need more than their name; an operation declares its own."""

_USAGE = """\
usage: rag-ls "a question in words"
       rag-ls VERB ...

One memory of your code for your editor and your agent."""
_MORE = """\
`rag-ls help --all` lists all verbs, `rag-ls help VERB` explains one.
Options before a verb: --version; --no-pager; -v logs more, to standard error (-vv: everything)."""
_NAME_COLUMNS = 13
_MAX_COLUMNS = 100


def first_help(parser: argparse.ArgumentParser) -> str:
    """The verbs that one needs first, each with an example."""
    summaries = {name: summary for name, _, summary in verbs_of(parser)}
    parts = [_USAGE]
    for title, verbs in _FIRST.items():
        lines = [title]
        for verb in verbs:
            lines += [*_entry(verb, summaries[verb].partition(";")[0]), f"{'':{_NAME_COLUMNS + 2}}{example_of(verb)}"]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, _wrap(_MORE)])


def full_help(parser: argparse.ArgumentParser) -> str:
    """All verbs as a tree."""
    summaries = {name: summary for name, _, summary in verbs_of(parser)}
    in_groups = {runs for actions in TREE.values() for runs in actions.values()}
    alone = dict.fromkeys([*ALONE, *(verb for verb in summaries if verb not in in_groups)])
    entries = [line for verb in alone for line in _entry(verb, summaries[verb])]
    groups = [_group(group, summaries) for group in TREE]
    short = "The verbs of `memory` go without it too: `rag-ls add` is `rag-ls memory add`."
    return "\n\n".join([_USAGE, "\n".join(entries), *groups, _wrap(f"{short}\n{_MORE}")])


def group_help(parser: argparse.ArgumentParser, group: str) -> str:
    """The verbs of one group."""
    summaries = {name: summary for name, _, summary in verbs_of(parser)}
    usage = f"usage: rag-ls {group} ACTION ..."
    return "\n\n".join([usage, _group(group, summaries), f"`rag-ls help {group} ACTION` explains one."])


def example_of(verb: str) -> str:
    """A line that runs a verb of the parser."""
    return str(VERBS[verb]["example"]) if verb in VERBS else _EXAMPLES.get(verb, f"rag-ls {verb}")


def epilog_of(verb: str) -> str:
    """The text below the options of a verb: an example, and its other names."""
    others = [
        f"rag-ls {group} {action}"
        for group, actions in TREE.items()
        for action, runs in actions.items()
        if runs == verb and f"{group} {action}" != verb
    ]
    also = f"\nalso: {', '.join(others)}" if others else ""
    return f"example: {example_of(verb)}{also}"


def verbs_of(parser: argparse.ArgumentParser, above: str = "") -> Iterator[tuple[str, argparse.ArgumentParser, str]]:
    """Each verb of the parser with its summary; of one that has verbs of its own, those."""
    verbs = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    summaries = {choice.dest: choice.help or "" for choice in verbs._choices_actions}
    for name, verb in verbs.choices.items():
        if any(isinstance(action, argparse._SubParsersAction) for action in verb._actions):
            yield from verbs_of(verb, f"{above}{name} ")
        else:
            yield above + name, verb, summaries[name]


def _group(group: str, summaries: Mapping[str, str]) -> str:
    lines = [f"{group}: {GROUPS[group]}"]
    for action, runs in TREE[group].items():
        summary = summaries.get(runs) or f"the same as `rag-ls {runs}`"
        lines += _entry(action, summary)
    return "\n".join(lines)


def _entry(name: str, summary: str) -> list[str]:
    width = _columns()
    return textwrap.wrap(
        summary,
        max(width, _NAME_COLUMNS + 20),
        initial_indent=f"  {name:<{_NAME_COLUMNS}}",
        subsequent_indent=" " * (_NAME_COLUMNS + 2),
    )


def _wrap(text: str) -> str:
    return "\n".join(textwrap.fill(line, _columns()) for line in text.split("\n"))


def _columns() -> int:
    # Imported here: most callers only want a verb's example from this module.
    import shutil

    return min(_MAX_COLUMNS, shutil.get_terminal_size().columns)
