"""Cuts answers to a token budget, so that they fit an agent's context: keeps the lines of each hit that matter."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rag_ls.chunking import approximate_token_offsets
from rag_ls.operations.json_of import json_of
from rag_ls.operations.records import CodeRecord
from rag_ls.search import analyse

_GAP = "…"
_MIN_LINES = 3
_MAX_LINE_CHARACTERS = 300
# Tokens that a line costs besides its own: its end, and a gap before it.
_LINE_COST = 3
_ENVELOPE = 150


def fitted(query: str, records: Sequence[CodeRecord], budget_tokens: int) -> tuple[list[CodeRecord], int]:
    """The hits with their texts cut to the budget, and how many of the last ones had to be left out.

    Cut texts are marked `truncated`. Short texts stay whole, and leave their unused share to the others.
    """
    words = _words(query)
    least = [_cut(record, words, 0) for record in records]
    count, left = 0, budget_tokens - _ENVELOPE
    while count < len(records) and (not count or left >= _size(least[count])):
        left -= _size(least[count])
        count += 1
    shown = least[:count]
    more = {at: _size(records[at]) - _size(shown[at]) for at in range(count)}
    for done, at in enumerate(sorted(more, key=lambda at: more[at])):
        share = max(0, left) // (count - done)
        if more[at] > share:
            shown[at] = _cut(records[at], words, share + tokens(shown[at].text or ""))
            left -= max(0, _size(shown[at]) - _size(least[at]))
        else:
            shown[at] = records[at]
            left -= more[at]
    return shown, len(records) - count


def tokens(text: str) -> int:
    """The approximate number of tokens of a text."""
    return int(approximate_token_offsets(text).size)


def _size(record: CodeRecord) -> int:
    return tokens(json.dumps(json_of(record), ensure_ascii=False))


def _cut(record: CodeRecord, words: Sequence[str], room: int) -> CodeRecord:
    """The record with as many lines of its text as fit `room` tokens, but at least `_MIN_LINES`."""
    if record.text is None:
        return record
    lines = record.text.splitlines()
    kept: set[int] = set()
    spent = 0
    for at in _order(lines, words):
        cost = tokens(lines[at][:_MAX_LINE_CHARACTERS]) + _LINE_COST
        if len(kept) >= _MIN_LINES and spent + cost > room:
            break
        kept.add(at)
        spent += cost
    if len(kept) == len(lines) and all(len(line) <= _MAX_LINE_CHARACTERS for line in lines):
        return record
    return replace(record, truncated=True, text=_joined(lines, kept))


def _joined(lines: Sequence[str], kept: set[int]) -> str:
    shown: list[str] = []
    for at, line in enumerate(lines):
        if at in kept:
            shown.append(line if len(line) <= _MAX_LINE_CHARACTERS else line[:_MAX_LINE_CHARACTERS] + _GAP)
        elif not shown or shown[-1] != _GAP:
            shown.append(_GAP)
    return "\n".join(shown)


def _order(lines: Sequence[str], words: Sequence[str]) -> list[int]:
    """The order in which to keep lines: the first non-blank one, the best matches with their neighbours, the rest."""
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    matches = [{word for word in words if word in line.lower()} for line in lines]
    lines_with = Counter(word for found in matches for word in found)
    # A word counts less the more lines hold it.
    worth = [sum(1 / lines_with[word] for word in found) for found in matches]
    best = sorted((at for at in range(len(lines)) if worth[at]), key=lambda at: (-worth[at], at))
    around = [near for at in best for near in (at, at - 1, at + 1) if 0 <= near < len(lines)]
    return list(dict.fromkeys([first, *around, *range(len(lines))])) if lines else []


def _words(query: str) -> list[str]:
    """The query's terms without plural endings, for matching inside lines."""
    return list(dict.fromkeys(re.sub(r"(?<=\w{3})s$", "", term) for term in analyse(query).terms))
