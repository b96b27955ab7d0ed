"""Exports the memories of a store as text that another machine, another tool or a person can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import IO

from rag_ls.errors import InvalidRequest
from rag_ls.memory.portable import front_matter, strict_json
from rag_ls.memory.portable.embeddings import encode
from rag_ls.memory.portable.formats import Format, format_named, header
from rag_ls.memory.portable.records import to_record
from rag_ls.model import Memory, MemoryFilters
from rag_ls.storage import MemoryStore

_EVERYTHING = MemoryFilters()
_BATCH_MEMORIES = 500

_Records = Iterator[dict[str, object]]


def export_memories(
    store: MemoryStore,
    target: IO[str],
    format: str,
    *,
    filters: MemoryFilters = _EVERYTHING,
    embeddings: bool = False,
) -> int:
    """Write the memories of `store` that pass the filters, the oldest first; returns their number. The filters' scopes
    are ignored.

    The same memories always give the same text. `embeddings` adds the vectors of every model to json and jsonl.
    Raises `InvalidRequest` for an unknown format, and for embeddings in Markdown.
    """
    chosen = format_named(format)
    if embeddings and chosen is Format.MARKDOWN:
        raise InvalidRequest("markdown holds no embeddings; export them as json or jsonl")
    memories = sorted(store.find(filters), key=lambda memory: (memory.created_at, memory.id))
    target.writelines(_TEXTS[chosen](header(store.scope), _records(store, memories, embeddings)))
    return len(memories)


def _records(store: MemoryStore, memories: list[Memory], embeddings: bool) -> _Records:
    for start in range(0, len(memories), _BATCH_MEMORIES):
        batch = memories[start : start + _BATCH_MEMORIES]
        vectors = _vectors(store, batch) if embeddings else {}
        for memory in batch:
            yield to_record(memory) | ({"embeddings": vectors[memory.id]} if embeddings else {})


def _vectors(store: MemoryStore, batch: list[Memory]) -> dict[str, dict[str, list[str]]]:
    texts: dict[str, dict[str, list[str]]] = {memory.id: {} for memory in batch}
    for memory_id, model, vectors in store.vectors.all_of({memory.id: memory.content_hash for memory in batch}):
        texts[memory_id][model] = encode(vectors)
    return texts


def _json(header: Mapping[str, object], records: _Records) -> Iterator[str]:
    yield strict_json.dump({**header, "memories": []}).removesuffix("]}")
    for number, record in enumerate(records):
        yield ",\n" if number else "\n"
        yield strict_json.dump(record)
    yield "\n]}\n"


def _jsonl(header: Mapping[str, object], records: _Records) -> Iterator[str]:
    yield strict_json.dump(header) + "\n"
    for record in records:
        yield strict_json.dump(record) + "\n"


def _markdown(header: Mapping[str, object], records: _Records) -> Iterator[str]:
    yield from front_matter.format_lines(header)
    for record in records:
        yield "\n"
        yield from _section(record)


def _section(record: dict[str, object]) -> Iterator[str]:
    content, metadata = str(record.pop("content")), record.pop("metadata")
    assert isinstance(metadata, dict)
    said = {name: value for name, value in {**record, **metadata}.items() if value not in (None, [], {})}
    if "\r" in content:
        # Tools and text modes would convert these line ends, so write the content as a JSON value.
        yield from front_matter.format_lines({**said, "content": content})
        return
    yield from front_matter.format_lines({**said, "content_lines": content.count("\n") + 1})
    yield content
    yield "\n"


_TEXTS: Mapping[Format, Callable[[Mapping[str, object], _Records], Iterator[str]]] = {
    Format.JSON: _json,
    Format.JSONL: _jsonl,
    Format.MARKDOWN: _markdown,
}
