"""Memories that speak of the same and say the opposite, or another value: reported, never merged away."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_ls.memory.words import content_terms
from rag_ls.model import Memory

_NEGATION = re.compile(
    r"\b(?:no longer|not|never|no|nobody|nothing|none|without|cannot|stop(?:ped|s)?|avoid(?:s|ed)?|forbid(?:s|den)?|"
    r"deprecated|removed?|dropped|abandoned|discontinued|disabled?|obsolete|instead of|replaced by|moved away from)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
# Versions as well: v2, V1.4.
_NUMBER = re.compile(r"(?<![\w.])v?(\d+(?:[.,:]\d+)*)(?=\D|$)", re.IGNORECASE)
_OPPOSITES = (
    ("enable", "disable"), ("enabled", "disabled"), ("allow", "forbid"), ("allowed", "forbidden"), ("always", "never"),
    ("sync", "async"), ("synchronous", "asynchronous"), ("tabs", "spaces"), ("before", "after"), ("on", "off"),
    ("true", "false"), ("required", "optional"), ("mandatory", "optional"), ("ascending", "descending"),
    ("public", "private"), ("mutable", "immutable"), ("safe", "unsafe"), ("started", "stopped"), ("up", "down"),
    ("accept", "reject"), ("accepted", "rejected"), ("included", "excluded"), ("monolith", "microservices"),
)  # fmt: skip
# So much of the shorter one's words the two must share to speak of the same.
_SHARED = 0.5


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories that cannot both hold, and what says so."""

    one: Memory
    other: Memory
    reason: str


def contradiction(one: Memory, other: Memory) -> Contradiction | None:
    """Whether two memories that are close in meaning contradict each other.

    A rule of thumb over words: one of them negates, they use opposite words, or they give other numbers; while they
    share most of their other words.
    """
    opposed = _opposed(one.content, other.content)
    words, others = (_words(item.content).difference(opposed) for item in (one, other))
    # "Use tabs" and "use spaces" share nothing else, and need not.
    if not opposed and not (words and others):
        return None
    if len(words & others) < _SHARED * min(len(words), len(others)):
        return None
    reason = _reason(one.content, other.content, opposed)
    return Contradiction(one, other, reason) if reason else None


def _reason(one: str, other: str, opposed: tuple[str, ...]) -> str:
    negations = [sorted({match[0].lower() for match in _NEGATION.finditer(text)}) for text in (one, other)]
    if bool(negations[0]) != bool(negations[1]):
        return f"one of them says {', '.join(map(repr, negations[0] or negations[1]))}"
    if opposed:
        return f"{opposed[0]!r} against {opposed[1]!r}"
    numbers = [set(_NUMBER.findall(text)) for text in (one, other)]
    if (gone := numbers[0] - numbers[1]) and (come := numbers[1] - numbers[0]):
        return f"{', '.join(sorted(gone))} against {', '.join(sorted(come))}"
    return ""


def _opposed(one: str, other: str) -> tuple[str, ...]:
    """The first pair of opposite words of which each text has one; empty for none."""
    words = [set(re.findall(r"\w+", text.lower())) for text in (one, other)]
    for left, right in _OPPOSITES:
        for first, second in ((left, right), (right, left)):
            if first in words[0] - words[1] and second in words[1] - words[0]:
                return first, second
    return ()


def _words(content: str) -> set[str]:
    return {term for term in content_terms(_NEGATION.sub(" ", content)) if not term.isdigit()}
