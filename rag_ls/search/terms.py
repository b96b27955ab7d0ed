"""Texts to words and stems, as questions, names and notes are taken apart.

Identifiers are split and words stemmed in one place, `storage/terms.py`, since the full-text index must do the same.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from pathlib import Path

from rag_ls.storage import identifier_parts, index_terms, split_identifier, stem, words_in
from rag_ls.util.decoding import read_toml
from rag_ls.util.records import dataclass, field

_WORDS = Path(__file__).with_name("words")

# Names for who does something: a `pusher` pushes, an `editor` edits. Shorter words that end so (`user`, `order`) are others, and
# so are those in other letters and `or` (an `author` is no auth).
_DOER_ENDINGS, _MIN_DOER_CHARACTERS = ("er", "tor"), 6
# A folder does not fold.
_NO_DOERS = frozenset("broker corner docker folder former header letter master matter".split())


def words_of(text: str) -> tuple[str, ...]:
    """The lower-case words of a text in order; identifiers are taken apart."""
    return tuple(part for word in words_in(text) for part in identifier_parts(word))


@lru_cache(maxsize=65536)
def word_stems(text: str) -> frozenset[str]:
    """The stems of the words in an identifier, a symbol or a path; identifiers are taken apart."""
    return frozenset(map(stem, words_of(text)))


def name_stems(name: str, asked: AbstractSet[str]) -> frozenset[str]:
    """As `word_stems`, but for a word that names who does something, the stem of its verb if only that is `asked`."""
    stems, doers = word_stems(name), _doers_in(name)
    # Called for every candidate, of which most hold no such verb.
    if not doers or asked.isdisjoint(doers):
        return stems
    asked_for = {verb: doer for verb, doer in doers.items() if verb in asked and doer not in asked}
    return stems.difference(asked_for.values()).union(asked_for)


@lru_cache(maxsize=65536)
def _doers_in(name: str) -> Mapping[str, str]:
    """The stems of the words in a name that may name who does something, by the stems of their verbs."""
    long = [word for word in words_of(name) if len(word) >= _MIN_DOER_CHARACTERS]
    doers = [word for word in long if word.endswith(_DOER_ENDINGS) and word not in _NO_DOERS]
    return {stem(verb): stem(word) for word in doers for verb in _find_verbs(word[:-2])}


def _find_verbs(beginning: str) -> Sequence[str]:
    """The verbs that a word without `er` may be made of: `pars` of parse, `logg` of log."""
    is_doubled = beginning[-1] == beginning[-2] and beginning[-1] not in "ls"
    return beginning[:-1] if is_doubled else beginning, f"{beginning}e"


def term_stems(text: str) -> set[str]:
    """The stems of the terms that the index has of a text: the parts of identifiers, and the whole of each."""
    return {stem(term) for word in words_in(text) for term in index_terms(word)}


def note_stems(text: str) -> set[str]:
    """The stems of all terms that a note has in the index."""
    return {stem(term) for word in words_in(text) for term in (*_note_terms_of(word), *index_terms(word))}


def note_terms(text: str) -> list[str]:
    """All terms of a note in order, folded as in the full-text index. Known abbreviations (k8s) are not split."""
    return [term for word in words_in(text) for term in _note_terms_of(word)]


def content_terms(text: str) -> list[str]:
    """The distinct terms of a note that are not stop words, in order; all terms if there are only stop words."""
    found = list(dict.fromkeys(note_terms(text)))
    return [term for term in found if term not in IN_NOTES] or found


def says_something(text: str) -> bool:
    """Whether a note has a word that is not a stop word."""
    return any(term not in IN_NOTES for term in note_terms(text))


def _note_terms_of(word: str) -> Sequence[str]:
    return (word.lower(),) if is_known(word.lower()) else split_identifier(word)


@dataclass(frozen=True, slots=True)
class AskedTerms:
    """A question's words by stem, with their weights."""

    weights: Mapping[str, float]
    stems: frozenset[str] = field(init=False)
    total: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stems", frozenset(self.weights))
        object.__setattr__(self, "total", sum(self.weights.values()))

    def share(self, stems: AbstractSet[str]) -> float:
        """The weighted share of the question's words that are among `stems`, 0..1."""
        if not self.total or self.stems.isdisjoint(stems):
            return 0.0
        # In the order of the question: the order of a set differs between processes, and so would the last bits of the sum.
        return sum([weight for stem, weight in self.weights.items() if stem in stems]) / self.total

    def share_asked(self, stems: AbstractSet[str]) -> float:
        """The share of `stems` that are words of the question, 0..1."""
        return len(self.stems & stems) / len(stems) if stems else 0.0


