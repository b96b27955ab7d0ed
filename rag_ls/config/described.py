"""Reads each setting's type, default, limits and rules from the fields of `Settings`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any, get_type_hints

from rag_ls.config.fields import SetBy, TakesEffect
from rag_ls.config.settings import Settings
from rag_ls.util.records import dataclass

ENVIRONMENT_PREFIX = "RAG_LS_"


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting: what reference pages, editors' forms and the rules on settings need to know of it."""

    key: str
    type: str
    default: object
    doc: str
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

    def value_in(self, settings: Settings) -> object:
        """The value of this setting in `settings`."""
        section, name = self.key.split(".")
        return getattr(getattr(settings, section), name)


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
