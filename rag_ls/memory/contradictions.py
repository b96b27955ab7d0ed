"""Finds memories on the same subject that say the opposite, or give another value. They are reported, never merged."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from rag_ls.memory.alternatives import find_alternatives
from rag_ls.memory.numbers import is_number, numbers_in, quantities_in, without_quantities
from rag_ls.model import Memory
from rag_ls.search.terms import content_terms
from rag_ls.storage import stem
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_NEGATION = lazy_pattern(
    r"\b(?:no longer|not|never|no|nobody|nothing|none|without|cannot|stop(?:ped|s)?|avoid(?:s|ed)?|forbid(?:s|den)?|"
    r"deprecated|removed?|dropped|abandoned|discontinued|disabled?|obsolete|instead of|replaced by|moved away from|"
    # German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Norwegian, Russian.
    r"nicht|nie(?:mals|mand)?|kein(?:e[mnrs]?)?|ohne|ne|pas|jamais|aucune?|sans|nunca|ningún|ninguna?|sin|non|mai|"
    r"nessun[ao]?|senza|não|nenhum|sem|niet|nooit|geen|zonder|inte|aldrig|utan|ikke|aldri|uten|uden|не|никогда|нет|без)\b|"
    r"n['\u2019]t\b|\bn['\u2019](?=\w)|[不没未]",
    re.IGNORECASE,
)
_OPPOSITES = (
    ("enable", "disable"), ("enabled", "disabled"), ("allow", "forbid"), ("allowed", "forbidden"), ("always", "never"),
    ("sync", "async"), ("synchronous", "asynchronous"), ("tabs", "spaces"), ("before", "after"), ("on", "off"),
    ("true", "false"), ("required", "optional"), ("mandatory", "optional"), ("ascending", "descending"),
    ("public", "private"), ("mutable", "immutable"), ("safe", "unsafe"), ("started", "stopped"), ("up", "down"),
    ("accept", "reject"), ("accepted", "rejected"), ("included", "excluded"), ("monolith", "microservices"),
)  # fmt: skip
# If a text has one of these words, the same words in another order may say the opposite.
_TURNING = frozenset("not never before after from to over than instead rather into by on imports calls".split())
# Two texts are on the same subject if they share at least this part of the shorter one's words.
_MIN_SHARED = 0.5
_MIN_SHARED_BY_NEGATION = 0.6


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories that cannot both be true, and the reason."""

    one: Memory
    other: Memory
    reason: str


@dataclass(frozen=True, slots=True)
class _Claim:
    """The words, negations and numbers of a text."""

    tokens: frozenset[str]
    words: frozenset[str]
    """The content words, without negations and numbers."""
    negations: tuple[str, ...]
    numbers: Mapping[str, str]
    """By their value, as they are written: "fifteen" and "15" are the same number. Without those of quantities."""
    quantities: Mapping[tuple[str, float], str]
    """By base unit and value: "60 s" and "one minute" are the same."""
    order: tuple[str, ...]
    """The tokens as they come."""


def find_contradiction(one: Memory, other: Memory) -> Contradiction | None:
    """Find the contradiction between two memories that are close in meaning; None if there is none.

    A heuristic: only one of them negates, they use opposite words, or they give different numbers, while they share
    most of their other words.
    """
    first, second = _read_claim(one.content), _read_claim(other.content)
    opposed = _find_opposites(first.tokens, second.tokens)
    words, others = first.words.difference(opposed), second.words.difference(opposed)
    # "Use tabs" and "use spaces" contradict each other though they share no other words.
    if not opposed and not (words and others):
        return None
    smaller, larger = sorted((len(words), len(others)))
    shared = len(words & others) / smaller if smaller else 1.0
    # A negation may be about a subject that only one of them has.
    same_subject = shared >= _MIN_SHARED_BY_NEGATION and len(words & others) >= _MIN_SHARED * larger
    reason = _explain(first, second, opposed, same_subject=same_subject) if shared >= _MIN_SHARED else ""
    reason = reason or _other_value(one.content, other.content, first, second)
    return Contradiction(one, other, reason) if reason else None


def _other_value(one: str, other: str, first: _Claim, second: _Claim) -> str:
    """Another quantity of the same unit, or another choice: the unit or the group of choices is the common subject."""
    units = {unit for unit, _ in first.quantities} & {unit for unit, _ in second.quantities}
    for unit in sorted(units):
        left = {key: text for key, text in first.quantities.items() if key[0] == unit}
        right = {key: text for key, text in second.quantities.items() if key[0] == unit}
        if not left.keys() & right.keys():
            return f"{', '.join(left.values())} against {', '.join(right.values())}"
    if bool(first.negations) == bool(second.negations) and (found := find_alternatives(one, other)):
        return f"{found[0]!r} against {found[1]!r}"
    return ""


def _explain(one: _Claim, other: _Claim, opposed: tuple[str, ...], *, same_subject: bool) -> str:
    if same_subject and bool(one.negations) != bool(other.negations):
        return f"one of them says {', '.join(map(repr, one.negations or other.negations))}"
    if opposed:
        return f"{opposed[0]!r} against {opposed[1]!r}"
    if one.tokens == other.tokens and one.order != other.order and one.tokens & _TURNING:
        return f"the same words in another order, around {', '.join(map(repr, sorted(one.tokens & _TURNING)))}"
    if (gone := one.numbers.keys() - other.numbers) and (come := other.numbers.keys() - one.numbers):
        return f"{_word_numbers(gone, one)} against {_word_numbers(come, other)}"
    return ""


def _word_numbers(numbers: Collection[str], claim: _Claim) -> str:
    return ", ".join(claim.numbers[number] for number in sorted(numbers))


def _find_opposites(one: frozenset[str], other: frozenset[str]) -> tuple[str, ...]:
    """The first pair of opposite words of which each text has one; empty for none."""
    gone, come = one - other, other - one
    for left, right in _OPPOSITES:
        for first, second in ((left, right), (right, left)):
            if first in gone and second in come:
                return first, second
    return ()


# Each memory is compared with many others.
@lru_cache(maxsize=16384)
def _read_claim(content: str) -> _Claim:
    tokens = frozenset(re.findall(r"\w+", content.lower()))
    return _Claim(
        tokens=tokens,
        words=frozenset(stem(term) for term in content_terms(_NEGATION.sub(" ", content)) if not is_number(term)),
        negations=tuple(sorted({match[0].lower() for match in _NEGATION.finditer(content)})),
        numbers=numbers_in(without_quantities(content)),
        quantities=quantities_in(content),
        order=tuple(re.findall(r"\w+", content.lower())),
    )
