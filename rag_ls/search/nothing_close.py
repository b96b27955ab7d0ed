"""Tells whether the best candidates are close to a question, or only the nearest of what there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_ls.search.candidates import Candidates
from rag_ls.search.closeness import WordFinder
from rag_ls.storage import RankRow, stem

MAX_LOOKED_AT = 10
"""The number of the best candidates that are looked at, those of the first `_FILES` files."""
MAX_NEAREST = 2
"""The number of hits that are shown where nothing is close."""
_FILES = 3
# Closeness adds two numbers: the cosine, scaled so that 1 is where texts begin to be related, and the share of the question
# that a text, its symbol and its path hold. Chosen on half of the questions without an answer; docs/quality.md has the other
# half.
_MIN_CLOSENESS = 1.4
# A change may be about anything, so its words may be anywhere.
_MIN_CHANGE_CLOSENESS = 1.0
# A name of several words must be held as a whole, or by words of the same meaning: a part of it is another name.
_MIN_NAME_SHARE, _MIN_NAME_CLOSENESS = 0.75, 1.5
# Most questions use other words than the code, so by words alone two of them in one place are enough. Each word by itself stands
# in code about anything.
_MIN_WORDS = 2


def is_close(best: Sequence[RankRow], texts: Mapping[int, str], found: Candidates, related_cosine: float) -> bool:
    """Whether any of the best candidates, best first, may answer; `related_cosine` is where texts begin to be related."""
    files = list(dict.fromkeys(row.document_id for row in best))[:_FILES]
    rows = [row for row in best if row.document_id in files]
    signals, query = found.signals, found.query
    if any(row.row in signals.exact or signals.phrases.get(row.row, 0.0) >= 1.0 for row in rows):
        return True
    asked = {stem(word): word for word in query.parts}
    finder = WordFinder(found.asked, ({stem(word): word for word in found.similar} | asked).values())
    of_rows = [finder.find(f"{row.path}\n{row.symbol}\n{texts.get(row.row, '')}") for row in rows]
    held = max((each.whole for each in of_rows), default=0.0)
    has_words = max((each.words for each in of_rows), default=0) >= min(_MIN_WORDS, len(asked))
    meaning = max((signals.dense.get(row.row, 0.0) for row in rows), default=0.0) / related_cosine
    if query.bare_name and len(query.parts) > 1:
        return held >= _MIN_NAME_SHARE or meaning >= _MIN_NAME_CLOSENESS
    # A chunk without a vector may still be close in meaning.
    if not all(row.row in signals.dense for row in rows):
        return has_words
    return meaning + held >= (_MIN_CHANGE_CLOSENESS if query.is_change else _MIN_CLOSENESS)
