"""Consolidation: merges memories that say the same, proposes what may; reports contradictions and the never recalled."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding import Embedder
from rag_ls.errors import InvalidRequest
from rag_ls.memory.batches import CONSOLIDATED, carry_out
from rag_ls.memory.contradictions import Contradiction, canonical_text, find_contradiction, may_say_the_same
from rag_ls.memory.new_memories import MAX_TAGS
from rag_ls.memory.parts import embed_missing
from rag_ls.memory.recall import parse_stamp
from rag_ls.model import Memory, MemoryFilters, MemoryOrder
from rag_ls.storage import MemoryStore
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import utc_stamp

# From this cosine on, two memories are checked for a contradiction: a sentence and its opposite are close.
_MIN_RELATED_COSINE = 0.5
# A younger memory may not yet have had a chance to be useful.
_NEVER_RECALLED_AFTER = timedelta(days=30)
_MAX_SHOWN = 50
# Fits within the limit of `custom`.
_MAX_SOURCES = 50
# This many rows of the similarity matrix are in memory at once.
_BLOCK_ROWS = 512
# Only this many neighbours of each vector count; merging a larger cluster takes several runs.
_MAX_NEIGHBOURS = 64


@dataclass(frozen=True, slots=True)
class Merge:
    """Memories that say the same, and the one that replaces them."""

    kept: Memory
    """The most recent one after the merge: with all tags, the mean importance, all source references."""
    merged: tuple[Memory, ...]
    """The others, which are deleted."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Memories that may say the same: a person or an agent decides."""

    memories: tuple[Memory, ...]
    cosine: float
    """The cosine of the two farthest memories."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that a consolidation of one scope would make."""

    merges: tuple[Merge, ...]
    proposals: tuple[Proposal, ...]
    contradictions: tuple[Contradiction, ...]
    never_recalled: tuple[Memory, ...]
    """Some memories that were never recalled though they are old enough, the oldest first."""


def plan(store: MemoryStore, model_id: str, threshold: float, now: datetime) -> Plan:
    """Plan the merges; propose what a cosine of `threshold` and more connects. Summaries count for neither."""
    known = {memory.id: memory for memory in store.find(MemoryFilters(no_summaries=True))}
    groups = _group_same(known.values())
    merged = {memory.id for group in groups for memory in group[1:]}
    ids, vectors = store.vectors.centres(model_id, MemoryFilters(no_summaries=True))
    close: list[tuple[int, int, float]] = []
    contradictions: list[Contradiction] = []
    for left, right, cosine in pairs_above(vectors, min(_MIN_RELATED_COSINE, threshold)):
        one, other = known.get(ids[left]), known.get(ids[right])
        if one is None or other is None or {one.id, other.id} & merged or not one.may_be_one_with(other):
            continue
        if found := find_contradiction(one, other):
            contradictions.append(found)
        elif cosine >= threshold and may_say_the_same(one, other):
            close.append((left, right, cosine))
    proposals = [
        Proposal(_newest_first(known[ids[index]] for index in indices), value)
        for indices, value in complete_linkage(iter(close))
    ]
    proposals.sort(key=lambda proposal: -proposal.cosine)
    merges = tuple(_merge(group) for group in groups if len(group) > 1)
    return Plan(merges, tuple(proposals[:_MAX_SHOWN]), tuple(contradictions[:_MAX_SHOWN]), _never_recalled(store, now))


def plan_chosen(memories: Sequence[Memory]) -> Merge:
    """The merge of memories that a person says are the same. Raises `InvalidRequest` where one would lose its place."""
    for one, other in itertools.combinations(memories, 2):
        if one.id == other.id or not one.may_be_one_with(other):
            raise InvalidRequest(
                f"{one.id} and {other.id} stay apart: memories become one only where their code, type and branch are the "
                "same, and both or neither are private; update or delete one of them"
            )
    return _merge(_newest_first(memories))


def _group_same(memories: Iterable[Memory]) -> list[list[Memory]]:
    """The memories in groups that say the same and may be one, the newest of each first."""
    groups: dict[str, list[list[Memory]]] = {}
    for memory in _newest_first(memories):
        alike = groups.setdefault(canonical_text(memory.content), [])
        group = next((group for group in alike if all(map(memory.may_be_one_with, group))), None)
        if group is None:
            alike.append([memory])
        else:
            group.append(memory)
    return [group for alike in groups.values() for group in alike]


