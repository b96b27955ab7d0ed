"""Asks a person before something is removed or overwritten."""

from __future__ import annotations

import sys

from rag_ls.errors import NotConfirmed


def ask_to_confirm(question: str, nothing: str, *, remedy: str = "add --yes") -> bool:
    """Ask at the terminal. `nothing` says that nothing was done. Raises `NotConfirmed` if there is no terminal."""
    if not sys.stdin.isatty():
        raise NotConfirmed(f"{nothing}: nobody is there to confirm it; {remedy}")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print(f"rag-ls: {nothing}", file=sys.stderr)
    return False
