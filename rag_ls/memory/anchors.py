"""Anchors memories to places in the code, and finds these places again after changes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from rag_ls.model import Anchor, AnchorState
from rag_ls.storage import CheckoutIndex, ChunkRow


def anchor_to(row: ChunkRow) -> Anchor:
    """An anchor for the code of a chunk."""
    chunk = row.stored.chunk
    return Anchor(chunk.path, chunk.symbol, row.stored.content_hash, chunk.start_line)


def resolved(anchor: Anchor, store: CheckoutIndex, hidden: Collection[int]) -> Anchor:
    """The anchor with its present place and state; it follows code that was moved or whose file was renamed.

    `hidden` holds the documents that another version of the same file replaces.
    """
    same_text = _shown(store.chunks.with_content(anchor.content_hash) if anchor.content_hash else [], hidden)
    if same_text:
        here = [row for row in same_text if row.stored.chunk.path == anchor.path]
        return replace(anchor_to((here or same_text)[0]), state=AnchorState.FRESH, project=anchor.project)
    same_symbol = _shown(store.chunks.of_symbol(anchor.symbol) if anchor.symbol else [], hidden)
    here = [row for row in same_symbol if row.stored.chunk.path == anchor.path]
    if here or len(same_symbol) == 1:
        found = (here or same_symbol)[0].stored.chunk
        return replace(anchor, path=found.path, start_line=found.start_line, state=AnchorState.DRIFTED)
    if not anchor.symbol and store.document(anchor.path) is not None:
        return replace(anchor, state=AnchorState.DRIFTED if anchor.content_hash else AnchorState.FRESH)
    return replace(anchor, state=AnchorState.ORPHANED)


def _shown(rows: Sequence[ChunkRow], hidden: Collection[int]) -> list[ChunkRow]:
    return [row for row in rows if row.document_id not in hidden]
