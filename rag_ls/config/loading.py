"""The settings in force: defaults < user TOML < project TOML < environment < editor."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rag_ls.config.settings import Settings, sections
from rag_ls.config.values import SHORTHANDS, environment_values, snake_keys, with_value
from rag_ls.project import CONFIG_FILE, Project, user_config_file
from rag_ls.registry.entries import line_of, read_entries
from rag_ls.util.foreign_text import read_toml
from rag_ls.util.marked_text import decode_marked
from rag_ls.util.regular_files import read_regular

# Only the user may set these: one model serves all projects, and a cloned repository must not choose files to load or
# write, or where text is sent.
_USER_ONLY = ("embedding", "log", "daemon", "http", "summaries", "store", "projects")
# An editor may not set these, because a cloned repository may bring editor settings too.
_NOT_AN_EDITORS = ("summaries", "store", "projects")
# Nor who is sent text, and with which key.
_NOT_AN_EDITORS_KEYS = ("provider", "endpoint", "api_key_env")
# An engine reads these at its start, for all clients that share it.
_ENGINE_ONLY = ("embedding", "log", "daemon", "http", "store")


_ENVIRONMENT, _EDITOR = "environment", "editor settings"
_NO_FILES = (_ENVIRONMENT, _EDITOR)


@dataclass(frozen=True, slots=True)
class Problem:
    """A setting that cannot be used, with its place and the remedy; the former value stays in force."""

    source: str
    message: str
    line: int | None = None
    key: str = ""
    """The setting or section that it is about; empty for a whole file."""

    @property
    def hides_patterns(self) -> bool:
        """Whether patterns of files that are not to be indexed may be in what cannot be read."""
        return self.source not in _NO_FILES and self.key in ("", "index", "index.exclude", "index.include")

    @property
    def place(self) -> str:
        """Where it is, with the line if that is known."""
        return f"{self.source}:{self.line}" if self.line else self.source

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings with the problems that were met while loading them."""

    settings: Settings
    problems: tuple[Problem, ...] = ()


def load(
    project: Project | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    editor: Mapping[str, Any] | None = None,
    shared: bool = False,
    last_good: LastGood | None = None,
) -> Loaded:
    """The settings in force for `project`: each layer overrides the one before it.

    An editor that uses a `shared` engine cannot set the engine's own settings.

    A wrong key, type or value is reported as a `Problem` with its file and line; the rest still loads. With
    `last_good`, a broken file's last good content still counts.
    """
    files = [user_config_file()] + ([project.root / CONFIG_FILE] if project else [])
    loaded = Loaded(Settings())
    for file in files:
        user_only = () if file == files[0] else _USER_ONLY
        loaded = _apply_good(loaded, file, user_only, last_good or LastGood())
    variables = os.environ if environment is None else environment
    loaded = _apply(loaded, environment_values(variables), _ENVIRONMENT, lambda section, key: None)
    if editor:
        values = snake_keys(editor)
        refused = [section for section in _ENGINE_ONLY if shared and values.pop(section, None) is not None]
        refused += [section for section in _NOT_AN_EDITORS if values.pop(section, None) is not None]
        if isinstance(chosen := values.get("embedding"), dict):
            refused += [f"embedding.{key}" for key in _NOT_AN_EDITORS_KEYS if key in chosen]
            values["embedding"] = {key: value for key, value in chosen.items() if key not in _NOT_AN_EDITORS_KEYS}
        loaded = _apply(loaded, values, _EDITOR, lambda section, key: None)
        hints = [Problem(_EDITOR, f"{section} is not an editor's to set: set it in {files[0]}") for section in refused]
        loaded = Loaded(loaded.settings, (*loaded.problems, *hints))
    return replace(loaded, settings=loaded.settings.of(project.root)) if project else loaded


class LastGood:
    """Keeps the last good text of each settings file, so that a broken edit changes nothing."""

    def __init__(self) -> None:
        self._texts: dict[Path, str] = {}

    def text_of(self, file: Path) -> str | None:
        """The last text of a file without problems; None if there was none."""
        return self._texts.get(file)

    def note(self, file: Path, text: str) -> None:
        """Keep a text that has no problems."""
        self._texts[file] = text


