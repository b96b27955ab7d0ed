"""Folds texts to the letters that people type: without accents, full-width forms and marks that nobody sees."""

from __future__ import annotations

import re
import unicodedata

# Latin and Greek letters with their accents, and ё. Other marks tell letters apart: が is not か, й is not и.
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff\u0386-\u03ce\u1f00-\u1fffЁёς]")
# Marks that readers leave out: accents alone, vowel points of Hebrew and Arabic, and what has no width.
_LEFT_OUT = re.compile(
    "[\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]"
)


def fold_text(text: str) -> str:
    """A text without accents, in the usual width and composed; case is kept.

    >>> fold_text("Gro\u0308ße")
    'Große'
    """
    if text.isascii():
        return text
    return _LEFT_OUT.sub("", _ACCENTED.sub(_base, unicodedata.normalize("NFKC", text)))


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


def _base(letter: re.Match[str]) -> str:
    return "\u03c3" if letter[0] == "\u03c2" else unicodedata.normalize("NFD", letter[0])[0]
