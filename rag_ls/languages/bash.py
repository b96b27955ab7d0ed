"""Bash and the other shells that are read by its grammar."""

from __future__ import annotations

from collections.abc import Iterator

from rag_ls.languages.comments import HASHED
from rag_ls.languages.import_rules import Taken, import_calls
from rag_ls.languages.language import Language
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.syntax import Kind, Syntax, declare


def _read_import(text: str) -> Iterator[Taken]:
    words = text.split()
    if len(words) > 1:
        yield words[1].strip("\"'"), ()


BASH = Language(
    name="bash",
    aliases=("shell-script",),
    suffixes=("sh", "bash", "zsh", "ksh", "bats", "ebuild", "command"),
    file_names=tuple(
        ".bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile .envrc APKBUILD "
        "PKGBUILD gradlew mvnw configure .kshrc .xinitrc .xprofile".split()
    ),
    interpreters=("sh", "bash", "dash", "zsh", "ksh", "ash", "bats", "busybox"),
    syntax=Syntax(
        grammar="bash",
        declarations={
            **declare(Kind.FUNCTION, "function_definition"),
            **declare(Kind.VALUE, "variable_assignment"),
        },
        wrappers=frozenset({"declaration_command"}),
        is_ascii_alone=True,
    ),
    comments=HASHED,
    is_matched=True,
    references=ReferenceRule(
        is_open=True,
        calls=("(command name: (command_name) @call)",),
        names=frozenset({"command_name", "variable_name"}),
    ),
    imports=import_calls(_read_import, "command name: (command_name)", "source", "."),
)
