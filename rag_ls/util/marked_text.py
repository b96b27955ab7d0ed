"""Decodes text files that may begin with a byte-order mark, as editors and shells of Windows write them."""

from __future__ import annotations

import codecs

# UTF-32 comes first, because its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode_marked(data: bytes, *, errors: str = "strict") -> str:
    """The text of some bytes without its byte-order mark, which names the encoding; without one it is UTF-8.

    Raises `UnicodeDecodeError`, also for NUL characters: that is UTF-16 without a mark, or no text. `errors` is for what
    is no UTF-8.
    """
    encoding = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), "utf-8")
    text = data.decode(encoding, errors if encoding == "utf-8" else "strict")
    if (at := text.find("\0")) >= 0:
        raise UnicodeDecodeError(
            encoding, data, at, at + 1, "a NUL character, so it is no text or UTF-16 without a mark"
        )
    return text
