"""Tells which of a question's words a text holds, and how close together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rag_ls.model import Closeness
from rag_ls.search.fusion import Candidates
from rag_ls.search.terms import HANDLING, AskedTerms
from rag_ls.storage import RankRow, fold_text, is_unspaced, stem
from rag_ls.util.records import dataclass

# About the lines of a statement with its comment.
_LINES = 5
_MIN_PREFIX = 2


@dataclass(frozen=True, slots=True)
class Held:
    """The shares of a question that a text holds, 0..1; a rare word counts more."""

    whole: float
    """In all of the text."""
    close: float
    """In `_LINES` consecutive lines."""
    words: int = 0
    """The number of its words in all of the text."""


class _Word:
    """A beginning that forms of a word share, in lower case."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._capitalized = prefix.capitalize()
        self._is_anywhere = is_unspaced(prefix)

    def find_lines(self, text: str, lowered: str) -> Iterator[int]:
        """The lines in which a word or a part of an identifier begins so; `lowered` is the text in lower case."""
        at = lowered.find(self.prefix)
        line = counted = 0
        while at >= 0:
            if self._begins(text, at):
                line += lowered.count("\n", counted, at)
                counted = at
                yield line
                if (at := lowered.find("\n", at)) < 0:
                    return
            at = lowered.find(self.prefix, at + 1)

    def _begins(self, text: str, at: int) -> bool:
        """Whether a word or a part of an identifier begins there. In `maxRetries` a part begins with a capital letter."""
        before = text[at - 1 : at]
        return (
            not before.isalpha()
            or self._is_anywhere
            or ("a" <= before <= "z" and text.startswith(self._capitalized, at))
        )


class WordFinder:
    """Finds the words of a question in texts: identifiers, option names and literals are taken apart as it goes."""

    def __init__(self, asked: AskedTerms, words: Collection[str]) -> None:
        """`words` are in lower case; those that `asked` does not weigh are left out."""
        weighed = [word for word in words if stem(word) in asked.weights]
        self._weights = [asked.weights[stem(word)] for word in weighed]
        self._total = sum(self._weights)
        self._words = [tuple(map(_Word, _beginnings_of(word))) for word in weighed]
        self._shares: dict[int, float] = {0: 0.0}

    def find(self, text: str) -> Held:
        """The shares of the question that a text holds."""
        # Folded, each letter is one in lower case too.
        text = fold_text(text)
        lowered = text.lower()
        of_lines: dict[int, int] = {}
        whole = 0
        for at, beginnings in enumerate(self._words):
            for each in beginnings:
                if each.prefix in lowered:
                    for line in each.find_lines(text, lowered):
                        of_lines[line] = of_lines.get(line, 0) | 1 << at
                        whole |= 1 << at
        # One word, or none, is as close together as it is.
        close = {whole} if whole.bit_count() < 2 else set(_windows(of_lines))
        return Held(self._share(whole), max(map(self._share, close)), whole.bit_count())

    def _share(self, mask: int) -> float:
        if mask not in self._shares:
            held = sum(weight for at, weight in enumerate(self._weights) if mask >> at & 1)
            self._shares[mask] = held / self._total if self._total else 0.0
        return self._shares[mask]


def _windows(of_lines: Mapping[int, int]) -> Iterator[int]:
    """The words that each run of `_LINES` lines holds which begins with some of them; `of_lines` has those of each line."""
    for first, mask in of_lines.items():
        for line in range(first + 1, first + _LINES):
            mask |= of_lines.get(line, 0)
        yield mask


def _beginnings_of(word: str) -> Sequence[str]:
    """The beginnings of all forms of a word: `pars` of parsing, `copy` and `copi` of copies, not the `cop` of copper."""
    stemmed = stem(word)
    with_y = f"{stemmed[:-1]}y"
    if stemmed.endswith("i") and len(stemmed) > _MIN_PREFIX and stem(with_y) == stemmed:
        return with_y, stemmed
    length = next((at for at, pair in enumerate(zip(word, stemmed, strict=False)) if pair[0] != pair[1]), len(stemmed))
    return (word[: max(length, _MIN_PREFIX)],)


