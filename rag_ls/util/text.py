"""Makes text safe for storage, tokenizers and JSON."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from rag_ls.util.patterns import lazy_pattern


def without_surrogates(text: str) -> str:
    """The text with lone surrogates, which no encoding can hold, as question marks.

    JSON may carry them (an editor that cuts an emoji in half sends one).
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


LINE_END = lazy_pattern(r"\r\n|\n|\r")


def end_lines_in_lf(text: bytes) -> bytes:
    """The text with LF for each CRLF and CR."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


MARK = "\ufeff"
"""The byte order mark, which files of UTF-8 may begin with."""


def utc_stamp(at: datetime) -> str:
    """A time as records and answers hold it: RFC 3339, UTC, milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def content_hash(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, in hex; a lone surrogate is encoded as three bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends: LF, CRLF or CR, and nothing else, as editors count them."""
    return LINE_END.split(text)


def column_in_bytes(line: str, column: int) -> int:
    """A column of a line in bytes, as grep and vim count, from one in characters; both from 1."""
    return len(line[: column - 1].encode("utf-8", "surrogatepass")) + 1


def count_of(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 file", "2,000 memories". Without a `plural`, it is the regular one of English."""
    if number == 1:
        return f"1 {noun}"
    regular = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {plural or regular}"
