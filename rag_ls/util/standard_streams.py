"""The standard streams take and give any text, whatever the system calls its encoding."""

from __future__ import annotations

import sys
from typing import Any


def take_any_text(platform: str = sys.platform) -> None:
    """Have every text be read and written.

    Programs that start us speak UTF-8, but Windows gives a pipe the code page of former times. Where a terminal's encoding
    lacks a character, a question mark stands for it: an answer must not end in an error because of one.
    """
    for name, errors in (("stdin", "strict"), ("stdout", "replace"), ("stderr", "backslashreplace")):
        stream: Any = getattr(sys, name)
        if stream is None or not hasattr(stream, "reconfigure"):
            continue
        if platform == "win32" and not stream.isatty():
            stream.reconfigure(encoding="utf-8", errors=errors)
        elif name == "stdout":
            stream.reconfigure(errors=errors)