def rarity(count: int, holders: int, unseen: float = 1.0) -> float:
    """The weight of a word that `holders` of `count` texts hold. `unseen` are added to the holders, as more texts may come."""
    return math.log(1 + count / (holders + unseen))


_STOP_WORDS = {
    name: frozenset(words.split())
    for name, words in read_toml(_WORDS.joinpath("stop_words.toml").read_text("utf-8")).items()
}


def _gather(*kinds: str) -> frozenset[str]:
    return frozenset().union(*(_STOP_WORDS[kind] for kind in kinds))


IN_CODE = _gather("question", "doing", "code")
"""Not searched for in code and in rules."""
FILLING = _gather("line", "note", "joining")
"""Searched for in code, but rare there only because people write few sentences: they tell less than their rarity says."""
_IN_SPOKEN_LANGUAGES = (
    _gather("german_note", "german_question"), _gather("french_note", "french_question"),
    *map(_gather, ("spanish", "portuguese", "italian")),
)  # fmt: skip
# One alone may be a name in code (`des`, `la`), unless the question has letters of other languages too.
_MIN_SPOKEN_WORDS = 2
_ALSO_ENGLISH = _gather("question", "line", "note", "also_english")
HANDLING = _gather("handling")
"""Searched for in code, but a place is no closer for having them, nor farther."""
IN_NOTES = _gather("question", "line", "doing", "note", "german_note", "french_note")
"""Not searched for in memories."""
UNMARKED = _gather("unmarked")
"""Not marked in hits on the engine's page and in VS Code."""


def find_spoken_stop_words(words: Collection[str], *, has_marks: bool) -> frozenset[str]:
    """The stop words of the language of a question in German, French, Spanish, Portuguese or Italian, which is not searched for in code.

    Empty where the question has as many words of English, or too few that no English text has. `words` are in lower case, without
    accents; `has_marks` tells whether the question has accents or other letters than English.
    """
    asked = frozenset(words)
    telling = asked - _ALSO_ENGLISH
    found = max(_IN_SPOKEN_LANGUAGES, key=lambda stop_words: len(stop_words & telling))
    least = max(1 if has_marks else _MIN_SPOKEN_WORDS, len(IN_CODE & asked - found) + 1)
    return found if len(found & telling) >= least else frozenset()


def synonyms_of(word: str) -> tuple[str, ...]:
    """Synonyms of a word: abbreviations, the full form, and programmers' synonyms."""
    return tuple(dict.fromkeys(other for line in _same().get(word, ()) for other in line if other != word))


@cache
def spellings_of(word: str) -> tuple[str, ...]:
    """The abbreviations of a word, or the word that it abbreviates with the others of that: the same word, no synonyms."""
    found: list[str] = []
    for full, *others in _same().get(word, ()):
        same = [full, *(other for other in others if _abbreviates(other, full))]
        found += same if word in same else ()
    return tuple(other for other in dict.fromkeys(found) if other != word)


def _abbreviates(word: str, full: str) -> bool:
    """Whether a word is the beginning of a longer one, or some of its letters in their order."""
    letters = iter(full)
    return len(word) < len(full) and word[0] == full[0] and all(letter in letters for letter in word)


def is_known(word: str) -> bool:
    """Whether a lower-case word is in the table."""
    return word in _same()


@cache
def _same() -> dict[str, list[tuple[str, ...]]]:
    """By each word the lines of `words/synonyms.txt` that hold it; the first word of a line is the usual full form."""
    table: dict[str, list[tuple[str, ...]]] = {}
    for line in _WORDS.joinpath("synonyms.txt").read_text("utf-8").splitlines():
        group = tuple(line.split())
        for word in group:
            table.setdefault(word, []).append(group)
    return table
