"""The settings in force: defaults < user TOML < project TOML < environment < editor."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_ls.config.entries import read_entries
from rag_ls.config.settings import Settings
from rag_ls.config.values import (
    environment_values,
    sections,
    shorthands,
    snake_keys,
    users_own,
    waits_for_trust,
    with_value,
)
from rag_ls.locations import user_config_file
from rag_ls.project import CONFIG_FILE, Project
from rag_ls.util.decoding import decode_marked, read_toml
from rag_ls.util.files import read_regular
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import fold

_ENVIRONMENT, _EDITOR = "environment", "editor settings"
_MAX_NAME_CHARACTERS = 60
_SOURCES_WITHOUT_FILE = (_ENVIRONMENT, _EDITOR)


LastGood = dict[Path, str]
"""The last text of each settings file that had no problems. It stays in force while an edit is broken."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A setting that cannot be used, with its file and the remedy; the former value stays in force."""

    source: str
    message: str
    key: str = ""
    """The setting or section that it is about; empty for a whole file."""

    @property
    def hides_patterns(self) -> bool:
        """Whether the part that cannot be read may hold patterns that keep files out of the index."""
        return self.source not in _SOURCES_WITHOUT_FILE and self.key in ("", "index", "index.exclude", "index.include")

    def __str__(self) -> str:
        return f"{self.source}: {self.message}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings with the problems that were met while loading them."""

    settings: Settings
    problems: tuple[Problem, ...] = ()
    waiting: tuple[str, ...] = ()
    """The settings of a project or an editor that do not count until the user trusts the folder."""

    def waiting_note(self, root: Path | None = None) -> str:
        """A note on the settings that wait; with the folder's `root`, also on the command that trusts it. Empty if none waits.

        Agents do not get the command: they would run it themselves.
        """
        if not self.waiting:
            return ""
        what = f"{', '.join(self.waiting)} {'waits' if len(self.waiting) == 1 else 'wait'} until"
        if root is None:
            return f"{what} the user trusts the folder"
        return f"{what} you trust the folder: `rag-ls trust {shlex.quote(str(root))}`"


def load_settings(
    project: Project | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    editor: Mapping[str, Any] | None = None,
    last_good: LastGood | None = None,
    folders: Sequence[Path] = (),
) -> Loaded:
    """The settings in force for `project`: each layer overrides the one before it.

    Settings that cost or destroy something count only if the project's folder is trusted. That holds for an editor's settings
    too, because the project may bring them; without a project, all `folders` of the editor must be trusted.

    A wrong key, type or value is reported as a `Problem` with its file; the rest still loads. With
    `last_good`, a broken file's last good content still counts.
    """
    user_file = user_config_file()
    is_trusted = functools.cache(lambda: _are_trusted([project.root] if project else folders))
    last_good = {} if last_good is None else last_good
    loaded = _apply_good(Loaded(Settings()), _Layer(user_file), last_good)
    if project:
        layer = _Layer(project.root / CONFIG_FILE, users_own(), is_trusted)
        loaded = _apply_good(loaded, layer, last_good)
    variables = os.environ if environment is None else environment
    loaded = _apply(loaded, environment_values(variables), _ENVIRONMENT)
    if editor:
        values = snake_keys(editor)
        refused = [section for section in users_own() if values.pop(section, None) is not None]
        loaded = _apply(loaded, values, _EDITOR, is_trusted)
        hints = [Problem(_EDITOR, f"{section} is not an editor's to set: set it in {user_file}") for section in refused]
        loaded = _with_problem(loaded, *hints)
    return replace(loaded, settings=loaded.settings.of(project.root)) if project else loaded


@dataclass(frozen=True, slots=True)
class _Layer:
    """A settings file, and what it may set."""

    file: Path
    user_only: tuple[str, ...] = ()
    is_trusted: Callable[[], bool] = lambda: True


