"""Decodes texts in any usual encoding: by their mark, as UTF-8, as declared outside or inside, else by what their bytes look like.

Valid UTF-8 costs no more than decoding it.
"""

# ruff: noqa: RUF001

from __future__ import annotations

import codecs
import json
import re
from typing import Any

from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

UTF_8, _MARKED_UTF_8 = "utf-8", "utf-8-sig"
# UTF-32 comes first, because its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, _MARKED_UTF_8),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Ways in which files name their own encoding: PEP 263 and its kin in Ruby, Emacs and Vim, then XML, HTML and CSS.
_COOKIE = lazy_pattern(
    rb"""(?:coding[:=]|\bencoding\s*=\s*["']|\bcharset\s*=\s*["']?|@charset\s*["'])\s*([-\w.]+)""", re.IGNORECASE
)
_COOKIE_BYTES = 1000
_JAPANESE_IN_ASCII = b"\x1b$"
_ESCAPED = lazy_pattern("[\udc80-\udcff]")
_NON_ASCII = lazy_pattern("[^\x00-\x7f]")
_CONTROLS = lazy_pattern(rb"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_MORE_CONTROLS = lazy_pattern("[\x80-\x9f]")
_MAX_CONTROLS_SHARE, _MAX_UNKNOWN_SHARE, _MAX_ACCENTED_SHARE = 0.01, 0.3, 0.4
# The encodings that can be told apart by their bytes; a few thousand bytes suffice.
_DETECTED = (
    "cp1252", "cp1251", "cp1250", "koi8_r", "cp866", "gb18030", "cp932", "euc_jp", "cp949", "big5", "cp1253", "cp1254",
    "cp1255", "cp1256", "cp874", "iso8859_2", "iso8859_9",
)  # fmt: skip
_MAX_LOOKED_AT_BYTES = 20_000
# Common letters and marks of texts in these encodings. In the other encodings, their bytes are rare letters.
_USUAL = {
    "cp1252": "àâäáãåæçèéêëìíîïñòóôöõøœùúûüÀÂÄÁÃÅÆÇÈÉÊËÍÎÏÑÓÔÖÕØŒÙÚÛÜß¿¡«»°€’“”–—…§ªº£©®±²³µ·×",
    "cp1250": "ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžÁČĎÉĚÍŇŘŠŤÚŮÝŽőűŐŰöüäÖÜÄßôĺľŕâîăşţ„”“’–—…«»°§©",
    "cp1254": "çğıöşüâîûÇĞİÖŞÜ’“”–—…°§©",
    "iso8859_2": "ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžÁČĎÉĚÍŇŘŠŤÚŮÝŽőűŐŰöüäÖÜÄßôĺľŕâîăşţ°§",
}


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, and the encoding that its bytes were read in; empty where some bytes fit none and are replaced."""

    text: str
    encoding: str


def decode_text(data: bytes, declared: str = "") -> Decoded | None:
    """The text of some bytes; None for what is no text, or in no encoding that can be told.

    `declared` is the encoding that somebody named for texts that are not UTF-8. Each byte that does not fit becomes U+FFFD.
    """
    encoding = _find_mark(data)
    # A mark of UTF-8 stays in the text.
    if encoding not in ("", _MARKED_UTF_8):
        return _without_nul(data, encoding)
    if b"\0" in data:
        return _without_nul(data, declared or _unmarked_utf16(data))
    try:
        text = data.decode(UTF_8)
    except UnicodeDecodeError:
        return _decode_other(data, declared)
    if _JAPANESE_IN_ASCII in data and (japanese := _strictly(data, "iso2022_jp")) is not None:
        return Decoded(japanese, "iso2022_jp")
    return Decoded(text, UTF_8)


def _find_mark(data: bytes) -> str:
    """The encoding that a byte-order mark names; empty without one."""
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), "")


def looks_like_text(data: bytes) -> bool:
    """Whether bytes hold hardly any control characters."""
    return b"\0" not in data and len(_CONTROLS.findall(data)) <= _MAX_CONTROLS_SHARE * len(data)


def is_encoding(name: str) -> bool:
    """Whether Python knows a text encoding of this name."""
    try:
        return codecs.lookup(name)._is_text_encoding
    except LookupError:
        return False


def _decode_other(data: bytes, declared: str) -> Decoded | None:
    """The text of bytes that are not valid UTF-8."""
    if declared and is_encoding(declared):
        return Decoded(data.decode(declared, "replace"), declared)
    if not looks_like_text(data):
        return None
    cookie = _COOKIE.search(data[:_COOKIE_BYTES])
    name = cookie[1].decode("ascii", "replace") if cookie else ""
    if is_encoding(name) and (text := _strictly(data, name)) is not None:
        return Decoded(text, codecs.lookup(name).name)
    replaced = data.decode(UTF_8, "replace")
    bad = len(_ESCAPED.findall(data.decode(UTF_8, "surrogateescape")))
    if len(_NON_ASCII.findall(replaced)) - replaced.count("\ufffd") >= 2 * bad:
        return Decoded(replaced, UTF_8)
    encoding = _detect(data)
    if encoding and (text := _strictly(data, encoding)) is not None:
        return Decoded(text, encoding)
    return Decoded(replaced, "") if bad <= _MAX_UNKNOWN_SHARE * len(data) else None


def _detect(data: bytes) -> str:
    """The encoding that bytes look like; empty if they look like none."""
    # Imported only for such bytes: it takes a tenth of a second.
    from charset_normalizer import from_bytes

    if len(data) > _MAX_LOOKED_AT_BYTES:
        lines = [line for line in data.split(b"\n") if not line.isascii()]
        data = b"\n".join(lines)[:_MAX_LOOKED_AT_BYTES].rpartition(b"\n")[0] or data
    found = from_bytes(data, cp_isolation=list(_DETECTED)).best()
    encoding = found.encoding if found else ""
    return _tell_latin_apart(data) if encoding in ("", *_USUAL, "iso8859_9") else encoding


def _tell_latin_apart(data: bytes) -> str:
    """The encoding of Latin letters in which most of them are usual ones; empty if they are in none, or no Latin letters."""
    words = b" ".join(line for line in data.split(b"\n") if not line.isascii())
    best, most = "", 0
    for encoding, usual in _USUAL.items():
        text = _strictly(words, encoding) or ""
        others = _NON_ASCII.findall(text)
        count = sum(other in usual for other in others)
        is_likely = 2 * count >= len(others) <= _MAX_ACCENTED_SHARE * len(text)
        if count > most and is_likely and not _MORE_CONTROLS.search(text):
            best, most = encoding, count
    return best


def _unmarked_utf16(data: bytes) -> str:
    """UTF-16 of mostly ASCII has a NUL in every other byte."""
    half = len(data) // 2
    low, high = data[1::2].count(0), data[::2].count(0)
    if half and not len(data) % 2 and max(low, high) > 0.7 * half and min(low, high) == 0:
        return "utf-16-le" if low > high else "utf-16-be"
    return ""


def _without_nul(data: bytes, encoding: str) -> Decoded | None:
    text = data.decode(encoding, "replace") if is_encoding(encoding) else "\0"
    return None if "\0" in text else Decoded(text, encoding)


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, ValueError):
        return None


def decode_marked(data: bytes, *, errors: str = "strict") -> str:
    """The text of some bytes without its byte-order mark, which names the encoding; without one it is UTF-8.

    Raises `UnicodeDecodeError`, also for NUL characters: that is UTF-16 without a mark, or no text. `errors` is for what
    is no UTF-8.
    """
    encoding = _find_mark(data) or UTF_8
    text = data.decode(encoding, errors if encoding == UTF_8 else "strict")
    if (at := text.find("\0")) >= 0:
        raise UnicodeDecodeError(
            encoding, data, at, at + 1, "a NUL character, so it is no text or UTF-16 without a mark"
        )
    return text


# Python's TOML parser takes a time that grows with the square of the number of a key's parts: this many take a second or two.
_MAX_KEY_COST = 10_000_000
_TOO_DEEP = "its values lie too deep in each other"


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises `ValueError`."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises `ValueError`."""
    import tomllib

    if sum(line.count(".") ** 2 for line in text.split("\n") if "." in line) > _MAX_KEY_COST:
        raise ValueError("a key has too many parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
