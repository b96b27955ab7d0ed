"""The verb `trust`: lets the settings, rules and memories that came with a folder count."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

from rag_ls.cli.confirmation import ask_to_confirm
from rag_ls.cli.terminal import print_notes, show_answer
from rag_ls.config.trusted_folders import users_trusted_folders
from rag_ls.errors import InvalidRequest, NotConfirmed
from rag_ls.project import Project, find_project, is_shared_folder
from rag_ls.util.text import fold


def run(arguments: SimpleNamespace) -> int:
    """Trust the project around a folder once the user has confirmed it, or trust it no longer."""
    project = find_project(arguments.folder)
    folders = users_trusted_folders()
    if arguments.take_back:
        folders.remove(project.root)
        return _show_state(arguments, project, _of_untrusted(project))
    if is_shared_folder(project.root):
        raise InvalidRequest(f"{project.root} holds all kinds of things; trust the folder of your code")
    if not folders.trusts(project.root):
        if not arguments.yes and not _ask_to_trust(project, shows_all=True):
            return 1
        folders.add(project.root)
    return _show_state(arguments, project, "is trusted: its settings count, hooks tell its rules")


def offer(root: Path, *, tells: bool = False) -> None:
    """Ask at the terminal whether the user trusts a folder. Without a terminal and with `tells`, print how to trust it."""
    if users_trusted_folders().trusts(root) or is_shared_folder(root):
        return
    try:
        if _ask_to_trust(Project(root)):
            users_trusted_folders().add(root)
    except NotConfirmed:
        if tells:
            print_notes(not_trusted(root))


def not_trusted(root: Path) -> str:
    """A sentence on what does not count in a folder that is not trusted, with the command that trusts it."""
    return (
        f"{fold(str(root))} is not trusted: hooks tell none of its rules, and settings that can cost or destroy something wait "
        f"until `rag-ls trust {fold(shlex.quote(str(root)))}`"
    )


def _ask_to_trust(project: Project, *, shows_all: bool = False) -> bool:
    """Show what a folder brings, and ask; with `shows_all`, show it even without a terminal.

    Raises `NotConfirmed` if there is no terminal.
    """
    # Imported here, because only a question needs it.
    from rag_ls.cli.brought import what_it_brings

    brought = "".join(f"\n  {line}" for line in what_it_brings(project.root)) or "\n  nothing yet"
    brings = f"{fold(str(project.root))} brings{brought}"
    if shows_all and not sys.stdin.isatty():
        print(brings, file=sys.stderr)
    return ask_to_confirm(f"{brings}\nTrust it, with all that comes into it later?", "nothing is changed")


def _of_untrusted(project: Project) -> str:
    above = [each for each in users_trusted_folders().folders() if project.root.is_relative_to(each)]
    if above:
        return f"is still trusted, because {above[0]} is: `rag-ls trust --not {shlex.quote(above[0])}`"
    return "is not trusted"


def _show_state(arguments: SimpleNamespace, project: Project, state: str) -> int:
    is_trusted = users_trusted_folders().trusts(project.root)
    answer = {"root": str(project.root), "trusted": is_trusted}
    return show_answer(arguments, answer, f"{fold(str(project.root))} {state}")
