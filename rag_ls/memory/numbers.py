"""Numbers in English text, in digits or in words."""

from __future__ import annotations

import re

# Versions as well: v2, V1.4.
_DIGITS = re.compile(r"(?<![\w.])v?(\d+(?:[.,:]\d+)*)(?=\D|$)", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+")
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
_WORDS = re.compile(rf"\b(?:{_WORD})(?:(?:[\s-]+(?:and\s+)?)(?:{_WORD}))*\b", re.IGNORECASE)


def numbers_in(text: str) -> dict[str, str]:
    """The numbers of a text as they are written, by their value in digits: {"15": "fifteen"}."""
    found = {_ungrouped(number): number for number in _DIGITS.findall(text)}
    for match in _WORDS.finditer(text):
        found.setdefault(str(_value(match[0])), match[0])
    return found


def is_number(term: str) -> bool:
    """Whether a word is a number or a part of one."""
    return term.isdigit() or term in _VALUES or term in _FACTORS


def _ungrouped(number: str) -> str:
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
