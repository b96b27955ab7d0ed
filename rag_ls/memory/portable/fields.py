"""Reads the fields of a record one by one and checks their types; collects problems instead of raising."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import utc_stamp, without_surrogates

# The largest integer that every JSON reader keeps exact; SQLite's limit is not much larger.
_MAX_INTEGER = 2**53
_STAMP = lazy_pattern(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d")


class Fields:
    """The fields of one JSON object. A missing, null or invalid field gives None."""

    def __init__(self, values: Mapping[str, object], problems: list[str], inside: str = "") -> None:
        """Problems are added to `problems`; `inside` names the object in them if it is not the record itself."""
        self._left = dict(values)
        self._problems = problems
        self._inside = f"{inside}." if inside else ""

    def text(self, name: str, *, in_column: bool = True) -> str | None:
        """A string. Half a surrogate pair is a problem `in_column`; elsewhere the store keeps it."""
        value: str | None = self._take(name, "a string", lambda value: isinstance(value, str))
        if value is not None and in_column and value != without_surrogates(value):
            self._problems.append(f"{self._inside}{name} holds half of a character (a lone surrogate); replace it")
            return None
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings, empty where it is missing."""
        values = self._take(name, "a list of strings", lambda value: isinstance(value, list | tuple)) or ()
        names = [f"{name}[{number}]" for number in range(len(values))]
        items = Fields(dict(zip(names, values, strict=True)), self._problems, self._inside[:-1])
        return tuple(text for name in names if (text := items.text(name)) is not None)

    def whole(self, name: str, least: int) -> int | None:
        """A whole number from `least`."""

        def fits(value: object) -> bool:
            return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MAX_INTEGER

        value: int | None = self._take(name, f"a whole number from {least}", fits)
        return value

    def share(self, name: str) -> float | None:
        """A number from 0 to 1."""

        def fits(value: object) -> bool:
            # NaN is not between them.
            return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1

        value: float | None = self._take(name, "a number from 0 to 1", fits)
        return value

    def stamp(self, name: str) -> str | None:
        """A time with its zone, in the format of records."""
        value = self.text(name)
        if value is None:
            return None
        try:
            time = datetime.fromisoformat(value) if _STAMP.match(value) else None
            if time is not None and time.tzinfo is not None:
                return utc_stamp(time)
        except (ValueError, OverflowError):
            pass
        self._wrong(name, value, "a time with its zone, such as 2026-01-31T12:00:00Z")
        return None

    def mapping(self, name: str) -> dict[str, object] | None:
        """An object."""
        value = self._take(name, "an object", lambda value: isinstance(value, Mapping))
        return None if value is None else dict(value)

    def anything(self, name: str) -> object:
        """A value that the caller checks."""
        return self._left.pop(name, None)

    def refuse_others(self) -> None:
        """Add a problem for each field that was not read."""
        for name in self._left:
            self._problems.append(f"{self._inside}{str(name)[:60]!r} is no field of a memory; put it under custom")

    def _take(self, name: str, wanted: str, fits: Callable[[object], bool]) -> Any:
        """A field's value; None, and a problem, for one that does not fit."""
        value = self._left.pop(name, None)
        if value is None or fits(value):
            return value
        self._wrong(name, value, wanted)
        return None

    def _wrong(self, name: str, value: object, wanted: str) -> None:
        self._problems.append(f"{self._inside}{name} is {_shorten_value(value)}; give {wanted}")


def _shorten_value(value: object) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and abs(value) > _MAX_INTEGER:
        return "a number out of range"
    return repr(value)[:60]
