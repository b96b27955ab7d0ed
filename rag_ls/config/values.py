"""Converts values from files, variables and editors, and checks them against their settings."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import os
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, get_type_hints

from rag_ls.config.engine_settings import SetBy, TakesEffect
from rag_ls.config.settings import Settings
from rag_ls.util.decoding import is_encoding
from rag_ls.util.records import dataclass
from rag_ls.util.text import fold, mask_secrets

_IN_WORDS = {str: "a text in quotation marks", int: "a whole number", float: "a number", bool: "true or false"}
_MAX_SHOWN_CHARACTERS = 60


def with_value(settings: Settings, section: str, key: str, value: Any) -> Settings:
    """The settings with one value changed. Raises `ValueError`, which names the allowed values."""
    group = getattr(settings, section)
    fields = {item.name: item for item in dataclasses.fields(group)}
    if key not in fields:
        raise ValueError(
            f"unknown setting {section}.{fold(key, _MAX_SHOWN_CHARACTERS)}; known are {', '.join(sorted(fields))}"
        )
    wanted = get_type_hints(type(group))[key]
    checked = _check_value(f"{section}.{key}", wanted, value, fields[key].metadata)
    return dataclasses.replace(settings, **{section: dataclasses.replace(group, **{key: checked})})


def waits_for_trust(present: Settings, changed: Settings, section: str, key: str) -> bool:
    """Whether a changed value costs or destroys more than the present one, so that it waits until its folder is trusted."""
    fields = {item.name: item for item in dataclasses.fields(getattr(present, section))}
    waits = fields[key].metadata["waits"]
    before, after = (getattr(getattr(each, section), key) for each in (present, changed))
    if isinstance(before, tuple):
        before, after = set(before), set(before) | set(after)
    is_more, is_less = bool(after > before), bool(after < before)
    return {"": False, "always": is_more or is_less, "above": is_more, "below": is_less}[waits]


def _check_value(name: str, wanted: Any, value: Any, limits: Mapping[str, Any]) -> Any:
    value = _convert(name, wanted, _list_pairs(name, value) if limits["pairs"] else value)
    chosen = value if isinstance(value, tuple) else (value,)
    if limits["choices"] and not set(chosen) <= set(limits["choices"]):
        raise ValueError(f"{name} = {_shorten(value)} is not one of {', '.join(limits['choices'])}")
    if limits["is_folder"] and value and not os.path.isabs(os.path.expanduser(value)):
        raise ValueError(f"{name} = {_shorten(value)} must be a full path, or begin with ~")
    low, high = limits["minimum"], limits["maximum"]
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        raise ValueError(f"{name} = {_shorten(value)} is out of range ({low} to {'any' if high is None else high})")
    return value


def _list_pairs(name: str, value: Any) -> Any:
    """A table as a list of `PATTERN = NAME`. Raises `ValueError` for items of another form."""
    if isinstance(value, Mapping):
        value = [f"{pattern} = {item}" if isinstance(item, str) else item for pattern, item in value.items()]
    if isinstance(value, list | tuple):
        for item in value:
            pattern, _, meant = item.rpartition("=") if isinstance(item, str) else ("", "", "")
            if not pattern.strip() or not meant.strip():
                raise ValueError(f'{name} must be a table such as {{"*.inc" = "php"}}, not {_shorten(item)}')
            if name.endswith(".encodings") and not is_encoding(meant.strip()):
                raise ValueError(
                    f"{name}: {_shorten(meant.strip())} is no encoding that Python knows, such as gbk or cp1252"
                )
    return value


def _shorten(value: object) -> str:
    """A value in a message, in short: a stranger may have written it, and the message may go to a log."""
    return "a table" if isinstance(value, Mapping) else fold(mask_secrets(repr(value)), _MAX_SHOWN_CHARACTERS)


def _convert(name: str, wanted: Any, value: Any) -> Any:
    if wanted == tuple[str, ...]:
        if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            return tuple(value)
        if isinstance(value, str) and value and name == "store.share":
            # A list of one value may be written as that value.
            return (value,)
        raise ValueError(f"{name} must be a list of strings, not {_shorten(value)}")
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not wanted:
        raise ValueError(f"{name} must be {_IN_WORDS[wanted]}, not {_shorten(value)}")
    return value


def environment_values(variables: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The settings that environment variables set, by section and key, those that are unknown too."""
    values: dict[str, dict[str, Any]] = {}
    for section in {info.key.split(".")[0] for info in describe_settings()}:
        start = f"{ENVIRONMENT_PREFIX}{section}_".upper()
        for variable in sorted(variables):
            if variable.startswith(start):
                values.setdefault(section, {})[variable.removeprefix(start).lower()] = variables[variable]
    for info in describe_settings():
        section, key = info.key.split(".")
        name = f"{ENVIRONMENT_PREFIX}{section}".upper()
        text = variables.get(f"{name}_{key.upper()}")
        # RAG_LS_DAEMON is another name of RAG_LS_DAEMON_MODE.
        if text is None and shorthands().get(section) == key:
            text = variables.get(name)
        if text is not None:
            values.setdefault(section, {})[key] = _from_text(info.type, text)
    return values


