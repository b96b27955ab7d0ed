"""The text of the help: the verbs that one needs first, all of them as a tree, and an example of each."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from rag_ls.cli.verb_names import ALONE, GROUPS, TREE

_FIRST: Mapping[str, Sequence[str]] = {
    "ask": ("search", "show", "check"),
    "remember": ("add", "list", "delete"),
    "keep in order": ("index", "status", "connect", "doctor"),
}
EXAMPLES: Mapping[str, str] = {
    "search": 'rag-ls "where is the token refreshed"',
    "refs": "rag-ls refs Session.refresh --callers --depth 2",
    "show": "rag-ls show 7b34c1d2",
    "check": "rag-ls check --changed HEAD",
    "add": 'rag-ls add "Prices are net of tax" --at src/cart.py:12 --tag money',
    "list": "rag-ls list --tag money -k 10",
    "update": "rag-ls update 7b34c1d2 --content 'Prices are gross'",
    "delete": "rag-ls delete 7b34c1d2",
    "restore": "rag-ls restore 7b34c1d2 --version 1",
    "undo": "rag-ls undo --dry-run",
    "consolidate": "rag-ls consolidate --dry-run",
    "summarize": "rag-ls summarize --start 2026-01-01 --end 2026-01-31 --dry-run",
    "stats": "rag-ls stats --scope project",
    "optimize": "rag-ls optimize",
    "vacuum": "rag-ls vacuum",
    "export": "rag-ls export --output memories.json",
    "import": "rag-ls import --input memories.json --dry-run",
    "index": "rag-ls index",
    "scan": "rag-ls scan shop",
    "status": "rag-ls status --watch",
    "project list": "rag-ls project list",
    "project add": "rag-ls project add ~/work/shop --name shop",
    "project remove": "rag-ls project remove shop",
    "project prune": "rag-ls project prune",
    "rules setup": "rag-ls rules setup",
    "rules check": 'rag-ls rules check "let the cart call the bank"',
    "rules impact": "rag-ls impact --changed main",
    "rules index": "rag-ls rules index",
    "rules status": "rag-ls rules status",
    "rules health": "rag-ls rules health",
    "hook": "rag-ls hook before < event.json",
    "config": "rag-ls config embedding.model",
    "doctor": "rag-ls doctor",
    "connect": "rag-ls connect claude-code --write",
    "trust": "rag-ls trust",
    "completions": 'eval "$(rag-ls completions bash)"',
    "serve": "rag-ls serve --http 127.0.0.1:17080",
    "stop": "rag-ls stop",
    "open": "rag-ls open",
    "token add": "rag-ls token add ci --scope read --expires 30d",
    "token list": "rag-ls token list",
    "token revoke": "rag-ls token revoke ci",
    "store copy": "rag-ls store copy . postgresql://host/rag",
    "store publish": "rag-ls store publish",
    "store projects": "rag-ls store projects",
    "store drop": "rag-ls store drop shop",
    "lsp": "rag-ls lsp --tcp 2087",
    "mcp": "rag-ls mcp --project ~/work/shop",
}
"""An example of each verb of the parser."""

_USAGE = """\
usage: rag-ls "a question in words"
       rag-ls VERB ...

One memory of your code for your editor and your agent."""
_MORE = """\
`rag-ls help --all` lists all verbs, `rag-ls help VERB` explains one.
Options before a verb: --version; -v logs more, to standard error (-vv: everything)."""
_NAME_COLUMNS = 13
_MAX_COLUMNS = 100


def first_help(parser: argparse.ArgumentParser) -> str:
    """The verbs that one needs first, each with an example."""
    summaries = {name: summary for name, _, summary in verbs_of(parser)}
    parts = [_USAGE]
    for title, verbs in _FIRST.items():
        lines = [title]
        for verb in verbs:
            lines += [*_entry(verb, summaries[verb].partition(";")[0]), f"{'':{_NAME_COLUMNS + 2}}{EXAMPLES[verb]}"]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, _wrap(_MORE)])


def full_help(parser: argparse.ArgumentParser) -> str:
    """All verbs as a tree."""
    summaries = {name: summary for name, _, summary in verbs_of(parser)}
    alone = [line for verb in ALONE for line in _entry(verb, summaries[verb])]
    groups = [_group(group, summaries) for group in TREE]
    short = "The verbs of `memory` go without it too: `rag-ls add` is `rag-ls memory add`."
    return "\n\n".join([_USAGE, "\n".join(alone), *groups, _wrap(f"{short}\n{_MORE}")])


def group_help(parser: argparse.ArgumentParser, group: str) -> str:
    """The verbs of one group."""
    summaries = {name: summary for name, _, summary in verbs_of(parser)}
    usage = f"usage: rag-ls {group} ACTION ..."
    return "\n\n".join([usage, _group(group, summaries), f"`rag-ls help {group} ACTION` explains one."])


def epilog_of(verb: str) -> str:
    """The text below the options of a verb: an example, and its other names."""
    others = [
        f"rag-ls {group} {action}"
        for group, actions in TREE.items()
        for action, runs in actions.items()
        if runs == verb and f"{group} {action}" != verb
    ]
    also = f"\nalso: {', '.join(others)}" if others else ""
    return f"example: {EXAMPLES[verb]}{also}"


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
    # Each verb's example comes from here, and most need no more of it.
    import shutil

    return min(_MAX_COLUMNS, shutil.get_terminal_size().columns)
