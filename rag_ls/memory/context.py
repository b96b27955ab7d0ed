"""Recalled memories as one text for an agent's prompt, with numbered citations, inside a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.chunking import approximate_token_offsets
from rag_ls.memory.excerpts import cut_around
from rag_ls.memory.recall import memory_of
from rag_ls.model import AnchorState, Hit, Memory
from rag_ls.util.text import fold

DEFAULT_TOKENS = 600
_STATES = {
    AnchorState.DRIFTED: ", changed since", AnchorState.ORPHANED: ", gone",
    AnchorState.UNKNOWN: ", which cannot be read now",
}  # fmt: skip
# A memory that would get less room than this is left out.
_MIN_TOKENS = 12
# A token has at most about this many characters in any language. A content is cut to as many, then by its tokens.
_CHARACTERS_PER_TOKEN = 5


def context_text(hits: Sequence[Hit], budget_tokens: int = DEFAULT_TOKENS) -> str:
    """A line `[1] content (scope, date, place)` for each hit, the best first; the last one may be cut to fit."""
    lines: list[str] = []
    left = budget_tokens
    for number, hit in enumerate(hits, 1):
        memory = memory_of(hit)
        head, tail = f"[{number}] ", f" ({_origin(memory)})"
        room = left - _tokens(head + tail) - 1
        content = fold(memory.content)
        if _tokens(content) > room:
            if room < _MIN_TOKENS:
                break
            around, _ = cut_around(memory.content, hit.offset, room * _CHARACTERS_PER_TOKEN)
            content = _cut_text(fold(around), room - 1).removesuffix("…").rstrip() + "…"
        lines.append(head + content + tail)
        left -= _tokens(lines[-1]) + 1
    return "\n".join(lines)


def _origin(memory: Memory) -> str:
    if memory.project_id is not None:
        return fold(f"{memory.source_uri or memory.id[:8]}, {memory.updated_at[:10]}")
    parts = [memory.scope.value, memory.updated_at[:10], memory.id[:8]]
    if anchor := memory.anchor:
        place = f"{anchor.path}:{anchor.start_line}" if anchor.start_line else anchor.path
        renamed = f" ({anchor.former_symbol}, now {anchor.symbol})" if anchor.former_symbol else ""
        parts.append(f"about {place}{renamed}{_STATES.get(anchor.state, '')}")
    return fold(", ".join(parts))


def _tokens(text: str) -> int:
    return int(approximate_token_offsets(text).size)


def _cut_text(text: str, tokens: int) -> str:
    starts = approximate_token_offsets(text)
    return text.encode()[: int(starts[tokens])].decode(errors="ignore").rstrip() if len(starts) > tokens else text