def _are_trusted(folders: Sequence[Path]) -> bool:
    # Imported here: it is seldom needed, and a relay should not wait for it.
    from rag_ls.config.trust import users_trusted_folders

    return bool(folders) and all(map(users_trusted_folders().trusts, folders))


def _apply_good(below: Loaded, layer: _Layer, last_good: LastGood) -> Loaded:
    loaded, text = _apply_file(below, layer)
    former = last_good.get(layer.file)
    if len(loaded.problems) == len(below.problems):
        last_good[layer.file] = text
    elif former:
        kept = replace(below, settings=_apply_text(below, layer, former).settings)
        loaded = _apply_file(kept, layer)[0]
    elif loaded.settings != below.settings:
        # A part of the file is wrong, and there is no earlier text: the rest of this one counts.
        last_good[layer.file] = text
    return loaded


def _apply_file(loaded: Loaded, layer: _Layer) -> tuple[Loaded, str]:
    file = layer.file
    try:
        text = decode_marked(read_regular(file))
    except FileNotFoundError:
        return loaded, ""
    except OSError as error:
        return _with_problem(loaded, Problem(str(file), f"cannot be read: {error.strerror or error}")), ""
    except UnicodeDecodeError as error:
        problem = Problem(
            str(file), f"cannot be read: it is no text in UTF-8 or UTF-16 ({error.reason}); save it as UTF-8"
        )
        return _with_problem(loaded, problem), ""
    return _apply_text(loaded, layer, text), text


def _with_problem(loaded: Loaded, *problems: Problem) -> Loaded:
    return replace(loaded, problems=(*loaded.problems, *problems))


def _apply_text(loaded: Loaded, layer: _Layer, text: str) -> Loaded:
    file = layer.file
    try:
        values = read_toml(text)
    except ValueError as error:
        return _with_problem(loaded, Problem(str(file), f"is not TOML: {error}"))
    if isinstance(url := values.get("store"), str):
        values["store"] = {"url": url, **({"share": values.pop("share")} if "share" in values else {})}
    refused = [
        Problem(str(file), f"[{section}] is the user's to set, in {user_config_file()}", section)
        for section in layer.user_only
        if values.pop(section, None) is not None
    ]
    loaded = _with_problem(loaded, *refused)
    if (listed := values.pop("projects", None)) is not None:
        loaded = _with_projects(loaded, listed, file)
    return _apply(loaded, values, str(file), layer.is_trusted)


def _with_projects(loaded: Loaded, listed: object, file: Path) -> Loaded:
    read = read_entries(listed)
    problems = [Problem(str(file), fault, key="projects") for fault in read.faults]
    return _with_problem(replace(loaded, settings=replace(loaded.settings, projects=read.entries)), *problems)


def _apply(
    loaded: Loaded,
    values: Mapping[str, Any],
    source: str,
    is_trusted: Callable[[], bool] = lambda: True,
) -> Loaded:
    settings = loaded.settings
    problems, waiting = list(loaded.problems), list(loaded.waiting)
    known = {item.name for item in sections()}
    for section, given in values.items():
        entries = {shorthands()[section]: given} if section in shorthands() and isinstance(given, str) else given
        if section not in known:
            hint = f"unknown section [{fold(section, _MAX_NAME_CHARACTERS)}]; known are {', '.join(sorted(known))}"
            problems.append(Problem(source, hint, section))
        elif not isinstance(entries, Mapping):
            problems.append(Problem(source, f"[{section}] must be a table of settings", section))
        else:
            for key, value in entries.items():
                try:
                    changed = with_value(settings, section, key, value)
                except ValueError as error:
                    problems.append(Problem(source, str(error), f"{section}.{key}"))
                    continue
                if waits_for_trust(settings, changed, section, key) and not is_trusted():
                    waiting.append(f"{section}.{key}")
                else:
                    settings = changed
    return Loaded(settings, tuple(problems), tuple(dict.fromkeys(waiting)))
