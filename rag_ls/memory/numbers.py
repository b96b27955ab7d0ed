"""Numbers in English text, in digits or in words."""

from __future__ import annotations

import re

from rag_ls.util.patterns import lazy_pattern

# Versions as well: v2, V1.4.
_DIGITS = lazy_pattern(r"(?<![\w.])v?(\d+(?:[.,:]\d+)*)(?=\D|$)", re.IGNORECASE)
_GROUPED = lazy_pattern(r"\d{1,3}(?:,\d{3})+")
_VALUES = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen".split()
    )
}
_VALUES |= {
    word: 10 * tens for tens, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_VALUES |= {"once": 1, "twice": 2}
_FACTORS = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_WORD = "|".join((*_VALUES, *_FACTORS))
_WORDS = lazy_pattern(rf"\b(?:{_WORD})(?:(?:[\s-]+(?:and\s+)?)(?:{_WORD}))*\b", re.IGNORECASE)


def numbers_in(text: str) -> dict[str, str]:
    """The numbers of a text as they are written, by their value in digits: {"15": "fifteen"}."""
    found = {_drop_grouping(number): number for number in _DIGITS.findall(text)}
    for match in _WORDS.finditer(text):
        found.setdefault(str(_value(match[0])), match[0])
    return found


# Base units: seconds and bytes; rates are per second, written as they are.
_UNITS = {
    **dict.fromkeys(("ms", "millisecond"), ("s", 0.001)), **dict.fromkeys(("s", "sec", "second"), ("s", 1.0)),
    **dict.fromkeys(("min", "minute"), ("s", 60.0)), **dict.fromkeys(("h", "hr", "hour"), ("s", 3600.0)),
    "day": ("s", 86_400.0), "week": ("s", 604_800.0), "month": ("s", 2_592_000.0), "year": ("s", 31_536_000.0),
    **dict.fromkeys(("kb", "kib", "kilobyte"), ("B", 1e3)), **dict.fromkeys(("mb", "mib", "megabyte"), ("B", 1e6)),
    **dict.fromkeys(("gb", "gib", "gigabyte"), ("B", 1e9)), **dict.fromkeys(("%", "percent"), ("%", 1.0)),
}  # fmt: skip
_QUANTITY = lazy_pattern(
    rf"(?P<number>(?<![\d.,])\d+(?:[.,]\d+){{0,4}}|\b(?:{_WORD})(?:[\s-]{{1,3}}(?:and\s+)?(?:{_WORD})){{0,5}}|\b(?:an?|one)(?:\s+(?:full|whole|single))?)"
    rf"[\s-]*(?P<unit>{'|'.join(sorted((re.escape(unit) for unit in _UNITS), key=len, reverse=True))})s?(?![\w])",
    re.IGNORECASE | re.ASCII,
)
_DAILY = {"hourly": 3600.0, "daily": 86_400.0, "weekly": 604_800.0, "monthly": 2_592_000.0, "yearly": 31_536_000.0}


def quantities_in(text: str) -> dict[tuple[str, float], str]:
    """The quantities of a text as they are written, by (base unit, value): {("s", 60.0): "one minute"}."""
    found: dict[tuple[str, float], str] = {}
    for match in _QUANTITY.finditer(text):
        unit, factor = _UNITS[match["unit"].lower()]
        found.setdefault((unit, round(_amount(match["number"]) * factor, 6)), match[0])
    for word in re.findall(r"\w+", text.lower()):
        if word in _DAILY:
            found.setdefault(("s", _DAILY[word]), word)
    return found


def without_quantities(text: str) -> str:
    """The text without its quantities."""
    return _QUANTITY.sub(" ", text)


def _amount(number: str) -> float:
    if not number[0].isdigit():
        return 1.0 if re.match(r"an?\b", number, re.IGNORECASE) else float(_value(number))
    plain = _drop_grouping(number)
    return float(plain.replace(",", ".")) if plain.count(".") + plain.count(",") <= 1 else 0.0


def is_number(term: str) -> bool:
    """Whether a word is a number or a part of one."""
    return term.isdigit() or term in _VALUES or term in _FACTORS


def _drop_grouping(number: str) -> str:
    return number.replace(",", "") if _GROUPED.fullmatch(number) else number


def _value(words: str) -> int:
    """ "two hundred and five thousand" is 205,000."""
    total = current = 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word in _VALUES:
            current += _VALUES[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _FACTORS:
            total += max(current, 1) * _FACTORS[word]
            current = 0
    return total + current