def _apply_good(below: Loaded, file: Path, user_only: tuple[str, ...], last_good: LastGood) -> Loaded:
    loaded, text = _apply_file(below, file, user_only)
    former = last_good.text_of(file)
    if len(loaded.problems) == len(below.problems):
        last_good.note(file, text)
    elif former:
        kept = replace(below, settings=_apply_text(below, file, former, user_only).settings)
        loaded = _apply_file(kept, file, user_only)[0]
    elif loaded.settings != below.settings:
        # The file is only partly wrong, and there is no better text to fall back on.
        last_good.note(file, text)
    return loaded


def _apply_file(loaded: Loaded, file: Path, user_only: tuple[str, ...]) -> tuple[Loaded, str]:
    try:
        text = decode_marked(read_regular(file))
    except FileNotFoundError:
        return loaded, ""
    except OSError as error:
        return Loaded(loaded.settings, (*loaded.problems, Problem(str(file), f"cannot be read: {error}"))), ""
    except UnicodeDecodeError as error:
        problem = Problem(
            str(file), f"cannot be read: it is no text in UTF-8 or UTF-16 ({error.reason}); save it as UTF-8"
        )
        return Loaded(loaded.settings, (*loaded.problems, problem)), ""
    return _apply_text(loaded, file, text, user_only), text


def _apply_text(loaded: Loaded, file: Path, text: str, user_only: tuple[str, ...]) -> Loaded:
    try:
        values = read_toml(text)
    except ValueError as error:
        found = re.search(r"line (\d+)", str(error))
        problem = Problem(str(file), f"is not TOML: {error}", int(found[1]) if found else None)
        return Loaded(loaded.settings, (*loaded.problems, problem))
    if isinstance(url := values.get("store"), str):
        # The whole section in one line.
        values["store"] = {"url": url, **({"share": values.pop("share")} if "share" in values else {})}
    refused = [
        Problem(
            str(file),
            f"[{section}] is the user's to set, in {user_config_file()}",
            _line_of(text, section, None),
            section,
        )
        for section in user_only
        if values.pop(section, None) is not None
    ]
    loaded = Loaded(loaded.settings, (*loaded.problems, *refused))
    if (listed := values.pop("projects", None)) is not None:
        loaded = _with_projects(loaded, listed, file, text)
    return _apply(loaded, values, str(file), lambda section, key: _line_of(text, section, key))


def _with_projects(loaded: Loaded, listed: object, file: Path, text: str) -> Loaded:
    read = read_entries(listed)
    problems = [
        Problem(str(file), fault.message, line_of(text, fault) or _line_of(text, "", "projects"), "projects")
        for fault in read.faults
    ]
    return Loaded(replace(loaded.settings, projects=read.entries), (*loaded.problems, *problems))


def _apply(loaded: Loaded, values: Mapping[str, Any], source: str, line_of: Any) -> Loaded:
    settings = loaded.settings
    problems = list(loaded.problems)
    known = {item.name for item in sections()}
    for section, given in values.items():
        entries = {SHORTHANDS[section]: given} if section in SHORTHANDS and isinstance(given, str) else given
        if section not in known:
            hint = f"unknown section [{section}]; known are {', '.join(sorted(known))}"
            problems.append(Problem(source, hint, line_of(section, None), section))
        elif not isinstance(entries, Mapping):
            message = f"[{section}] must be a table of settings"
            problems.append(Problem(source, message, line_of("", section), section))
        else:
            for key, value in entries.items():
                try:
                    settings = with_value(settings, section, key, value)
                except ValueError as error:
                    problems.append(Problem(source, str(error), line_of(section, key), f"{section}.{key}"))
    return Loaded(settings, tuple(problems))


def _line_of(text: str, section: str, key: str | None) -> int | None:
    """The line of `key` in `[section]`, or of the section's header if `key` is None, for messages."""
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[+\s*([\w.\-\"' ]+?)\s*\]+", line)
        if header:
            current = header[1].strip("\"' ")
            if current == section and key is None:
                return number
            continue
        name = re.match(r"\s*([\w.\-\"']+)\s*=", line)
        found = name[1].strip("\"'") if name else None
        if found and ((current == section and found == key) or (not current and found in (key, f"{section}.{key}"))):
            return number
    return None
