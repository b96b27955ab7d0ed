"""Imports records into a store: checks all of them first, then writes all or none."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO

from rag_ls.errors import InvalidRequest
from rag_ls.memory.portable.files import Located, read_records
from rag_ls.memory.portable.formats import format_named
from rag_ls.memory.portable.records import ImportDestination, Incoming, to_incoming
from rag_ls.memory.uniting import absorb
from rag_ls.model import Memory
from rag_ls.storage import MemoryStore
from rag_ls.util.records import dataclass, replace

_MAX_SHOWN_PROBLEMS = 10
INSERTED = "inserted"
UPDATED = "updated"
UNCHANGED = "unchanged"
DUPLICATE = "duplicate"
# A memory waits at most this many rounds for others to change their content; longer chains are rare.
_MAX_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The numbers of an import's records, by outcome."""

    inserted: int
    updated: int
    """The record was newer than the memory with its id, which got a new version."""
    unchanged: int
    """The memory existed already, equal or newer."""
    duplicates: int
    """Another memory has the same content; it got the record's missing tags."""


def import_memories(
    store: MemoryStore,
    source: IO[str],
    format: str,
    *,
    force: bool = False,
    now: str,
    is_elsewhere: Callable[[str], bool] = lambda _: False,
) -> ImportResult:
    """Import a file that `export_memories` or a person wrote into the scope of `store`, whatever scope the file names.

    `now` (RFC 3339, UTC) is the time of records without one. `force` allows content that looks like a secret.
    `is_elsewhere` tells whether another scope has a memory with an id. The imported memory then gets a new id, the same
    one at each import. Raises `InvalidRequest`, which lists all problems with their places; then nothing was written.
    """
    located = read_records(source, format_named(format))
    return _import(store, located, ImportDestination(store.scope, now, force), is_elsewhere)


def import_records(
    store: MemoryStore,
    records: Iterable[Mapping[str, object]],
    *,
    force: bool = False,
    now: str,
    is_elsewhere: Callable[[str], bool] = lambda _: False,
) -> ImportResult:
    """As `import_memories`, for records, for example from `read_foreign`."""
    located = (Located(_place(number, record), record) for number, record in enumerate(records, 1))
    return _import(store, located, ImportDestination(store.scope, now, force), is_elsewhere)


def _place(number: int, record: Mapping[str, object]) -> str:
    source = record.get("source_uri") if isinstance(record, Mapping) else None
    named = isinstance(source, str) and source.isprintable()
    return f"record {number} (of {source})" if named else f"record {number}"


def _import(
    store: MemoryStore, located: Iterable[Located], target: ImportDestination, is_elsewhere: Callable[[str], bool]
) -> ImportResult:
    incoming = [
        replace(item, memory=replace(item.memory, id=_make_new_id(item.memory)))
        if is_elsewhere(item.memory.id) and store.get(item.memory.id) is None
        else item
        for item in _check_records(store, located, target)
    ]
    with store.transaction():
        outcomes = ImportMerge(store, target.now).run(incoming)
    return ImportResult(outcomes[INSERTED], outcomes[UPDATED], outcomes[UNCHANGED], outcomes[DUPLICATE])


def _make_new_id(memory: Memory) -> str:
    """A new id for a memory whose id belongs to a memory of another scope."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"rag-ls:{memory.scope}:{memory.id}"))


def _check_records(store: MemoryStore, located: Iterable[Located], target: ImportDestination) -> list[Incoming]:
    incoming, shown, count = [], list[str](), 0
    conflicts = _Conflicts(store)
    for item in located:
        problems: list[str] = []
        checked = to_incoming(item.record, target, problems)
        if checked is not None:
            problems += conflicts.find(checked, item.place)
            incoming.append(checked)
        shown += [f"- {item.place}: {problem}" for problem in problems[: _MAX_SHOWN_PROBLEMS - len(shown)]]
        count += len(problems)
    if count:
        more = [f"- and {count - len(shown):,} more"] if count > len(shown) else []
        raise InvalidRequest("\n".join(["nothing was imported; correct these first:", *shown, *more]))
    return incoming


class _Conflicts:
    """Checks the records of one import against each other, and their vectors against those of the store."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._places: dict[tuple[str, str], str] = {}
        self._dimensions: dict[str, int] = {}

    def find(self, item: Incoming, place: str) -> list[str]:
        """The conflicts of a record with earlier records, and with the store's vectors."""
        problems = []
        names = {
            "id": "" if "id" in item.missing_fields else item.memory.id,
            "summary_key": item.memory.summary_key or "",
        }
        for name, value in names.items():
            if value and (first := self._places.setdefault((name, value), place)) != place:
                problems.append(f"{name} {value[:60]!r} is that of {first} too; leave one of them out")
        for model, vectors in item.embeddings.items():
            size = vectors.shape[1]
            if (wanted := self._dimensions_of(model, size)) != size:
                problems.append(
                    f"the embeddings of {model!r} have {size} dimensions, but those of other memories have {wanted}; "
                    "leave the field out: rag-ls embeds the text again"
                )
        return problems

    def _dimensions_of(self, model: str, default: int) -> int:
        if model not in self._dimensions:
            self._dimensions[model] = self._store.vectors.dimensions(model) or default
        return self._dimensions[model]


