"""`rag-ls completions`: prints what makes a shell complete verbs and options."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish")


def run(arguments: argparse.Namespace) -> int:
    """Print the completions of one shell."""
    import shtab

    from rag_ls.cli.main import build_parser

    print(shtab.complete(build_parser(), arguments.shell))
    return 0
