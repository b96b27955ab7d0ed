"""Values as language models write them, made the values that they mean: `"5"`, `"true"`, a list or an object as a text.

Each function returns the value of its type, `ABSENT` where nothing was meant, and raises `NoSuchValue` where the
value has no meaning of that type, or more than one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from rag_ls.util.patterns import lazy_pattern

ABSENT: Final = None
# Texts that stand for no value, in arguments that take no free text.
_NO_VALUE = ("", "null", "none", "undefined")
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")
_PLAIN = lazy_pattern(r"-?\d+(\.\d+)?")
_NUMBER = lazy_pattern(r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,2})?", re.ASCII)
# A text in quotation marks, or a word, as Python prints it. Texts with both kinds of quotation marks or with escapes stay as
# they are.
_PYTHON_PARTS = lazy_pattern(r""""(?:[^"\\]|\\.)*"|'(?P<text>[^'"\\\n]*)'|\b(?P<word>True|False|None)\b""")
_JSON_WORDS = {"True": "true", "False": "false", "None": "null"}


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
        value = _evaluate(value.strip(), "{", "}")
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
    found = _evaluate(text.strip(), "[", "]")
    if not isinstance(found, list):
        return None
    return [read_text(item) for item in found if item is not None]


def _evaluate(text: str, opening: str, closing: str) -> Any:
    """The list or object that a text writes in JSON, or as Python shows it; None where it writes none."""
    if not (text.startswith(opening) and text.endswith(closing)):
        return None
    found = _read_json(text)
    return _read_json(_PYTHON_PARTS.sub(_as_json, text)) if found is None else found


def _as_json(part: re.Match[str]) -> str:
    if part["word"]:
        return _JSON_WORDS[part["word"]]
    return part[0] if part["text"] is None else json.dumps(part["text"])


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
