"""`rag-ls completions`: prints the script by which a shell completes verbs and options."""

from __future__ import annotations

from types import SimpleNamespace


def run(arguments: SimpleNamespace) -> int:
    """Print the completions of one shell."""
    from click.shell_completion import get_completion_class

    from rag_ls.cli.tree import make_shell

    made = get_completion_class(arguments.shell)
    assert made is not None
    print(made(make_shell(), {}, "rag-ls", "_RAG_LS_COMPLETE").source())
    return 0
