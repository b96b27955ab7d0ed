"""Memories as answers show them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from rag_ls.chunking import approximate_token_offsets
from rag_ls.engine import ProjectSession
from rag_ls.memory import cut_around, memory_of
from rag_ls.model import Anchor, Hit, Memory, MemoryVersion
from rag_ls.operations.code.budget import count_tokens
from rag_ls.operations.fields import make_json, make_record, optional
from rag_ls.util.records import dataclass, replace

# Longer content is cut in lists and answers of searches; get_memory gives all of it.
MAX_SHOWN_CHARACTERS = 2000
_MAX_BRIEF_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class AnchorRecord:
    """The place in the code that a memory is about."""

    path: str
    state: str
    symbol: str = optional("")
    line: int = optional(0)
    project: str = optional("")
    former_symbol: str = optional("")
    """The name that the declaration had, if it was renamed."""


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """Facts that a caller stated about a memory."""

    tags: tuple[str, ...] = optional(())
    source_file: str | None = optional()
    language: str | None = optional()
    chunk_index: int | None = optional()
    parent_id: str | None = optional()
    ast_node_type: str | None = optional()
    importance_score: float | None = optional()
    custom: Mapping[str, object] = optional({})


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """A former version of a memory."""

    version: int
    content: str
    metadata: MetadataRecord
    memory_type: str
    updated_at: str
    replaced_at: str
    reason: str


@dataclass(frozen=True, slots=True)
class EmbeddingRecord:
    """The vectors of a memory's parts."""

    model: str
    vectors: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory; in search answers with its score, alone with all that is known of it."""

    id: str
    content: str
    scope: str
    metadata: MetadataRecord
    memory_type: str
    created_at: str
    updated_at: str
    version: int
    anchor: AnchorRecord | None
    kind: str = optional("")
    truncated: bool = optional(False)
    start: int | None = optional()
    """The character of the memory with which `content` begins, where it is a part; `get_memory` takes it as `offset`."""
    length: int | None = optional()
    """The number of characters of the whole memory, where `content` is a part."""
    note: str = optional("")
    branch: str = optional("")
    uses: int | None = optional()
    used_at: str | None = optional()
    summary_key: str | None = optional()
    content_hash: str = optional("")
    source_uri: str | None = optional()
    source_memory_ids: tuple[str, ...] | None = optional()
    superseded_by: str = optional("")
    """The id of the memory that took its place."""
    score: float | None = optional()
    matched_by: tuple[str, ...] = optional(())
    similarity: float | None = optional()
    embedding: EmbeddingRecord | None = optional()
    history: tuple[VersionRecord, ...] | None = optional()
    deleted_at: str = optional("")
    reason: str = optional("")
    """The reason why it was deleted."""


@dataclass(frozen=True, slots=True)
class BriefMemory:
    """A memory in a few words."""

    id: str
    content: str
    scope: str
    similarity: float | None = optional()
    """The certainty that it is about the same, 0 to 1, on the same scale for all models."""
    cosine: float | None = optional()
    """The cosine that the similarity comes from; consolidation merges by cosines."""
    contradicts: str = optional("")
    """The reason why both cannot hold, if it looks so."""


def make_memory_record(memory: Memory) -> MemoryRecord:
    """A memory as lists show it: long content is cut."""
    cut = len(memory.content) > MAX_SHOWN_CHARACTERS
    return MemoryRecord(
        id=memory.id, content=memory.content[:MAX_SHOWN_CHARACTERS] + "…" if cut else memory.content,
        scope=memory.scope.value, metadata=make_record(MetadataRecord, memory.metadata), memory_type=memory.memory_type.value,
        created_at=memory.created_at, updated_at=memory.updated_at, version=memory.version,
        anchor=make_anchor_record(memory.anchor), truncated=cut,
        length=len(memory.content) if cut else None, branch=memory.branch or "", uses=memory.uses or None,
        used_at=memory.used_at if memory.uses else None, summary_key=memory.summary_key or None,
    )  # fmt: skip


def make_whole_record(memory: Memory) -> MemoryRecord:
    """A complete memory, without its embedding."""
    return replace(
        make_memory_record(memory), content=memory.content, truncated=False, length=None, uses=memory.uses, used_at=memory.used_at,
        content_hash=memory.content_hash, source_uri=memory.source_uri, source_memory_ids=memory.source_memory_ids,
    )  # fmt: skip


def make_memory_hit(hit: Hit) -> MemoryRecord:
    """A memory with its score; of a long one, the part that answers."""
    memory = memory_of(hit)
    content, start = cut_around(memory.content, hit.offset, MAX_SHOWN_CHARACTERS)
    return replace(
        make_memory_record(memory), content=content, start=start or None, kind="memory",
        score=round(hit.score, 4), matched_by=hit.matched_by, superseded_by=hit.superseded_by,
        similarity=None if hit.similarity is None else round(hit.similarity, 4),
    )  # fmt: skip


def make_version_record(version: MemoryVersion) -> VersionRecord:
    metadata = make_record(MetadataRecord, version.memory.metadata)
    return make_record(
        VersionRecord, version.memory, metadata=metadata, replaced_at=version.replaced_at, reason=version.reason
    )


def make_anchor_record(anchor: Anchor | None) -> AnchorRecord | None:
    """The place that a memory is about, with its state, or None."""
    return make_record(AnchorRecord, anchor, line=anchor.start_line) if anchor is not None else None


def shorten_memory(memory: Memory) -> BriefMemory:
    """A memory in a few words."""
    content = " ".join(memory.content.split())
    short = content if len(content) <= _MAX_BRIEF_CHARACTERS else content[: _MAX_BRIEF_CHARACTERS - 1] + "…"
    return BriefMemory(memory.id, short, memory.scope.value)


def locate_memory(memory: Memory, view: ProjectSession | None) -> Memory:
    """A memory that says which project its place is in, where several may be meant."""
    if view is None or memory.anchor is None or memory.anchor.project:
        return memory
    return replace(memory, anchor=replace(memory.anchor, project=str(view.project.root)))


def has_anchor(memory: Memory, state: str, path: str) -> bool:
    if not (state or path):
        return True
    anchor = memory.anchor
    return anchor is not None and state in ("", "any", anchor.state.value) and path in ("", anchor.path)


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
        left = max(0, budget_tokens - count_tokens(shown))
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
        left -= count_tokens(json.dumps(make_json(record), ensure_ascii=False))
        if shown and left < 0:
            break
        shown.append(record)
    return shown, len(records) - len(shown)


def _fit_versions(versions: Sequence[VersionRecord], budget_tokens: int) -> tuple[VersionRecord, ...]:
    """Former versions, each whole where it fits, else its beginning."""
    fitted = []
    for version in versions:
        shown = _cut_to(version.content, max(budget_tokens, _MIN_VERSION_TOKENS))
        budget_tokens -= count_tokens(shown)
        fitted.append(replace(version, content=shown + "…" * (shown != version.content)))
    return tuple(fitted)


def _cut_to(text: str, budget_tokens: int) -> str:
    starts = approximate_token_offsets(text)
    if len(starts) <= budget_tokens:
        return text
    return text.encode()[: int(starts[budget_tokens])].decode(errors="ignore")