MAX_LOOKED_AT = 10
"""The number of the best candidates that are looked at, those of the first `_FILES` files."""
MAX_NEAREST = 2
"""The number of hits that are shown where nothing is close."""
_FILES = 3
# With vectors, two numbers are added: the cosine, scaled so that 1 is where texts begin to be related, and the share of the question
# that a text, its symbol and its path hold. From the second limit on hits are weak. Chosen on half of the questions without an
# answer; docs/quality.md has the other half.
_MIN_CLOSE, _MIN_WEAK = 1.8, 1.25
# A change may be about anything, so its words may be anywhere.
_CHANGE_BONUS = 0.4
# A name of several words must be held as a whole, or by words of the same meaning: a part of it is another name.
_MIN_NAME_SHARE, _MIN_NAME_MEANING = 0.75, 1.5
# By words alone: each word by itself stands in code about anything, and two of them in one place by chance. So a hit is sure
# where the words that a place holds, times their share of the question, are at least this; without two words or half of the
# question in one place, nothing is close. Most questions use other words than the code.
_MIN_SURE = 1.1
_MIN_WORDS, _MIN_SHARE = 2, 0.5
# By words alone, no hit that answers scored less than this; half of those for things that are not there did.
_MIN_SURE_SCORE = 0.3


def judge_closeness(
    best: Sequence[RankRow], texts: Mapping[int, str], found: Candidates, related_cosine: float, score: float = 1.0
) -> Closeness:
    """Whether any of the best candidates, best first, may answer; `related_cosine` is where texts begin to be related.

    `score` is that of the best.
    """
    closeness = _judge_texts(best, texts, found, related_cosine)
    signals = found.signals
    is_doubtful = score < _MIN_SURE_SCORE and not signals.dense and not any(row.row in signals.exact for row in best)
    return min(closeness, Closeness.WEAK) if is_doubtful else closeness


def _judge_texts(
    best: Sequence[RankRow], texts: Mapping[int, str], found: Candidates, related_cosine: float
) -> Closeness:
    files = list(dict.fromkeys(row.document_id for row in best))[:_FILES]
    rows = [row for row in best if row.document_id in files]
    signals, query = found.signals, found.query
    if any(row.row in signals.exact or signals.phrases.get(row.row, 0.0) >= 1.0 for row in rows):
        return Closeness.CLOSE
    read = [f"{row.path}\n{row.symbol}\n{texts.get(row.row, '')}" for row in rows]
    telling = [word for word in query.parts if word not in HANDLING or query.bare_name] or query.parts
    asked = {stem(word): word for word in telling}
    # A word may be misspelt for a similar one, or mean another thing.
    similar = {stem(word): word for word in found.similar} | asked
    sure = list(map(WordFinder(found.asked, asked.values()).find, read))
    if any(each.whole >= 1.0 for each in sure):
        return Closeness.CLOSE
    held = list(map(WordFinder(found.asked, similar.values()).find, read))
    share = max((each.whole for each in held), default=0.0)
    meaning = max((signals.dense.get(row.row, 0.0) for row in rows), default=0.0) / related_cosine
    if query.bare_name and len(query.parts) > 1:
        is_held = share >= _MIN_NAME_SHARE or meaning >= _MIN_NAME_MEANING
        return Closeness.CLOSE if is_held else Closeness.NONE
    by_meaning = meaning + share + (_CHANGE_BONUS if query.is_change else 0.0)
    if meaning and by_meaning >= _MIN_CLOSE:
        return Closeness.CLOSE
    if all(row.row in signals.dense for row in rows):
        return Closeness.WEAK if by_meaning >= _MIN_WEAK else Closeness.NONE
    # A chunk without a vector may still be close in meaning.
    return _judge_words(sure, held, len(asked))


def _judge_words(sure: Sequence[Held], held: Sequence[Held], asked: int) -> Closeness:
    """Whether any text may answer, by the words of `asked` that it holds: as they are, and similar ones too."""
    if any(each.words * each.whole >= _MIN_SURE for each in sure):
        return Closeness.CLOSE
    is_weak = any(each.words >= min(_MIN_WORDS, asked) for each in held) or any(
        each.whole >= _MIN_SHARE for each in sure
    )
    return Closeness.WEAK if is_weak else Closeness.NONE