def _newest_first(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    return tuple(sorted(memories, key=lambda item: (item.updated_at, item.id), reverse=True))


def consolidate(
    store: MemoryStore,
    embedder: Embedder,
    threshold: float,
    now: datetime,
    *,
    chosen: Sequence[Memory] = (),
    batch_id: str = "",
    dry_run: bool = False,
) -> tuple[Plan, str]:
    """Embed missing memories, plan and merge; of `chosen` ones only those. Returns the plan, and the id for an undo."""
    while embed_missing(store, embedder):
        pass
    found = Plan((plan_chosen(chosen),), (), (), ()) if chosen else plan(store, embedder.card.id, threshold, now)
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


def _merge(group: Sequence[Memory]) -> Merge:
    kept, *others = group
    meta = kept.metadata
    tags = tuple(dict.fromkeys(tag for item in (kept, *others) for tag in item.metadata.tags))[:MAX_TAGS]
    importance = round(sum(item.metadata.importance_score for item in group) / len(group), 6)
    sources = [*_former_sources(meta.custom), *_sources(others)][-_MAX_SOURCES:]
    custom = {**meta.custom, "merged_sources": sources} if sources else meta.custom
    became = replace(
        kept,
        metadata=replace(
            meta,
            tags=tags,
            importance_score=importance,
            custom=custom,
            source_file=next((item.metadata.source_file for item in group if item.metadata.source_file), None),
        ),
        anchor=kept.anchor or next((item.anchor for item in others if item.anchor), None),
        source_uri=kept.source_uri or next((item.source_uri for item in others if item.source_uri), None),
        source_memory_ids=tuple(
            dict.fromkeys(memory_id for item in (kept, *others) for memory_id in (*item.source_memory_ids, item.id))
            if others
            else kept.source_memory_ids
        ),
    )
    merged_ids = tuple(memory_id for memory_id in became.source_memory_ids if memory_id != kept.id)
    return Merge(replace(became, source_memory_ids=merged_ids), tuple(others))


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


def pairs_above(vectors: NDArray[np.float32], threshold: float) -> Iterator[tuple[int, int, float]]:
    """The pairs (i, j, cosine) with i < j and cosine >= `threshold` of unit vectors, shape (n, dimensions)."""
    for start in range(0, len(vectors), _BLOCK_ROWS):
        similarities = vectors[start : start + _BLOCK_ROWS] @ vectors[start:].T
        for row, values in enumerate(similarities):
            columns = np.flatnonzero(values[row + 1 :] >= threshold) + row + 1
            if len(columns) > _MAX_NEIGHBOURS:
                columns = columns[np.argsort(-values[columns], kind="stable")[:_MAX_NEIGHBOURS]]
            yield from ((start + row, start + int(column), float(values[column])) for column in columns)


def complete_linkage(pairs: Iterator[tuple[int, int, float]]) -> list[tuple[list[int], float]]:
    """Clusters of two and more members, each with the cosine of its two farthest members.

    Agglomerative: joins the two clusters whose farthest members are closest, as long as `pairs` holds all pairs between
    them (Defays, "An efficient algorithm for a complete link method", 1977; here on a sparse graph, with a heap).
    Deterministic.
    """
    links: dict[int, dict[int, float]] = {}
    for left, right, value in pairs:
        links.setdefault(left, {})[right] = value
        links.setdefault(right, {})[left] = value
    members = {index: [index] for index in links}
    lowest: dict[int, float] = {}
    heap = [(-value, left, right) for left, row in links.items() for right, value in row.items() if left < right]
    heapq.heapify(heap)
    fresh = max(members, default=0) + 1
    while heap:
        negative, left, right = heapq.heappop(heap)
        if left not in members or right not in members:
            continue
        members[fresh] = members.pop(left) + members.pop(right)
        lowest[fresh] = min(-negative, lowest.pop(left, 1.0), lowest.pop(right, 1.0))
        links[fresh] = _join_links(links, left, right, members)
        for other, value in links[fresh].items():
            links[other][fresh] = value
            heapq.heappush(heap, (-value, other, fresh))
        fresh += 1
    return [(sorted(members[index]), value) for index, value in sorted(lowest.items())]


def _join_links(
    links: dict[int, dict[int, float]], left: int, right: int, members: dict[int, list[int]]
) -> dict[int, float]:
    """The cosine of each other cluster to two joined ones: the smaller of the two."""
    first, second = links.pop(left), links.pop(right)
    return {other: min(value, second[other]) for other, value in first.items() if other in second and other in members}
