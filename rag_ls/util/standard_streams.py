"""Lets the standard streams read and write any text, in every encoding of the system."""

from __future__ import annotations

import os
import sys
from typing import Any


def take_any_text(platform: str = sys.platform) -> None:
    """Set the streams up so that no text makes reading or writing fail.

    Programs that start us speak UTF-8, but Windows gives pipes an old code page. Where a terminal's encoding lacks a
    character, a question mark is written.
    """
    for name, errors in (("stdin", "strict"), ("stdout", "replace"), ("stderr", "backslashreplace")):
        stream: Any = getattr(sys, name)
        if stream is None or not hasattr(stream, "reconfigure"):
            continue
        if platform == "win32" and not stream.isatty():
            stream.reconfigure(encoding="utf-8", errors=errors)
        elif name == "stdout":
            stream.reconfigure(errors=errors)


def given_text(word: str) -> str:
    """The text that a word of the command line gives, or standard input where it is `-`, in any usual encoding."""
    return _decode(sys.stdin.buffer.read()) if word == "-" else decode_word(word)


def decode_word(word: str) -> str:
    """A word of the command line; Latin-1 where its bytes are not in the encoding of the system."""
    is_foreign = any("\udc80" <= character <= "\udcff" for character in word)
    return os.fsencode(word).decode("cp1252", "replace") if is_foreign else word


def _decode(data: bytes) -> str:
    # Imported here: relays start without them.
    from rag_ls.util.decoding import decode_text
    from rag_ls.util.text import MARK

    decoded = decode_text(data)
    text = decoded.text if decoded else data.decode("utf-8", "replace")
    return text.removeprefix(MARK).replace("\r\n", "\n")
