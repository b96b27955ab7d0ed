"""JSON as the standard has it, written so that any text file can hold it, and read from hostile hands."""

from __future__ import annotations

import json
from typing import NoReturn

from rag_ls.util.text import without_surrogates


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")


# Made once: there is a value for each line of a large file.
_READER = json.JSONDecoder(parse_constant=_refused)
_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def written(value: object) -> str:
    """A value as one line of JSON; half a surrogate pair, which no file can hold, is written as an escape."""
    text = _WRITER.encode(value)
    return text if text == without_surrogates(text) else json.dumps(value, allow_nan=False)


def parsed(text: str) -> object:
    """The value that a text says. Raises `ValueError`, which says where and what, for all that is no JSON."""
    try:
        value: object = _READER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        ends = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        raise ValueError(f"{error}{' (is it cut off?)' if ends else ''}") from None
    return value
