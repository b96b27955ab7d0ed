"""Reads files of memories as unchecked records, each with its place in the file; and writes such files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO

from rag_ls.errors import InvalidRequest
from rag_ls.memory.portable.formats import (
    FENCE,
    Format,
    check_header,
    dump_json,
    format_lines,
    format_named,
    header,
    parse_json,
    parse_lines,
)
from rag_ls.memory.portable.records import encode, to_record
from rag_ls.model import Memory, MemoryFilters
from rag_ls.storage import MemoryStore
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

# A memory with its vectors takes less than a thousandth of this.
MAX_LINE = 64 * 2**20
MAX_JSON = 512 * 2**20
_ENTRY = lazy_pattern(r"[a-z_]+:(\s|$)")
_EVERYTHING = MemoryFilters()
_BATCH_MEMORIES = 500
_Records = Iterator[dict[str, object]]


@dataclass(frozen=True, slots=True)
class Located:
    """A record, and its place in the input."""

    place: str
    record: object


def read_records(source: IO[str], format: Format) -> Iterator[Located]:
    """The records of a file, read lazily. Raises `InvalidRequest` for a file of another format."""
    try:
        if format is Format.JSON:
            yield from _read_json(source)
        elif format is Format.JSONL:
            yield from _read_jsonl(source)
        else:
            yield from _read_markdown([line for _, line in _number_lines(source)])
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"the file is no UTF-8 text ({error.reason}); was it exported by rag-ls?") from error


def _number_lines(source: IO[str]) -> Iterator[tuple[int, str]]:
    """The lines of a text without their ends, each with its number, from 1."""
    number = 0
    while line := source.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE:
            raise InvalidRequest(f"line {number} has more than {MAX_LINE:,} characters; is this a file of memories?")
        yield number, line.removeprefix("\ufeff" if number == 1 else "").rstrip("\r\n")


def _read_json(source: IO[str]) -> Iterator[Located]:
    text = source.read(MAX_JSON)
    if len(text) == MAX_JSON:
        raise InvalidRequest(
            f"the file has more than {MAX_JSON:,} characters; export it as jsonl, which is read line by line"
        )
    try:
        value = parse_json(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise InvalidRequest(f"the file is no JSON: {error}") from None
    if isinstance(value, Mapping):
        check_header(value)
        value = value.get("memories")
    if not isinstance(value, list):
        raise InvalidRequest('the file holds no memories: give a list of records, or an object with one as "memories"')
    for number, record in enumerate(value, 1):
        yield Located(f"record {number}", record)


def _read_jsonl(source: IO[str]) -> Iterator[Located]:
    count = 0
    for number, line in _number_lines(source):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except ValueError as error:
            raise InvalidRequest(f"line {number} is no JSON: {error}") from None
        if not count and isinstance(value, Mapping) and "content" not in value:
            check_header(value)
        else:
            count += 1
            yield Located(f"record {count} (line {number})", value)


def _read_markdown(lines: Sequence[str]) -> Iterator[Located]:
    count = at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        if lines[at].rstrip() != FENCE:
            raise InvalidRequest(
                f"line {at + 1} is {lines[at][:60]!r}, where the front matter of a memory should begin with ---; "
                "if a content was edited, take its content_lines and content_hash out, and if this is a file of rules "
                "or notes, import it as the kind that it is"
            )
        start = at + 1
        values, at = _read_front_matter(lines, start)
        if "format" in values:
            check_header(values)
            continue
        count += 1
        place = f"record {count} (line {start})"
        if "content" not in values:
            values["content"], at = _read_content(lines, at, values.pop("content_lines", None), place)
        yield Located(place, values)


def _read_front_matter(lines: Sequence[str], start: int) -> tuple[dict[str, object], int]:
    """The values between the fence in line `start` and the next one, and where the lines after it begin."""
    end = next((at for at in range(start, len(lines)) if lines[at].rstrip() == FENCE), None)
    if end is None:
        raise InvalidRequest(f"the front matter that begins in line {start} does not end; is the file cut off?")
    try:
        values = parse_lines(lines[start:end])
    except ValueError as error:
        raise InvalidRequest(f"the front matter that begins in line {start} cannot be read: {error}") from None
    if isinstance(tags := values.get("tags"), str):
        values["tags"] = [tag.strip() for tag in tags.split(",") if tag.strip()]
    return values, end + 1


def _read_content(lines: Sequence[str], start: int, count: object, place: str) -> tuple[str, int]:
    """A content of `count` lines, or up to the next front matter, and where the lines after it begin."""
    if count is None:
        fences = (at for at in range(start, len(lines) - 1) if lines[at].rstrip() == FENCE)
        end = next((at for at in fences if _ENTRY.match(lines[at + 1])), len(lines))
        return "\n".join(lines[start:end]).strip(), end
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InvalidRequest(f"{place}: content_lines is not the number of lines of the content; take it out")
    if start + count > len(lines):
        raise InvalidRequest(f"{place}: the content has fewer than {count} lines; is the file cut off?")
    return "\n".join(lines[start : start + count]), start + count


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


def _write_json(header: Mapping[str, object], records: _Records) -> Iterator[str]:
    yield dump_json({**header, "memories": []}).removesuffix("]}")
    for number, record in enumerate(records):
        yield ",\n" if number else "\n"
        yield dump_json(record)
    yield "\n]}\n"


def _write_jsonl(header: Mapping[str, object], records: _Records) -> Iterator[str]:
    yield dump_json(header) + "\n"
    for record in records:
        yield dump_json(record) + "\n"


def _write_markdown(header: Mapping[str, object], records: _Records) -> Iterator[str]:
    yield from format_lines(header)
    for record in records:
        yield "\n"
        yield from _section(record)


def _section(record: dict[str, object]) -> Iterator[str]:
    content, metadata = str(record.pop("content")), record.pop("metadata")
    assert isinstance(metadata, dict)
    said = {name: value for name, value in {**record, **metadata}.items() if value not in (None, [], {})}
    if "\r" in content:
        # Tools and text modes would convert these line ends, so write the content as a JSON value.
        yield from format_lines({**said, "content": content})
        return
    yield from format_lines({**said, "content_lines": content.count("\n") + 1})
    yield content
    yield "\n"


_TEXTS: Mapping[Format, Callable[[Mapping[str, object], _Records], Iterator[str]]] = {
    Format.JSON: _write_json,
    Format.JSONL: _write_jsonl,
    Format.MARKDOWN: _write_markdown,
}
