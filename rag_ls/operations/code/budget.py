"""Cuts answers to a token budget, so that they fit an agent's context: keeps the lines of each hit that matter."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import replace

from rag_ls.chunking import CHARACTERS_PER_TOKEN
from rag_ls.operations.code.hits import (
    GAP,
    MAX_LINE_CHARACTERS,
    CodeRecord,
    find_best_line,
    order_lines,
    shorten_line,
    split_lines,
)
from rag_ls.search import Query
from rag_ls.util.patterns import lazy_pattern

# Counts as `approximate_token_offsets` does, which is slower for short texts: pieces of words, and every other mark.
_TOKEN = lazy_pattern(rf"[0-9A-Za-z\u0080-\u07ff]{{1,{CHARACTERS_PER_TOKEN}}}|\S")
_MIN_LINES = 3
# Tokens that a line costs beside its text: its number, its end, and a gap before it.
_LINE_TOKENS = 3
# Tokens of a hit or place beside its names and lines: line numbers, a score, marks in between.
_FRAME_TOKENS = 14
_ENVELOPE_TOKENS = 100
_LINES_BEFORE = 20
FILES_WITH_TEXT = 6
"""Each file gets at most the share that it would have among this many, so that the answer to a clear question stays short."""
_CHARACTERS_A_TOKEN = 3
# Files after the first so many get a part of the share: of 598 questions, a line that answers is shown for as many.
_FIRST_FILES, _LATER_SHARE = 3, 0.5


def fit_to_budget(
    query: Query, records: Sequence[CodeRecord], budget_tokens: int, files_with_text: int = FILES_WITH_TEXT
) -> tuple[list[CodeRecord], int]:
    """The hits with their texts cut to the budget, and how many of the last ones had to be left out.

    Cut texts are marked `truncated`. Short texts stay whole, and leave their unused share to the others. Far ones keep one line.
    """
    words = query.line_words
    records = [_keep_best_line(record, words) if record.far and record.text else record for record in records]
    hits = [_Hit(record, words) for record in records]
    count, left = 0, budget_tokens - _ENVELOPE_TOKENS
    share_of_file = left // min(max(len(hits), 1), files_with_text)
    while count < len(hits) and (not count or left >= hits[count].least):
        left -= hits[count].least
        count += 1
    shown = list(records[:count])
    limits = [share_of_file if at < _FIRST_FILES else int(share_of_file * _LATER_SHARE) for at in range(count)]
    room = [max(0, limit - hits[at].least) for at, limit in enumerate(limits)]
    left = min(left, sum(room[at] for at in range(count) if not shown[at].far))
    more = {at: hits[at].whole - hits[at].least for at in range(count)}
    for done, at in enumerate(sorted(more, key=lambda at: more[at])):
        share = max(0, left) // (count - done)
        if at >= _FIRST_FILES:
            share = min(share, room[at])
        if more[at] > share:
            shown[at], size = hits[at].cut(share)
            left -= size - hits[at].least
        else:
            left -= more[at]
    return shown, len(records) - count


def fit_lines(lines: Sequence[str], focus: int, max_lines: int, budget_tokens: int) -> tuple[int, int]:
    """The range (half-open) of as many lines as fit, at least one: from the first on if `focus` is among them, else from a
    little before that. `budget_tokens` 0 is no limit."""
    costs = [count_tokens(line) + _LINE_TOKENS for line in lines]
    if len(lines) <= max_lines and not 0 < budget_tokens < sum(costs):
        return 0, len(lines)
    left = budget_tokens or sum(costs)
    start, end = 0, _count_fitting(costs, 0, max_lines, left)
    if focus >= end:
        start = max(0, min(focus, len(lines) - 1) - _LINES_BEFORE)
        end = start + _count_fitting(costs, start, max_lines, left)
    return start, end


def _count_fitting(costs: Sequence[int], start: int, max_lines: int, budget_tokens: int) -> int:
    """The number of lines from `start` on that fit, at least one."""
    spent = list(itertools.accumulate(costs[start : start + max_lines]))
    return max(1, bisect.bisect_right(spent, budget_tokens))


def cut_line(line: str, budget_tokens: int) -> str:
    """A line that is too long for an answer by itself, cut."""
    return line if count_tokens(line) <= budget_tokens else line[: budget_tokens * _CHARACTERS_A_TOKEN] + GAP


def count_tokens(text: str) -> int:
    """The approximate number of tokens of a text."""
    return len(_TOKEN.findall(text))


class _Hit:
    """A hit that can be cut. Sizes are in tokens of it as agents read it."""

    def __init__(self, record: CodeRecord, words: Sequence[str]) -> None:
        self._record = record
        self._lines = split_lines(record.text or "")
        self._order = order_lines(self._lines, words)
        self._costs = [count_tokens(line[:MAX_LINE_CHARACTERS]) + _LINE_TOKENS for line in self._lines]
        self._frame = _FRAME_TOKENS + count_tokens(
            f"{record.path} {record.symbol} {record.scope} {record.note} {record.project}"
        )
        self._frame += sum(count_tokens(f"{place.symbol} {place.text}") + _FRAME_TOKENS for place in record.places)
        self.whole = self._frame + sum(map(count_tokens, self._lines)) + _LINE_TOKENS * len(self._lines)
        self.least = self.cut(0)[1]

    def cut(self, more: int) -> tuple[CodeRecord, int]:
        """The record with `_MIN_LINES` of its text and as many others as fit `more` tokens, and its size."""
        if self._record.far and self._record.truncated:
            return self._record, self.whole
        kept = set(self._order[:_MIN_LINES])
        for at in self._order[_MIN_LINES:]:
            if (more := more - self._costs[at]) < 0:
                break
            kept.add(at)
        if len(kept) == len(self._lines) and all(len(line) <= MAX_LINE_CHARACTERS for line in self._lines):
            return self._record, self.whole
        record = _keep_lines(self._record, self._lines, kept)
        return record, self._frame + sum(self._costs[at] for at in kept) + len(record.left_out)


def _keep_best_line(record: CodeRecord, words: Sequence[str]) -> CodeRecord:
    """A file with the line of its best place that says most."""
    lines = split_lines(record.text or "")
    if len(lines) <= 1 and not record.places:
        return record
    at, _ = find_best_line(record.text or "", words)
    return replace(_keep_lines(record, lines, {at}), places=())


def _keep_lines(record: CodeRecord, lines: Sequence[str], kept: set[int]) -> CodeRecord:
    """A hit with these of its lines."""
    text, gaps = _join_lines(lines, kept)
    first = record.start_line
    left_out = tuple(f"{first + start}-{first + end - 1}" for start, end in gaps)
    return replace(record, truncated=True, text=text, left_out=left_out)


def _join_lines(lines: Sequence[str], kept: set[int]) -> tuple[str, list[tuple[int, int]]]:
    """The kept lines with a mark for each gap, and the gaps (half-open, from 0)."""
    shown: list[str] = []
    gaps: list[tuple[int, int]] = []
    for at, line in enumerate(lines):
        if at in kept:
            shown.append(shorten_line(line))
        elif gaps and gaps[-1][1] == at:
            gaps[-1] = (gaps[-1][0], at + 1)
        else:
            gaps.append((at, at + 1))
            shown.append(GAP)
    return "\n".join(shown), gaps
