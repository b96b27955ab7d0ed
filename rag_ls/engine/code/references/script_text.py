"""The text of a script as its contexts are read: without comments and what stands in quotes, with the pairs of its brackets."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`", re.DOTALL)
_WORD = re.compile(r"[\"'][\w$@./:#-]*[\"']")
_INK = re.compile(r"[^\n]")
_BRACKET = re.compile(r"[()\[\]{}]")
_OPENED = re.compile(r"[(\[{]")
_OPENING = {")": "(", "]": "[", "}": "{"}


class ScriptText:
    """One document's text."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self.text = _NOISE.sub(_blank, "\n".join(lines))
        self.pairs: dict[int, int] = {}
        """The closing bracket of each opening one, and the opening of each closing one."""
        self._starts: list[int] = []
        self._places: list[int] = []
        self._inner: list[int] = []
        start = 0
        for line in lines:
            self._starts.append(start)
            start += len(line) + 1
        self._pair()

    def offset(self, line: int, column: int) -> int:
        """The offset of a place: a line from 1, a column in bytes from 0."""
        text = self._lines[line - 1]
        before = text if text.isascii() else text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore")
        return self._starts[line - 1] + (column if text.isascii() else len(before))

    def line(self, offset: int) -> int:
        """The line of an offset, from 1."""
        return max(1, bisect_left(self._starts, offset + 1))

    def around(self, offset: int) -> int:
        """The offset of the innermost bracket that is open before an offset; -1 if none is."""
        at = bisect_left(self._places, offset) - 1
        return self._inner[at] if at >= 0 else -1

    def close(self, offset: int) -> int:
        """The offset of the bracket that closes the one at an offset; the end of the text if none does."""
        return self.pairs.get(offset, len(self.text))

    def count_commas(self, start: int, end: int) -> int:
        """The number of commas between two offsets that stand in no brackets there."""
        count, at = 0, start
        while at < end:
            letter = self.text[at]
            at = self.close(at) if letter in "([{" else at
            count += letter == ","
            at += 1
        return count

    def own_text(self, start: int) -> str:
        """The text between the bracket at an offset and the one that closes it, without what stands in brackets there."""
        found, at, end = [], start + 1, self.close(start)
        for match in _OPENED.finditer(self.text, at, end):
            if match.start() >= at:
                found.append(self.text[at : match.start()])
                at = self.close(match.start()) + 1
        return "".join((*found, self.text[at:end]))

    def end_of_part(self, start: int, end: int) -> int:
        """The offset of the first comma or semicolon between two offsets that stands in no brackets there; the second one if none does."""
        at = start
        while at < end:
            letter = self.text[at]
            if letter in ",;":
                return at
            at = self.close(at) + 1 if letter in "([{" else at + 1
        return end

    def _pair(self) -> None:
        opened: list[int] = []
        letters: list[str] = []
        pairs, places, inner = self.pairs, self._places, self._inner
        for match in _BRACKET.finditer(self.text):
            letter, at = match[0], match.start()
            if letter not in _OPENING:
                opened.append(at)
                letters.append(letter)
            elif (wanted := _OPENING[letter]) in letters[-3:]:
                while letters.pop() != wanted:
                    opened.pop()
                start = opened.pop()
                pairs[start], pairs[at] = at, start
            places.append(at)
            inner.append(opened[-1] if opened else -1)


def _blank(match: re.Match[str]) -> str:
    text = match[0]
    if _WORD.fullmatch(text):
        return text
    if text[0] == "/":
        return _INK.sub(" ", text)
    return text[0] + _INK.sub(" ", text[1:-1]) + text[-1]
