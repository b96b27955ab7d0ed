"""The message about words on the line that a verb does not take."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rag_ls.cli.verb_help import verbs_of


def refusal(parser: argparse.ArgumentParser, arguments: argparse.Namespace, unknown: Sequence[str]) -> str:
    """Name the first word that a verb does not take, the option that was probably meant, and where all are listed."""
    word = unknown[0].partition("=")[0]
    verb, options = _verb_of(parser, arguments)
    name = f"rag-ls {verb}".strip()
    if not word.startswith("-"):
        return f"`{name}` does not take {word!r}; `{name} --help` shows what it takes, and `rag-ls ask ...` asks a question"
    if word in options:
        return f"{word} belongs behind the verb: `{name} ... {word}`"
    # Imported here, because most command lines are right and do not need it.
    from rag_ls.util.nearest import nearest, nearest_text

    near = nearest_text(nearest(word, options))
    return f"`{name}` has no option {word}; {near}`{name} --help` lists them"


def _verb_of(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> tuple[str, list[str]]:
    """The verb of a parsed line with its long options; the line's own options where it has no verb."""
    verb = getattr(arguments, "verb", None) or ""
    name = f"{verb} {getattr(arguments, 'action', None) or ''}".strip()
    found = next((each for known, each, _ in verbs_of(parser) if known in (name, verb)), parser)
    options = [option for action in found._actions for option in action.option_strings if option.startswith("--")]
    return (name if found is not parser else verb), options
