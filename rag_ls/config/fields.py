"""The field of a setting: besides its type and default, it carries its meaning, its limits and its rules."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Any


class SetBy(StrEnum):
    """The sources that may set a section's settings. The user's file and the environment may set all of them."""

    USER = "user"
    """The user alone: one engine serves all projects, and a cloned repository, which may bring an editor's settings too, must
    not choose files to load or write, or where text is sent."""
    ANYONE = "anyone"
    """A project's file and an editor too; what costs or destroys `waits` until the user trusts the folder."""


class TakesEffect(StrEnum):
    """The moment from which a changed value counts in an engine that runs."""

    AT_ONCE = "at once"
    COMPARED = "after the files are compared with the index"
    CUT = "after the documents are cut anew"
    OPENED = "when the project is opened next"
    RESTARTED = "in a new engine, which takes the running one's place"


def setting(
    default: Any,
    doc: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] = (),
    waits: str = "",
    takes_effect: TakesEffect | None = None,
    option: str = "",
    pairs: bool = False,
    is_folder: bool = False,
) -> Any:
    """A dataclass field that carries its meaning, its limits and its rules; who may set it is its section's.

    A value that costs or destroys `waits`, where a project or an editor sets it, until the user trusts the folder:
    `always`, or where it is `above` or `below` what is in force without it (`True` is above `False`, more names of a list
    above fewer). `takes_effect` differs from its section's where given. `option` is the shell's that sets it for one run.
    A list of `pairs` is also given as a table: each item is `PATTERN = NAME`. A text that `is_folder` is a full path, or begins
    with `~`.
    """
    metadata = {
        "doc": doc, "minimum": minimum, "maximum": maximum, "choices": choices, "waits": waits, "takes_effect": takes_effect,
        "option": option, "pairs": pairs, "is_folder": is_folder,
    }  # fmt: skip
    return field(default=default, metadata=metadata)


def section(
    kind: type,
    *,
    set_by: SetBy = SetBy.ANYONE,
    takes_effect: TakesEffect = TakesEffect.AT_ONCE,
    short: str = "",
) -> Any:
    """A field for a section of settings, with who may set them and when a changed one counts.

    `short` is the setting that `SECTION = "..."` stands for.
    """
    return field(default_factory=kind, metadata={"set_by": set_by, "takes_effect": takes_effect, "short": short})
