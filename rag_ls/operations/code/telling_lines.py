"""The lines of a text that answer a question: those that hold its rarest words."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.util.patterns import lazy_pattern

MAX_LINE_CHARACTERS = 300
GAP = "…"
# A word that follows the question's word before it, with so many characters in between at most, is worth so much more: a message
# stands in one line.
_MAX_BETWEEN_WORDS, _RUN_BONUS = 12, 1.0
# Lines as documents count them; `str.splitlines` splits at more characters.
_LINE = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    return [line.rstrip("\r\n") for line in _LINE.findall(text)]


def shorten_line(line: str) -> str:
    """A line as an answer shows it."""
    return line if len(line) <= MAX_LINE_CHARACTERS else line[:MAX_LINE_CHARACTERS] + GAP


def find_best_line(text: str, words: Sequence[str]) -> tuple[int, str]:
    """The number, from 0, and text of the line that answers best; the first that is not blank if none holds a word."""
    lines = split_lines(text)
    worth = _weigh(lines, words)
    at = max(range(len(lines)), key=lambda at: (worth[at], bool(lines[at].strip()), -at), default=0)
    return (at, shorten_line(lines[at])) if lines else (0, "")


def order_lines(lines: Sequence[str], words: Sequence[str]) -> list[int]:
    """The order in which to keep lines: the first non-blank one, the best matches with their neighbours, the rest, blank ones last."""
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    worth = _weigh(lines, words)
    best = sorted((at for at in range(len(lines)) if worth[at]), key=lambda at: (-worth[at], at))
    around = [near for at in best for near in (at, at - 1, at + 1) if 0 <= near < len(lines)]
    order = dict.fromkeys([first, *around, *range(len(lines))]) if lines else ()
    return sorted(order, key=lambda at: not lines[at].strip())


def _weigh(lines: Sequence[str], words: Sequence[str]) -> list[float]:
    """The worth of each line: a word counts less the more lines hold it, and more where it follows the word before it."""
    lowered = [line.lower() for line in lines]
    worth = [0.0] * len(lines)
    before: dict[int, int] = {}
    for word in words:
        found = {at: place for at, line in enumerate(lowered) if (place := line.find(word)) >= 0}
        for at, place in found.items():
            follows = 0 <= place - before.get(at, place + 1) <= _MAX_BETWEEN_WORDS
            worth[at] += (1 + _RUN_BONUS * follows) / len(found)
        before = {at: place + len(word) for at, place in found.items()}
    return worth
