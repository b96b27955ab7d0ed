"""Finds pairs of rules that contradict each other, where it can be seen: another value for one thing, or a "never" for a "do"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_ls.retrieval.stop_words import IN_CODE
from rag_ls.retrieval.terms import word_stems
from rag_ls.rules.key_rules import paragraphs_in
from rag_ls.rules.scopes import home_of

_COMMANDS = re.compile(
    r"(?i)\b(?:use|uses|prefer|indent\w*|must|always|only|quotes|format\w*|max\w*|limit\w*|length)\b"
)
_VALUES = {
    "indentation": re.compile(r"(?i)\b(tab|space)s?\b"),
    "quotes": re.compile(r"(?i)\b(single|double)[ -]quote"),
    "the package manager": re.compile(r"(?i)(?<![\w`/.-])`?(npm|yarn|pnpm|bun)`?(?= (?:for|as|to)\b|[.,;]|$)"),
    "the line length": re.compile(r"(?i)\bline[ -](?:length|width|limit)\D{0,20}?(\d{2,3})\b"),
}
_NEGATION = re.compile(r"(?i)\b(?:never|not|don['\u2019]t|avoid|forbidden|no|instead of|rather than|over)\b")
_CLAUSE_END = re.compile(r"[.,;:\n]|\b(?:but|and)\b", re.I)
_STOP_STEMS = word_stems(" ".join(IN_CODE))
_PLAIN = frozenset("use must always never not don avoid forbidden no shall only should prefer please".split())
# A rule can be compared if it has at least this many telling words.
_MIN_WORDS = 2
_MAX_COMPARED = 200


@dataclass(frozen=True, slots=True)
class StatedSection:
    """A section of a rule document."""

    path: str
    start_line: int
    text: str


@dataclass(frozen=True, slots=True)
class _Statement:
    path: str
    line: int
    text: str
    about: frozenset[str]
    is_refusal: bool
    values: tuple[str, ...]
    """The one value that it asks for, for each subject of `_VALUES`; empty where it names none, or several."""


def find_contradictions(sections: Sequence[StatedSection]) -> list[str]:
    """A sentence for each contradiction between documents that count for the same files."""
    statements = list(itertools.islice(_read_statements(sections), _MAX_COMPARED))
    pairs = [pair for pair in itertools.combinations(statements, 2) if _count_together(pair[0].path, pair[1].path)]
    found = [said for one, other in pairs if (said := _compare(one, other))]
    return list(dict.fromkeys(found))


def _read_statements(sections: Sequence[StatedSection]) -> Iterator[_Statement]:
    for section in sections:
        for each in paragraphs_in(section.text):
            about = word_stems(each.text) - _STOP_STEMS - _PLAIN
            is_refusal = bool(_NEGATION.search(each.text))
            yield _Statement(
                path=section.path,
                line=section.start_line + each.line,
                text=each.text,
                about=about,
                is_refusal=is_refusal,
                values=_read_values(each.text),
            )


def _count_together(one: str, other: str) -> bool:
    """Whether two documents are for the same files: the folder of one lies in that of the other."""
    homes = [f"{home}/" if home else "" for home in (home_of(one), home_of(other))]
    return one != other and (homes[0].startswith(homes[1]) or homes[1].startswith(homes[0]))


def _compare(one: _Statement, other: _Statement) -> str:
    places = [f"{each.path}:{each.line}" for each in (one, other)]
    for subject, *values in zip(_VALUES, one.values, other.values, strict=True):
        if all(values) and values[0] != values[1]:
            return f"{subject}: {places[0]} says {values[0]}, {places[1]} says {values[1]}"
    if one.is_refusal != other.is_refusal and len(one.about) >= _MIN_WORDS and one.about == other.about:
        refusing, asking = places if one.is_refusal else reversed(places)
        return f"{asking} asks for what {refusing} refuses"
    return ""


def _read_values(text: str) -> tuple[str, ...]:
    commands = bool(_COMMANDS.search(text))
    return tuple(_value_of(text, pattern) if commands else "" for pattern in _VALUES.values())


def _value_of(text: str, pattern: re.Pattern[str]) -> str:
    """The one value that a text asks for; empty where it names none, or several. A refused one is none."""
    values = {match[1].lower() for match in pattern.finditer(text) if not _is_refused(text[: match.start()])}
    return values.pop() if len(values) == 1 else ""


def _is_refused(before: str) -> bool:
    """Whether a word is refused by what stands before it in its clause."""
    last = max((match.end() for match in _NEGATION.finditer(before)), default=-1)
    # "Never use tabs": the verb belongs to the refusal.
    return last >= 0 and not _CLAUSE_END.search(before[last:])
