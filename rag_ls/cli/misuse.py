"""The messages about a line that is no right use of a verb: words that it does not take, values that are missing or wrong."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from rag_ls.cli.terminal import harmless
from rag_ls.cli.verb_help import example_of, verbs_of

WRONG_USAGE = 2

_MISSING = "the following arguments are required: "
# A message of argparse -> words that a person reads once.
_SAID = (
    (re.compile(r"argument (\S+): is given (.+)"), r"was given \1 \2"),
    (
        re.compile(r"argument (-[Fe]/(--\w+)): expected one argument"),
        r"needs a value after \1 (one that begins with - as \2=-value)",
    ),
    (re.compile(r"argument (\S+): expected (?:one|at least one) argument"), r"needs a value after \1"),
    (re.compile(r"argument (\S+): invalid int value: (.+)"), r"takes a whole number for \1, not \2"),
    (re.compile(r"argument (\S+): (takes .+), not (.+)"), r"\2 for \1, not \3"),
    (re.compile(r"argument (\S+): invalid float value: (.+)"), r"takes a number for \1, not \2"),
    (re.compile(r"argument (\S+): invalid choice: (.+) \(choose from (.+)\)"), r"takes one of \3 for \1, not \2"),
)


class VerbParser(argparse.ArgumentParser):
    """A parser whose errors are one line, with an example, where argparse shows the usage of all options first."""

    def error(self, message: str) -> NoReturn:
        """See `argparse.ArgumentParser`."""
        print(f"rag-ls: {harmless(_describe_misuse(self.prog, message))}", file=sys.stderr)
        sys.exit(WRONG_USAGE)


def _describe_misuse(name: str, message: str) -> str:
    if message.startswith(_MISSING):
        message = f"needs {message.removeprefix(_MISSING)}: `{example_of(name.removeprefix('rag-ls').strip())}`"
    for said, plain in _SAID:
        message = said.sub(plain, message)
    return f"`{name}` {message}; `{name} --help` shows what it takes"


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
