"""Fits memories into one answer: a page of a long one, the first of many."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from rag_ls.chunking import approximate_token_offsets
from rag_ls.operations.answer_json import make_json
from rag_ls.operations.code.budget import tokens
from rag_ls.operations.memories.memory_records import MemoryRecord, VersionRecord

# The size of an answer of memories for agents: their clients refuse more than some 25,000 tokens.
AGENTS_MEMORY_TOKENS = 5000
# At least this much of a former version is shown, even if it does not fit.
_MIN_VERSION_TOKENS = 40


def fit_memory(record: MemoryRecord, offset: int, budget_tokens: int) -> MemoryRecord:
    """A whole memory from a character on, cut to a budget with a note that says where the rest is; 0 for no limit."""
    rest = record.content[offset:]
    shown = _cut_to(rest, budget_tokens) if budget_tokens else rest
    end, whole = offset + len(shown), len(record.content)
    if record.history is not None and budget_tokens:
        left = max(0, budget_tokens - tokens(shown))
        record = replace(record, history=_fit_versions(record.history, left))
    if not offset and end == whole:
        return record
    following = f"; get_memory with offset = {end} has the next" if end < whole else ""
    note = f"characters {min(offset, whole):,} to {end:,} of {whole:,}{following}"
    return replace(record, content=shown, truncated=True, start=offset or None, length=whole, note=note)


def fit_list(records: Sequence[MemoryRecord], budget_tokens: int) -> tuple[list[MemoryRecord], int]:
    """The first records, as many as fit a budget, but at least one, and how many do not; 0 for no limit."""
    if not budget_tokens:
        return list(records), 0
    left = budget_tokens
    shown: list[MemoryRecord] = []
    for record in records:
        left -= tokens(json.dumps(make_json(record), ensure_ascii=False))
        if shown and left < 0:
            break
        shown.append(record)
    return shown, len(records) - len(shown)


def _fit_versions(versions: Sequence[VersionRecord], budget_tokens: int) -> tuple[VersionRecord, ...]:
    """Former versions, each whole where it fits, else its beginning."""
    fitted = []
    for version in versions:
        shown = _cut_to(version.content, max(budget_tokens, _MIN_VERSION_TOKENS))
        budget_tokens -= tokens(shown)
        fitted.append(replace(version, content=shown + "…" * (shown != version.content)))
    return tuple(fitted)


def _cut_to(text: str, budget_tokens: int) -> str:
    starts = approximate_token_offsets(text)
    if len(starts) <= budget_tokens:
        return text
    return text.encode()[: int(starts[budget_tokens])].decode(errors="ignore")
