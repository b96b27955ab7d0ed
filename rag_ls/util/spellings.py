"""Letters with marks, which may be written as one character or as several."""

from __future__ import annotations

import unicodedata


def compose(text: str) -> str:
    """A text with each letter and its marks as one character, where there is one: macOS decomposes names of files."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def spellings_of(text: str) -> tuple[str, ...]:
    """The forms, composed and decomposed, in usual case, in which somebody may have written a word; itself first."""
    if text.isascii():
        return (text,)
    cased = (text, text.lower(), text.upper(), text.capitalize())
    return tuple(
        dict.fromkeys((text, *(unicodedata.normalize(form, each) for each in cased for form in ("NFC", "NFD"))))
    )
