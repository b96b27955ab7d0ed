"""The verbs `trust`, which lets the settings, rules and memories that came with a folder count, and `config`."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from rag_ls.cli.terminal import ask_to_confirm, print_notes, show_answer
from rag_ls.config import load_settings, users_trusted_folders
from rag_ls.errors import InvalidRequest, NotConfirmed
from rag_ls.locations import user_config_file, user_data_folder
from rag_ls.project import CONFIG_FILE, DATA_FOLDER, Project, find_project, is_shared_folder
from rag_ls.util.paths import is_inner_path
from rag_ls.util.text import count_of, fold, mask_secrets

NOT_ALL = "and more, perhaps: not all below it could be looked at"

# Checking this many names takes a second at most.
_MAX_NAMES = 50_000
_MAX_SHOWN = 12
_MAX_PROJECTS = 50
_MAX_NAME_CHARACTERS = 80
_NEVER_PROJECTS = frozenset({".git", ".hg", ".svn", ".jj", DATA_FOLDER})


def trust(arguments: SimpleNamespace) -> int:
    """Trust the project around a folder once the user has confirmed it, or trust it no longer."""
    root, folders = find_project(arguments.folder).root, users_trusted_folders()
    state = "is trusted: its settings count, hooks tell its rules"
    if arguments.take_back:
        folders.remove(root)
        above = next((each for each in folders.folders() if root.is_relative_to(each)), "")
        still = f"is still trusted, because {above} is: `rag-ls trust --not {shlex.quote(above)}`"
        state = still if above else "is not trusted"
    elif is_shared_folder(root):
        raise InvalidRequest(f"{root} holds all kinds of things; trust the folder of your code")
    elif not folders.trusts(root):
        if not arguments.yes and not _ask_to_trust(root, shows_all=True):
            return 1
        folders.add(root)
    answer = {"root": str(root), "trusted": folders.trusts(root)}
    return show_answer(arguments, answer, f"{fold(str(root))} {state}")


def offer_trust(root: Path, *, tells: bool = False) -> None:
    """Ask at the terminal whether the user trusts a folder. Without a terminal and with `tells`, print how to trust it."""
    if users_trusted_folders().trusts(root) or is_shared_folder(root):
        return
    try:
        if _ask_to_trust(root):
            users_trusted_folders().add(root)
    except NotConfirmed:
        if tells:
            print_notes(
                f"{fold(str(root))} is not trusted: hooks tell none of its rules, and settings that can cost or destroy "
                f"something wait until `rag-ls trust {fold(shlex.quote(str(root)))}`"
            )


def _ask_to_trust(root: Path, *, shows_all: bool = False) -> bool:
    """Show what a folder brings, and ask; with `shows_all`, show it even without a terminal.

    Raises `NotConfirmed` if there is no terminal.
    """
    brings = f"{fold(str(root))} brings" + "".join(f"\n  {line}" for line in what_it_brings(root) or ["nothing yet"])
    if shows_all and not sys.stdin.isatty():
        print(brings, file=sys.stderr)
    return ask_to_confirm(f"{brings}\nTrust it, with all that comes into it later?", "nothing is changed")


def what_it_brings(root: Path) -> list[str]:
    """Return the settings, rules and memories at and below a folder that wait until it is trusted, a line for each kind and place."""
    # Imported here, because only a question needs them.
    from rag_ls.chunking import RuleKind, rule_kind
    from rag_ls.rules import RULE_FILES

    projects, rules, failed, names_left = [root], set[str](), list[OSError](), _MAX_NAMES
    for folder, folders, files in os.walk(root, onerror=failed.append):
        names_left -= len(folders) + len(files)
        if names_left < 0:
            break
        if folder != str(root) and not {CONFIG_FILE, DATA_FOLDER}.isdisjoint((*folders, *files)):
            projects.append(Path(folder))
        folders[:] = sorted(set(folders) - _NEVER_PROJECTS)
        for name in files:
            path = Path(folder, name).relative_to(root).as_posix()
            kind = rule_kind(path)
            if kind is not None or name in RULE_FILES:
                rules.add(path.rpartition("/")[0] + "/" if kind is RuleKind.PATTERN else path)
    lines = [line for folder in projects[:_MAX_PROJECTS] for line in list_waiting(root, folder)]
    if rules:
        nearest = sorted(rules, key=lambda path: (path.count("/"), path))
        more = f" and {len(rules) - _MAX_SHOWN:,} more" if len(rules) > _MAX_SHOWN else ""
        shown = ", ".join(fold(path, _MAX_NAME_CHARACTERS) for path in nearest[:_MAX_SHOWN])
        lines.append(f"rules that hooks tell your agent: {shown}{more}")
    if failed or names_left < 0 or len(projects) > _MAX_PROJECTS:
        lines.append(NOT_ALL)
    return lines


def list_waiting(root: Path, folder: Path) -> Iterator[str]:
    """Yield a line on the settings of a project at or below the root that wait, and on its memories."""
    from rag_ls.config import FOLDER, MemoryHomes
    from rag_ls.memory import count_foreign, tell_awaited, tell_waiting

    project = Project(folder)
    loaded = load_settings(project)
    if is_inner_path(named := loaded.settings.memory.files.rstrip("/")) and (files := [*(folder / named).glob("*.md")]):
        yield f"memories in {fold(named, _MAX_NAME_CHARACTERS)}, which your agent reads: {count_of(len(files), 'file')}"
    if waiting := loaded.waiting:
        place = fold((folder / CONFIG_FILE).relative_to(root).as_posix(), _MAX_NAME_CHARACTERS)
        yield f"settings that cost or destroy ({place}): {', '.join(waiting)}"
    homes = MemoryHomes(user_data_folder() / FOLDER, users_trusted_folders())
    if awaited := tell_awaited(project, homes):
        yield fold(awaited)
    count = count_foreign(project, homes)
    if count != 0:
        unread = f"memories that cannot be read, in {project.data_folder}"
        yield fold(unread if count is None else tell_waiting(project, count))


def show_settings(arguments: SimpleNamespace) -> int:
    """Print the settings in force without passwords, their meaning, and the problems met while loading them."""
    from rag_ls.config import SetBy, describe_settings

    project = find_project(arguments.project)
    loaded = load_settings(project)
    prefix = f"{arguments.key}." if arguments.key else ""
    wanted = [info for info in describe_settings() if f"{info.key}.".startswith(prefix)]
    if not wanted:
        raise InvalidRequest(f"no setting is called {arguments.key!r}; `rag-ls config` lists them all")
    found = {info.key: info.value_in(loaded.settings) for info in wanted}
    values = {key: mask_secrets(value) if isinstance(value, str) else value for key, value in found.items()}
    files = [str(user_config_file()), str(project.root / CONFIG_FILE)]
    problems = [*map(str, loaded.problems)]
    lines = [f"# {' < '.join(files)} < RAG_LS_* variables < editor"]
    for info in wanted:
        changed = "" if values[info.key] == info.default else f" (default: {json.dumps(info.default)})"
        lines += [f"{info.key} = {json.dumps(values[info.key])}{changed}", f"    {info.doc}"]
        if arguments.key:
            whose = "yours alone to set" if info.set_by is SetBy.USER else "a project and an editor may set it"
            lines.append(f"    {whose}; a change counts {info.takes_effect}")
    answer = {"settings": values, "problems": problems, "waiting": loaded.waiting, "files": files}
    show_answer(arguments, answer, "\n".join(lines), paged=False)
    print_notes(*problems, loaded.waiting_note(project.root))
    return 1 if problems else 0