def _from_text(kind: str, text: str) -> Any:
    if kind == "list of strings":
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind == "bool":
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    try:
        return int(text) if kind == "int" else float(text) if kind == "float" else text
    except ValueError:
        return text


def snake_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """An editor's settings under our names: `maxFileBytes` is `max_file_bytes`."""
    return {
        re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower(): snake_keys(value) if isinstance(value, Mapping) else value
        for key, value in values.items()
    }


ENVIRONMENT_PREFIX = "RAG_LS_"


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting: what reference pages, editors' forms and the rules on settings need to know of it."""

    key: str
    type: str
    default: object
    choices: tuple[str, ...]
    waits: str
    """The values of a project or an editor that wait for the user's trust: `always`, `above`, `below`; empty for never."""
    set_by: SetBy
    takes_effect: TakesEffect
    option: str
    """The shell's option that sets it for one run, e.g. `serve --cert`; empty for none."""
    pairs: bool
    """Whether each item of a list is `PATTERN = NAME`, so that a table may stand for the list."""
    is_folder: bool
    """Whether it is the full path of a folder."""
    expert: bool
    """Whether few people need it, so that forms show it last."""
    minimum: float | None = None
    maximum: float | None = None

    @property
    def doc(self) -> str:
        """Its meaning."""
        section, name = self.key.split(".")
        return read_docs(get_type_hints(Settings)[section])[name]

    def value_in(self, settings: Settings) -> object:
        """The value of this setting in `settings`."""
        section, name = self.key.split(".")
        return getattr(getattr(settings, section), name)


@functools.cache
def read_docs(kind: type) -> dict[str, str]:
    """The docstring below each field of a dataclass, which only its source has."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    return {
        field.target.id: " ".join(doc.value.value.split())
        for field, doc in pairwise(body.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        and isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant) and isinstance(doc.value.value, str)
    }  # fmt: skip


@functools.cache
def describe_settings() -> tuple[SettingInfo, ...]:
    """Every setting, in the order of the reference."""
    return tuple(_describe_all())


def sections() -> list[dataclasses.Field[Any]]:
    """The fields of `Settings` that are sections of settings."""
    return [item for item in dataclasses.fields(Settings) if item.name != "projects"]


@functools.cache
def users_own() -> tuple[str, ...]:
    """The names of the sections that only the user may set, and `projects`."""
    return tuple(item.name for item in dataclasses.fields(Settings) if item.metadata["set_by"] is SetBy.USER)


@functools.cache
def shorthands() -> dict[str, str]:
    """The setting that is meant if a section is given as a text, by section: `daemon = "never"` is `[daemon] mode = "never"`."""
    return {item.name: item.metadata["short"] for item in sections() if item.metadata["short"]}


def effects_of(former: Settings, new: Settings) -> frozenset[TakesEffect]:
    """The moments from which the settings that differ count."""
    return frozenset(info.takes_effect for info in describe_settings() if info.value_in(former) != info.value_in(new))


def _describe_all() -> Iterator[SettingInfo]:
    for section in sections():
        section_type = get_type_hints(Settings)[section.name]
        hints = get_type_hints(section_type)
        for item in dataclasses.fields(section_type):
            kind = "list of strings" if hints[item.name] == tuple[str, ...] else hints[item.name].__name__
            of_section = {key: section.metadata[key] for key in ("set_by", "takes_effect", "expert")}
            own = {key: value for key, value in item.metadata.items() if value is not None}
            yield SettingInfo(f"{section.name}.{item.name}", kind, item.default, **{**of_section, **own})
