"""Consolidation: merges memories that say the same; reports contradictions and memories that are never recalled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from rag_ls.embedding import Embedder
from rag_ls.memory.batches import CONSOLIDATED, carry_out
from rag_ls.memory.clusters import complete_linkage, pairs_above
from rag_ls.memory.content_checks import MAX_TAGS, PRIVATE
from rag_ls.memory.contradictions import Contradiction, find_contradiction
from rag_ls.memory.parts import embed_missing
from rag_ls.memory.ranking import parse_stamp
from rag_ls.model import Memory, MemoryFilters, MemoryOrder
from rag_ls.storage import MemoryStore
from rag_ls.util.text import utc_stamp

# From this cosine on, two memories are checked for a contradiction: a sentence and its opposite are close.
_MIN_RELATED_COSINE = 0.5
# A younger memory may not yet have had a chance to be useful.
_NEVER_RECALLED_AFTER = timedelta(days=30)
_MAX_SHOWN = 50
# Fits within the limit of `custom`.
_MAX_SOURCES = 50


@dataclass(frozen=True, slots=True)
class Merge:
    """Memories that say the same, and the one that replaces them."""

    kept: Memory
    """The most recent one after the merge: with all tags, the mean importance, all source references."""
    merged: tuple[Memory, ...]
    """The others, which are deleted."""
    cosine: float
    """The cosine of the two farthest memories."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that a consolidation of one scope would make."""

    merges: tuple[Merge, ...]
    contradictions: tuple[Contradiction, ...]
    never_recalled: tuple[Memory, ...]
    """Some memories that were never recalled though they are old enough, the oldest first."""


def plan(store: MemoryStore, model_id: str, threshold: float, now: datetime) -> Plan:
    """Plan merges from a cosine of `threshold` on. Summaries are not merged, nor are different branches or types."""
    ids, vectors = store.vectors.centres(model_id, MemoryFilters(no_summaries=True))
    memories = store.by_ids(ids)
    known = [memories.get(memory_id) for memory_id in ids]
    close: list[tuple[int, int, float]] = []
    contradictions: list[Contradiction] = []
    for left, right, cosine in pairs_above(vectors, min(_MIN_RELATED_COSINE, threshold)):
        one, other = known[left], known[right]
        if one is None or other is None or not _may_be_one(one, other):
            continue
        if found := find_contradiction(one, other):
            contradictions.append(found)
        elif cosine >= threshold:
            close.append((left, right, cosine))
    clusters = complete_linkage(iter(close))
    merges = [_merge([item for index in indices if (item := known[index])], value) for indices, value in clusters]
    return Plan(tuple(merges), tuple(contradictions[:_MAX_SHOWN]), _never_recalled(store, now))


def consolidate(
    store: MemoryStore,
    embedder: Embedder,
    threshold: float,
    now: datetime,
    *,
    batch_id: str = "",
    dry_run: bool = False,
) -> tuple[Plan, str]:
    """Embed missing memories, plan and merge. Returns the plan, and the id of the batch for an undo (or empty)."""
    while embed_missing(store, embedder):
        pass
    found = plan(store, embedder.card.id, threshold, now)
    if dry_run or not found.merges:
        return found, ""
    return found, apply(store, found.merges, utc_stamp(now), batch_id)


def apply(store: MemoryStore, merges: Sequence[Merge], stamp: str, batch_id: str = "") -> str:
    """Carry merges out in one transaction; returns the id of the batch for an undo, or empty if nothing was merged.

    A merge is skipped if one of its memories changed since it was planned.
    """

    def merge_all() -> None:
        for merge in merges:
            if _still_holds(store, merge):
                _apply_one(store, merge)

    return carry_out(store, CONSOLIDATED, merge_all, stamp=stamp, batch_id=batch_id)[1].batch_id


def _may_be_one(one: Memory, other: Memory) -> bool:
    places = {(item.anchor.path, item.anchor.symbol, item.anchor.project) for item in (one, other) if item.anchor}
    # If they are about different code, a merged memory would lose one of the places. A private memory and one that
    # a team shares stay apart: merged into a private one, it would be gone for the others.
    is_alike = (PRIVATE in one.metadata.tags) == (PRIVATE in other.metadata.tags)
    return is_alike and one.branch == other.branch and one.memory_type == other.memory_type and len(places) < 2


def _merge(cluster: Sequence[Memory], cosine: float) -> Merge:
    kept, *others = sorted(cluster, key=lambda item: (item.updated_at, item.id), reverse=True)
    meta = kept.metadata
    tags = tuple(dict.fromkeys(tag for item in (kept, *others) for tag in item.metadata.tags))[:MAX_TAGS]
    importance = round(sum(item.metadata.importance_score for item in cluster) / len(cluster), 6)
    sources = [*_former_sources(meta.custom), *_sources(others)][-_MAX_SOURCES:]
    custom = {**meta.custom, "merged_sources": sources} if sources else meta.custom
    became = replace(
        kept,
        metadata=replace(meta, tags=tags, importance_score=importance, custom=custom),
        anchor=kept.anchor or next((item.anchor for item in others if item.anchor), None),
        source_uri=kept.source_uri or next((item.source_uri for item in others if item.source_uri), None),
        source_memory_ids=tuple(
            dict.fromkeys(memory_id for item in (kept, *others) for memory_id in (*item.source_memory_ids, item.id))
            if others
            else kept.source_memory_ids
        ),
    )
    merged_ids = tuple(memory_id for memory_id in became.source_memory_ids if memory_id != kept.id)
    return Merge(replace(became, source_memory_ids=merged_ids), tuple(others), cosine)


def _sources(memories: Sequence[Memory]) -> list[object]:
    """The sources of merged memories, and the code that they were about."""
    found: list[object] = []
    for item in memories:
        place = f"{item.anchor.path}:{item.anchor.start_line}" if item.anchor else None
        given = {"source_file": item.metadata.source_file, "source_uri": item.source_uri, "anchor": place}
        if any(given.values()):
            found.append({"id": item.id, **{key: value for key, value in given.items() if value}})
        found += _former_sources(item.metadata.custom)
    return found


def _former_sources(custom: Mapping[str, object]) -> list[object]:
    known = custom.get("merged_sources")
    return known if isinstance(known, list) else []


def _still_holds(store: MemoryStore, merge: Merge) -> bool:
    present = store.by_ids([merge.kept.id, *(item.id for item in merge.merged)])
    versions = {merge.kept.id: merge.kept.version, **{item.id: item.version for item in merge.merged}}
    return {memory_id: item.version for memory_id, item in present.items()} == versions


def _apply_one(store: MemoryStore, merge: Merge) -> None:
    for item in merge.merged:
        store.delete(item.id, reason=CONSOLIDATED)
    # The newest content keeps its time, because merging adds nothing new.
    store.replace(replace(merge.kept, version=merge.kept.version + 1), reason=CONSOLIDATED)


def _never_recalled(store: MemoryStore, now: datetime) -> tuple[Memory, ...]:
    found = store.find(MemoryFilters(never_used=True, no_summaries=True), MemoryOrder.LEAST_USED, _MAX_SHOWN)
    return tuple(item for item in found if now - parse_stamp(item.updated_at) >= _NEVER_RECALLED_AFTER)
