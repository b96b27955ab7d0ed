"""Tells whether the best candidates are close to a question, or only the nearest of what there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_ls.model import Closeness
from rag_ls.search.candidates import Candidates
from rag_ls.search.closeness import Held, WordFinder
from rag_ls.search.stop_words import HANDLING
from rag_ls.storage import RankRow, stem

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
