"""Standard JSON: written so that any text file can hold it, and read safely from untrusted files."""

from __future__ import annotations

import json
from typing import NoReturn

from rag_ls.util.text import without_surrogates


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")


# Created once, because a large file holds a value in each line.
_READER = json.JSONDecoder(parse_constant=_refuse_constant)
_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def dump(value: object) -> str:
    """A value as one line of JSON; lone surrogates, which UTF-8 files cannot hold, are escaped."""
    text = _WRITER.encode(value)
    return text if text == without_surrogates(text) else json.dumps(value, allow_nan=False)


def parse(text: str) -> object:
    """Parse JSON. Raises `ValueError`, which names the error and its place."""
    try:
        value: object = _READER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        ends = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        raise ValueError(f"{error}{' (is it cut off?)' if ends else ''}") from None
    return value
