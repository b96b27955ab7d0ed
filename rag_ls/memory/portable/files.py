"""Reads files of memories as unchecked records, each with its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
            yield from _read_jsonl(_Lines(source))
        else:
            yield from _read_markdown(_Lines(source))
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"the file is no UTF-8 text ({error.reason}); was it exported by rag-ls?") from error


class _Lines:
    """The lines of a text without their ends, counted."""

    def __init__(self, source: IO[str]) -> None:
        self.number = 0
        self._source = source
        self._given_back: list[str] = []

    def next(self) -> str | None:
        """The next line; None at the end of the text."""
        line = self._given_back.pop() if self._given_back else self._read()
        self.number += line is not None
        return line

    def next_filled(self) -> str | None:
        """The next line that is not blank; None at the end of the text."""
        while (line := self.next()) is not None and not line.strip():
            pass
        return line

    def peek(self) -> str | None:
        """The next line, without consuming it."""
        if (line := self.next()) is not None:
            self.give_back(line)
        return line

    def give_back(self, line: str) -> None:
        """Make the line that was read last the next one again."""
        self._given_back.append(line)
        self.number -= 1

    def _read(self) -> str | None:
        line = self._source.readline(MAX_LINE)
        if len(line) == MAX_LINE:
            raise InvalidRequest(
                f"line {self.number + 1} has more than {MAX_LINE:,} characters; is this a file of memories?"
            )
        mark = "\ufeff" if self.number == 0 else ""
        return line.removeprefix(mark).rstrip("\r\n") if line else None


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


def _read_jsonl(lines: _Lines) -> Iterator[Located]:
    count = 0
    while (line := lines.next_filled()) is not None:
        try:
            value = parse_json(line)
        except ValueError as error:
            raise InvalidRequest(f"line {lines.number} is no JSON: {error}") from None
        if not count and isinstance(value, Mapping) and "content" not in value:
            check_header(value)
        else:
            count += 1
            yield Located(f"record {count} (line {lines.number})", value)


def _read_markdown(lines: _Lines) -> Iterator[Located]:
    count, line = 0, lines.next_filled()
    while line is not None:
        if line.rstrip() != FENCE:
            raise InvalidRequest(
                f"line {lines.number} is {line[:60]!r}, where the front matter of a memory should begin with ---; "
                "if a content was edited, take its content_lines and content_hash out, and if this is a file of rules "
                "or notes, import it as the kind that it is"
            )
        start = lines.number
        values = _read_front_matter(lines)
        if "format" in values:
            check_header(values)
        else:
            count += 1
            place = f"record {count} (line {start})"
            if "content" not in values:
                values["content"] = _read_content(lines, values.pop("content_lines", None), place)
            yield Located(place, values)
        line = lines.next_filled()


def _read_front_matter(lines: _Lines) -> dict[str, object]:
    start, found = lines.number, list[str]()
    while (line := lines.next()) is not None:
        if line.rstrip() == FENCE:
            break
        found.append(line)
    else:
        raise InvalidRequest(f"the front matter that begins in line {start} does not end; is the file cut off?")
    try:
        values = parse_lines(found)
    except ValueError as error:
        raise InvalidRequest(f"the front matter that begins in line {start} cannot be read: {error}") from None
    if isinstance(tags := values.get("tags"), str):
        values["tags"] = [tag.strip() for tag in tags.split(",") if tag.strip()]
    return values


def _read_content(lines: _Lines, count: object, place: str) -> str:
    if count is None:
        return "\n".join(_up_to_front_matter(lines)).strip()
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InvalidRequest(f"{place}: content_lines is not the number of lines of the content; take it out")
    content: list[str] = []
    while len(content) < count:
        if (line := lines.next()) is None:
            raise InvalidRequest(f"{place}: the content has fewer than {count} lines; is the file cut off?")
        content.append(line)
    return "\n".join(content)


def _up_to_front_matter(lines: _Lines) -> Iterator[str]:
    while (line := lines.next()) is not None:
        if line.rstrip() == FENCE and _ENTRY.match(lines.peek() or ""):
            lines.give_back(line)
            return
        yield line


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
