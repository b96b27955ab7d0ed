"""Collections: texts that programs push, cut into chunks; each collection is a store of memories of its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from rag_ls.chunking import Budget, approximate_token_offsets, chunk_text
from rag_ls.errors import InvalidRequest
from rag_ls.memory.new_memories import check_metadata, refuse_secrets
from rag_ls.model import Memory, MemoryFilters, MemoryMetadata, MemoryType
from rag_ls.storage import MemoryStore
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import content_hash, without_surrogates

MAX_TEXT = 5_000_000
_NAME = lazy_pattern(r"[a-z0-9][a-z0-9_.-]{0,63}")
# A chunk of this length fits the window of every known model, so it has one vector.
_BUDGET = Budget(max_tokens=200, min_tokens=24, overlap_tokens=0)


@dataclass(frozen=True, slots=True)
class PushedText:
    """A text with what its program says of it."""

    text: str
    project_id: str
    memory_type: MemoryType
    tags: tuple[str, ...] = ()
    source_uri: str | None = None
    force: bool = False
    """Keep it even if it looks like it holds a secret."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """The outcome of pushing a text: the ids of its chunks in their order, and how many of them were new."""

    memory_ids: tuple[str, ...]
    inserted: int
    updated: int
    skipped: int
    longest: int
    """Tokens of its longest chunk, about."""


def check_name(name: str) -> str:
    """A collection's name as it is kept: in lower case. Raises `InvalidRequest`."""
    found = name.strip().lower()
    if not _NAME.fullmatch(found):
        raise InvalidRequest(
            f"{name!r} cannot be a collection's name: give up to 64 letters, digits, '-', '_' or '.', beginning with a "
            "letter or digit"
        )
    return found


def chunks_of(text: str) -> list[str]:
    """The chunks of a text, cut at headings, paragraphs and sentences; blank ones are left out."""
    pieces = chunk_text(text, "text.md", language="markdown", budget=_BUDGET, token_offsets=approximate_token_offsets)
    return [found for piece in pieces if (found := piece.text.strip())]


def count_tokens(text: str) -> int:
    """About how many tokens a text has."""
    return len(approximate_token_offsets(text))


def push(store: MemoryStore, pushed: PushedText, stamp: str) -> Pushed:
    """Keep a text's chunks. Chunks that are there already (same hash and source; without a source, in any) are skipped.

    A text that was pushed before from the same source is replaced by this one: chunks that changed are updated, those
    that it has no longer are deleted. All of it happens or nothing. Raises `InvalidRequest`.
    """
    text = without_surrogates(pushed.text)
    if len(text) > MAX_TEXT:
        raise InvalidRequest(f"text has {len(text):,} characters; push at most {MAX_TEXT:,} at once")
    metadata = check_metadata(MemoryMetadata(tags=pushed.tags))
    contents = chunks_of(text)
    if not contents:
        raise InvalidRequest("text is blank; give the text to keep")
    if not pushed.force:
        refuse_secrets(text, metadata, pushed.source_uri, pushed.project_id)
    pushing = _Pushing(store, pushed, metadata, stamp)
    store.backup()
    with store.transaction():
        found = pushing.keep(contents)
    store.vectors.maintain()
    return found


class _Pushing:
    """One text on its way into a store."""

    def __init__(self, store: MemoryStore, pushed: PushedText, metadata: MemoryMetadata, stamp: str) -> None:
        self._store = store
        self._pushed = pushed
        self._metadata = metadata
        self._stamp = stamp

    def keep(self, contents: list[str]) -> Pushed:
        """Keep what is known already, write the new chunks over former ones of the same source, delete the rest."""
        former = self._former()
        ids: dict[str, str] = {}
        places = {content_hash(content): place for place, content in reversed(list(enumerate(contents)))}
        for digest, place in places.items():
            if (known := self._find_known(digest, former)) is not None:
                ids[digest] = self._keep_chunk(known, place).id
        rest = [memory for memory in former if memory.id not in ids.values()]
        skipped = len(contents) - len(places) + len(ids)
        written = [
            (digest, place) for digest, place in sorted(places.items(), key=lambda item: item[1]) if digest not in ids
        ]
        for (digest, place), present in zip(written, rest, strict=False):
            ids[digest] = self._change_chunk(present, contents[place], place).id
        for digest, place in written[len(rest) :]:
            ids[digest] = self._insert_chunk(contents[place], place).id
        for memory in rest[len(written) :]:
            self._store.delete(memory.id)
        updated = min(len(written), len(rest))
        memory_ids = tuple(ids[content_hash(content)] for content in contents)
        return Pushed(memory_ids, len(written) - updated, updated, skipped, max(map(count_tokens, contents)))

    def _former(self) -> list[Memory]:
        """The chunks of the same source, in their order; none for a text without a source."""
        pushed = self._pushed
        if pushed.source_uri is None:
            return []
        filters = MemoryFilters(project_ids=(pushed.project_id,), source_uri=pushed.source_uri, no_summaries=True)
        return sorted(self._store.find(filters), key=lambda memory: memory.metadata.chunk_index or 0)

    def _find_known(self, digest: str, former: list[Memory]) -> Memory | None:
        """The chunk with this content in the same source; for a text without a source, in any.

        A text without a source keeps nothing that is there already. A chunk of another source, or of none, is no source's
        to replace.
        """
        if self._pushed.source_uri is None:
            return next(iter(self._store.pushed(digest, self._pushed.project_id)), None)
        return next((memory for memory in former if memory.content_hash == digest), None)

    def _keep_chunk(self, known: Memory, place: int) -> Memory:
        """A chunk that is there already, with its place in this text."""
        if self._pushed.source_uri is None or known.metadata.chunk_index == place:
            return known
        moved = replace(known, metadata=replace(known.metadata, chunk_index=place))
        self._store.replace(replace(moved, version=known.version + 1))
        return moved

    def _change_chunk(self, present: Memory, content: str, place: int) -> Memory:
        changed = replace(
            present, content=content, content_hash=content_hash(content), updated_at=self._stamp,
            metadata=replace(self._metadata, chunk_index=place), memory_type=self._pushed.memory_type,
            version=present.version + 1,
        )  # fmt: skip
        self._store.replace(changed)
        return changed

    def _insert_chunk(self, content: str, place: int) -> Memory:
        memory = Memory(
            id=str(uuid.uuid4()), content=content, scope=self._store.scope,
            metadata=replace(self._metadata, chunk_index=place), memory_type=self._pushed.memory_type,
            created_at=self._stamp, updated_at=self._stamp, version=1, content_hash=content_hash(content),
            source_uri=self._pushed.source_uri, project_id=self._pushed.project_id,
        )  # fmt: skip
        self._store.insert(memory)
        return memory


def sources(memories: Iterator[Memory]) -> int:
    """The number of documents that some chunks come from; each chunk without a source counts as one."""
    named: set[tuple[str | None, str]] = set()
    unnamed = 0
    for memory in memories:
        if memory.source_uri is None:
            unnamed += 1
        else:
            named.add((memory.project_id, memory.source_uri))
    return len(named) + unnamed
