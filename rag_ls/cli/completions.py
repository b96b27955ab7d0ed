"""`rag-ls completions`: prints the script by which a shell completes verbs and options."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish")


def run(arguments: argparse.Namespace) -> int:
    """Print the completions of one shell."""
    import shtab

    print(shtab.complete(parser_of_tree(), arguments.shell))
    return 0


def parser_of_tree() -> argparse.ArgumentParser:
    """The parser with the whole tree of verbs, though what is typed is brought into the form of the usual one."""
    from rag_ls.cli.main import build_parser
    from rag_ls.cli.verb_help import verbs_of
    from rag_ls.cli.verb_names import GROUPS, TREE

    parser = build_parser()
    verbs = {name: verb for name, verb, _ in verbs_of(parser)}
    top = _actions_of(parser)
    for group, actions in TREE.items():
        if group not in top.choices:
            top.add_parser(group, help=GROUPS[group]).add_subparsers(metavar="ACTION")
        below = _actions_of(top.choices[group])
        for action, runs in actions.items():
            if action not in below.choices:
                verb = verbs.get(runs) or verbs[runs.partition(" ")[0]]
                below.add_parser(action, parents=[verb], add_help=False, help=verb.description or "")
    return parser


def _actions_of(parser: argparse.ArgumentParser) -> argparse._SubParsersAction[argparse.ArgumentParser]:
    return next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
