"""Parses requests from JSON objects, the same way for every surface, and checks each key."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

from rag_ls.errors import InvalidRequest
from rag_ls.operations.fields import Argument, accepted_arguments, arguments_of
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import nearest, nearest_text, without_surrogates

ABSENT: Final = None
# Texts that stand for no value, in arguments that take no free text.
_NO_VALUE = ("", "null", "none", "undefined")
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")
_PLAIN = lazy_pattern(r"-?\d+(\.\d+)?")
_NUMBER = lazy_pattern(r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,2})?", re.ASCII)


class NoSuchValue(ValueError):
    """The value cannot be read as the type, or could mean several values of it."""


def is_absent(value: object) -> bool:
    """Whether a value stands for none where no free text is wanted: null, an empty text, `"null"`, `["null"]`."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value is None or (isinstance(value, str) and value.strip().lower() in _NO_VALUE)


def read_text(value: object) -> str:
    """A text: a number is its digits, and a list of one text is that text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    # A number with an exponent would not come back as it was written: an id such as 12e5 is no number.
    if isinstance(value, int | float) and not isinstance(value, bool) and _PLAIN.fullmatch(digits := json.dumps(value)):
        return digits
    raise NoSuchValue


def read_word(value: object) -> str | None:
    """A word of a fixed choice, in small letters, without quotation marks."""
    if is_absent(value):
        return ABSENT
    return read_text(value).strip().strip("\"'`").strip().lower() or ABSENT


def read_number(value: object) -> int | float | None:
    """A number; a whole one is an integer."""
    if is_absent(value):
        return ABSENT
    if isinstance(value, str):
        written = value.strip().strip("\"'")
        if not _NUMBER.fullmatch(written):
            raise NoSuchValue
        value = int(written) if written.lstrip("+-").isdigit() else float(written)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise NoSuchValue
    return value


def read_flag(value: object) -> bool | None:
    """True or false."""
    if is_absent(value):
        return ABSENT
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | str):
        word = (str(int(value)) if value in (0, 1) else "") if not isinstance(value, str) else value
        word = word.strip().strip("\"'").lower()
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
    raise NoSuchValue


def read_strings(value: object, *, splits_commas: bool = False) -> list[str]:
    """A list of texts: also one as JSON or Python writes it, or a single text.

    `splits_commas`: no text holds a comma, so that a single one is several with commas between, in brackets or not.
    """
    if value is None or (isinstance(value, list) and is_absent(value)):
        return []
    if isinstance(value, str):
        return _strings_in(value, splits_commas=splits_commas)
    if isinstance(value, list | tuple):
        texts = [read_text(item) for item in value if item is not None]
        return [part for text in texts for part in (_written_strings(text) or [text])]
    return [read_text(value)]


def read_object(value: object) -> Mapping[str, Any]:
    """An object: also one as JSON or Python writes it."""
    if is_absent(value) or value in ([], ()):
        return {}
    if isinstance(value, str):
        value = _read_written(value.strip(), "{", "}")
    if not isinstance(value, Mapping):
        raise NoSuchValue
    return value


def _strings_in(text: str, *, splits_commas: bool) -> list[str]:
    if (found := _written_strings(text)) is not None:
        return found
    if text.strip().lower() == "null":
        return []
    if not splits_commas:
        return [text]
    inner = text.strip()
    if inner.startswith("[") and inner.endswith("]"):
        inner = inner[1:-1]
    return [part.strip().strip("\"'`") for part in inner.split(",")]


def _written_strings(text: str) -> list[str] | None:
    """The texts of a list that a text is; None where it is none, such as `[id].tsx`."""
    found = _read_written(text.strip(), "[", "]")
    if not isinstance(found, list):
        return None
    return [read_text(item) for item in found if item is not None]


def _read_written(text: str, opening: str, closing: str) -> Any:
    """The list or object that a text writes in JSON, or as Python shows it; None where it writes none."""
    if not (text.startswith(opening) and text.endswith(closing)):
        return None
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return read(text)
    return None


# The largest number that every JSON reader keeps exact.
_MAX_INTEGER = 2**53
# Frequent mistakes in argument names, and their meanings; no other name is guessed.
_ALIASES = {
    "top_k": "k",
    "top_n": "k",
    "limit": "k",
    "type": "memory_type",
    "tag": "tags",
    "repo": "project",
    "importance": "importance_score",
    "memory_id": "id",
    "text": "content",
    "version": "expected_version",
    "path": "source_file",
    "file": "source_file",
}

_EXAMPLES = {"start": '"2026-01-01", "end": "2026-01-31"', "tags": '["auth"]', "source_file": '"src/a.py", "line": 12'}
# Examples of lists of strings, for errors.
_LIST_EXAMPLES = {"tags": '["auth", "billing"]', "project": '["shop"]', "kinds": '["code", "memory"]'}
_MAX_SHOWN_CHARACTERS = 60

R = TypeVar("R")


def parse_request(operation: str, request: type[R], values: object) -> R:
    """Parse a request. Raises `InvalidRequest`, which names the operation, the argument and the remedy."""
    kind: type = request
    args = Arguments(operation, values, accepted_arguments(kind))
    return request(**{key: _read_value(args, key, *each) for key, each in arguments_of(kind).items()})


def _read_value(args: Arguments, key: str, hint: Any, declared: Argument) -> Any:
    if declared.properties is not None and declared.properties is hint:
        return args.request(key, declared.properties, takes_beside=declared.beside)
    if hint is str:
        return (
            (args.choice(key, declared.choices, required=declared.required) or "")
            if declared.choices
            else args.globs(key)
            if declared.is_glob
            else args.text(key, required=declared.required)
        )
    if hint == str | None:
        return args.text(key) if args.raw(key) is not None else None
    if hint == int | None:
        return args.integer(key, least=declared.least)
    if hint == float | None:
        return args.fraction(key)
    if hint is bool:
        return args.flag(key)
    if hint == bool | str:
        return args.flag_or_text(key)
    if hint == tuple[str, ...]:
        return args.strings(key)
    if hint == Mapping[str, Any]:
        return args.mapping(key)
    if hint == Mapping[str, Any] | None:
        return args.mapping(key, declared.properties) if not is_absent(args.raw(key)) else None
    assert hint is Any, f"{key}: {hint} is no type of an argument"
    return args.raw(key)


def names_argument(request: type, values: Mapping[str, Any], name: str) -> bool:
    """Whether the caller gave an argument a value, under its name or an alias; null and an empty text are none."""
    known = accepted_arguments(request)
    return any(
        argument_named(str(key).strip(), known) == name and not is_absent(value) and value != []
        for key, value in values.items()
    )


def argument_named(written: str, known: Mapping[str, tuple[Any, Argument]]) -> str:
    """The argument that a caller means by a name: one of `known`, an alias, or what a frequent mistake stands for."""
    if written in known:
        return written
    own = (name for name, (_, declared) in known.items() if written in declared.aliases)
    return next(own, _ALIASES.get(written, written))


# Some clients (Cursor) give each tool that takes no argument this one, and a value that says nothing.
_DUMMY = "random_string"


class Arguments:
    """Reads typed values out of a JSON object. Every error names the operation, the argument and the remedy."""

    def __init__(self, operation: str, values: object, known: Mapping[str, tuple[Any, Argument]]) -> None:
        """Raises `InvalidRequest` where `values` is no object or has a key that is not in `known`."""
        self._operation = operation
        try:
            values = read_object(values)
        except NoSuchValue:
            raise InvalidRequest(
                f"{operation} takes one JSON object, not {_name_kind(values)}; known keys: {', '.join(known)}"
            ) from None
        self._values: dict[str, Any] = {}
        self._written: dict[str, str] = {}
        for key, value in values.items():
            written = str(key).strip()
            name = argument_named(written, known)
            if written == _DUMMY and name not in known:
                continue
            if name not in known:
                near = nearest_text(nearest(written, known))
                raise InvalidRequest(
                    f"{operation} has no argument {key!r}; {near}it takes {', '.join(known) or 'none'}"
                )
            if value is not None:
                self._values[name] = value
                self._written[name] = written

    def text(self, key: str, *, required: bool = False) -> str:
        """A string, empty where it is absent; a required one must not be blank."""
        value = self._read_as(key, read_text, "a string", "")
        if required and not value.strip():
            raise InvalidRequest(f"{self._operation} needs {key!r}, a string that is not blank")
        return without_surrogates(value)

    def globs(self, key: str) -> str:
        """A text of globs with commas between, empty where it is absent; or a list of them."""
        value = self._values.get(key)
        if isinstance(value, list | tuple) or (isinstance(value, str) and value.lstrip().startswith('["')):
            return ",".join(self.strings(key))
        return "" if is_absent(value) else self.text(key)

    def integer(self, key: str, *, least: int | None = None) -> int | None:
        """A whole number, or None where it is absent."""
        number = self._read_as(key, _read_integer, "a whole number, such as 10")
        if number is None:
            return None
        if least is not None and number < least:
            raise InvalidRequest(f"{self._operation}: {self._written_name(key)} = {number} is below {least}")
        if abs(number) > _MAX_INTEGER:
            raise InvalidRequest(f"{self._operation}: {self._written_name(key)} is beyond {_MAX_INTEGER:,}")
        return number

    def fraction(self, key: str) -> float | None:
        """A number from 0 to 1, or None where it is absent."""
        number = self._read_as(key, read_number, "a number from 0 to 1, such as 0.5")
        if number is None:
            return None
        if not 0 <= number <= 1:
            raise InvalidRequest(f"{self._operation}: {self._written_name(key)} = {number} is not between 0 and 1")
        return float(number)

    def flag(self, key: str) -> bool:
        """True or false; false where it is absent."""
        return self._read_as(key, read_flag, "true or false") or False

    def flag_or_text(self, key: str) -> bool | str:
        """True, false or a string that is neither, empty where it is absent."""
        value = self._values.get(key)
        word = value.strip().lower() if isinstance(value, str) else ""
        return word == "true" if word in ("true", "false") else (value if isinstance(value, bool) else self.text(key))

    def strings(self, key: str) -> tuple[str, ...]:
        """A list of strings without blanks and repeats; a single string counts as a list of one, or of tags."""
        example = _LIST_EXAMPLES.get(key, '["...", "..."]')
        read = partial(read_strings, splits_commas=key == "tags")
        found = self._read_as(key, read, f"a list of strings, such as {example}")
        return tuple(dict.fromkeys(without_surrogates(item.strip()) for item in found if item.strip()))

    def choice(self, key: str, choices: Sequence[str], *, required: bool = False) -> str | None:
        """One of `choices`, in any case, or None where it is absent; a required one must not be."""
        value = self._values.get(key)
        try:
            word = read_word(value)
        except NoSuchValue:
            word = ""
        if word is None:
            if required:
                raise InvalidRequest(f"{self._operation} needs {key!r}, one of {', '.join(choices)}")
            return None
        if word not in choices:
            shown = value if isinstance(value, str) else json.dumps(value, default=str)[:_MAX_SHOWN_CHARACTERS]
            raise InvalidRequest(
                f"{self._operation}: {self._written_name(key)} = {shown!r} is not one of {', '.join(choices)}"
            )
        return word

    def raw(self, key: str) -> Any:
        """The value as it was given, or None."""
        return self._values.get(key)

    def request(self, key: str, properties: type, *, takes_beside: bool) -> object:
        """The request that an object holds; if it `takes_beside`, also what the object lacks and stands beside it."""
        given = {name: value for name, value in self.mapping(key, properties).items() if value is not None}
        known = arguments_of(properties) if takes_beside else ()
        beside = {name: value for name, value in self._values.items() if name in known}
        return parse_request(f"{self._operation} {key}", properties, beside | given)

    def mapping(self, key: str, properties: type | None = None) -> Mapping[str, Any]:
        """A JSON object, empty where it is absent; an error names the keys of `properties`."""
        keys = list(arguments_of(properties)) if properties else []
        example = f'{{"{keys[0]}": {_EXAMPLES.get(keys[0], "...")}}} (keys: {", ".join(keys)})' if keys else "{}"
        return self._read_as(key, read_object, f"an object, such as {example}")

    def _written_name(self, key: str) -> str:
        """An argument's name as the caller wrote it."""
        return self._written.get(key, key)

    def _read_as(self, key: str, read: Callable[[object], R], wanted: str, absent: object = None) -> R:
        value = self._values.get(key, absent)
        try:
            return read(value)
        except NoSuchValue:
            mismatch = describe_mismatch(self._written_name(key), wanted, value)
            raise InvalidRequest(f"{self._operation}: {mismatch}") from None


def _read_integer(value: object) -> int | None:
    number = read_number(value)
    if isinstance(number, float):
        raise NoSuchValue
    return number


def describe_mismatch(name: str, wanted: str, value: object) -> str:
    """The argument whose value does not fit, what is wanted and what came."""
    shown = json.dumps(value, ensure_ascii=False, default=str)
    if len(shown) > _MAX_SHOWN_CHARACTERS:
        shown = shown[:_MAX_SHOWN_CHARACTERS] + "…"
    return f"{name} must be {wanted}, not {_name_kind(value)} ({shown})"


def _name_kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return "null" if value is None else names.get(type(value), type(value).__name__)
