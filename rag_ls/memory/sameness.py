"""Whether two texts say the same: only if what differs between them carries nothing.

Closeness in meaning never decides that, because a sentence and its opposite are close. A difference that is not known to carry
nothing (a number, a name, a negation, another order) counts, in every language.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rag_ls.memory.contradictions import find_contradiction
from rag_ls.model import Memory
from rag_ls.util.patterns import lazy_pattern

_FILLERS = frozenset(("the", "please"))
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
# In code, quotations and tables, white space may count.
_LAYOUT = lazy_pattern(r"[`\"|]|\n[ \t]")
_FULL_STOP = lazy_pattern(r"(?<=\w)[.\u3002]$")
# Words that are names wherever they stand: with a digit, a mark or a capital inside, or of capitals alone.
_NAME = lazy_pattern(r"(?<!\w)(?=\S*[\d_./:@#=-]|\w+[A-Z])[\w./:@#=-]*\w")


@lru_cache(maxsize=16384)
def canonical_text(text: str) -> str:
    """The text without what carries nothing; equal for two texts that say the same."""
    text = unicodedata.normalize("NFC", text.strip()).translate(_STRAIGHT)
    if _LAYOUT.search(text):
        return text
    first, *others = _FULL_STOP.sub("", text).split() or [""]
    # A capital begins the sentence; anywhere else it makes a name.
    words = (first.lower() if first.istitle() and len(first) > 1 else first, *others)
    return " ".join(word for word in words if word not in _FILLERS)


def may_say_the_same(one: Memory, other: Memory) -> bool:
    """Whether two memories that are close in meaning are worth a look: no known difference carries something."""
    first, second = _find_names(one.content), _find_names(other.content)
    return not (first - second and second - first) and find_contradiction(one, other) is None


def _find_names(text: str) -> frozenset[str]:
    return frozenset(name.lower().removesuffix("s") for name in _NAME.findall(text))