class ImportMerge:
    """An import into a store. Run it inside a transaction of the store."""

    def __init__(self, store: MemoryStore, now: str) -> None:
        """`now` is the time of changes that the import makes by itself."""
        self._store = store
        self._now = now

    def run(self, incoming: Sequence[Incoming]) -> Counter[str]:
        """Store all incoming memories; returns the number of each outcome.

        An incoming memory waits if its content is still that of another memory that is about to get new content.
        """
        outcomes: Counter[str] = Counter()
        moving = {item.memory.id for item in incoming}
        for turn in range(_MAX_ROUNDS):
            waiting = []
            for item in incoming:
                present, twin = self._store.get(item.memory.id), self._store.twin(item.memory)
                if twin is not None and twin.id in moving and twin.content_hash == item.memory.content_hash:
                    waiting.append(item)
                else:
                    outcomes[self._merge(item, present, twin)] += 1
                    moving.discard(item.memory.id)
            if turn == _MAX_ROUNDS - 2 or len(waiting) == len(incoming):
                # They wait in a circle or in a long chain: stop waiting, and keep the existing memories.
                moving = set()
            # Backwards, because in a chain of memories that wait for each other only the last can begin.
            incoming = waiting[::-1]
        return outcomes

    def _merge(self, item: Incoming, present: Memory | None, twin: Memory | None) -> str:
        if present is None:
            outcome, kept = self._add(item, twin)
        elif "id" in item.missing_fields:
            outcome, kept = self._merge_by_content(item.memory, present)
        else:
            outcome, kept = self._update(item, present, twin)
        for model, vectors in item.embeddings.items():
            if outcome == INSERTED or not self._store.vectors.of(kept.id, model).size:
                self._store.vectors.add(kept.id, model, item.memory.content_hash, vectors)
        return outcome

    def _add(self, item: Incoming, twin: Memory | None) -> tuple[str, Memory]:
        if twin is not None:
            return self._join(item.memory, twin)
        memory = item.memory
        former = self._store.history(memory.id)
        if former and former[0].memory.version >= memory.version:
            # The memory was deleted here: it comes back as a new version, like a restored memory.
            memory = replace(memory, version=former[0].memory.version + 1)
        self._store.insert(memory)
        return INSERTED, memory

    def _merge_by_content(self, memory: Memory, present: Memory) -> tuple[str, Memory]:
        """Merge a memory without an id into the one with its content; changes that were made here since are kept."""
        if memory.content_hash != present.content_hash:
            return UNCHANGED, present
        outcome, joined = self._join(memory, present)
        return (UNCHANGED if joined == present else outcome), joined

    def _update(self, item: Incoming, present: Memory, twin: Memory | None) -> tuple[str, Memory]:
        kept_fields = {name: getattr(present, name) for name in item.missing_fields}
        memory = replace(item.memory, **kept_fields)
        if memory == present:
            return UNCHANGED, present
        if "updated_at" in kept_fields:
            memory = replace(memory, updated_at=self._now)
        if (memory.version, memory.updated_at) <= (present.version, present.updated_at):
            return UNCHANGED, present
        if twin is not None:
            return self._join(memory, twin)
        if replace(memory, updated_at=present.updated_at) == present:
            self._store.touch(memory.id, memory.updated_at)
            return UPDATED, memory
        memory = replace(memory, version=max(memory.version, present.version + 1))
        self._store.replace(memory)
        return UPDATED, memory

    def _join(self, memory: Memory, twin: Memory) -> tuple[str, Memory]:
        """Merge a memory into its twin, which keeps its id; an older summary gets the newer text."""
        joined = absorb(twin, memory)
        if memory.content_hash != twin.content_hash and memory.updated_at > twin.updated_at:
            joined = replace(joined, content=memory.content, content_hash=memory.content_hash)
        if joined == twin:
            return DUPLICATE, twin
        joined = replace(joined, version=twin.version + 1, updated_at=self._now)
        self._store.replace(joined)
        return (DUPLICATE if joined.content == twin.content else UPDATED), joined
