"""Converts memories to records for export, and imported records to memories."""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_ls.errors import InvalidRequest
from rag_ls.memory.new_memories import check_content, check_metadata, refuse_secrets
from rag_ls.model import PRIVATE, Anchor, Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.storage import Vectors
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import asdict, dataclass, replace
from rag_ls.util.text import content_hash, utc_stamp, without_surrogates

Record = Mapping[str, object]
_T = TypeVar("_T")

_METADATA = (
    "tags", "source_file", "language", "chunk_index", "parent_id", "ast_node_type", "importance_score", "custom",
)  # fmt: skip
# The namespace of derived ids. Never change it, or a second import would store memories twice.
_IDS = uuid.UUID("6f0a5a0e-3f52-5d0c-9f57-0c8a5f1f7d3e")
_MAX_ID_CHARACTERS = 200
# The parts of an anchor that may be missing.
_ANCHOR = ("project", "fingerprint", "body", "sketch", "neighbours", "line_offset", "line_print", "file_hash")
# The largest integer that every JSON reader keeps exact; SQLite's limit is not much larger.
_MAX_INTEGER = 2**53
_STAMP = lazy_pattern(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d")
_HALF = np.dtype("<f2")
# Rounding to float16 moves the length of a unit vector by less than this.
_MAX_LENGTH_ERROR = 0.02


@dataclass(frozen=True, slots=True)
class ImportDestination:
    """The target of an import: the scope, the time for records without one, and whether secrets are allowed."""

    scope: Scope
    now: str
    force: bool = False


@dataclass(frozen=True, slots=True)
class Incoming:
    """A valid record as a memory."""

    memory: Memory
    missing_fields: frozenset[str]
    """Those of id, version, created_at and updated_at that the record left out."""
    embeddings: Mapping[str, Vectors]
    """By model, of shape (parts, dimensions)."""


def to_record(memory: Memory) -> dict[str, object]:
    """A memory as a record, complete but for its scope, its uses and its vectors."""
    anchor, metadata = memory.anchor, asdict(memory.metadata)
    metadata["tags"] = list(memory.metadata.tags)
    return {
        "id": memory.id, "content": memory.content, "metadata": metadata, "memory_type": memory.memory_type.value,
        "created_at": memory.created_at, "updated_at": memory.updated_at, "version": memory.version,
        "content_hash": memory.content_hash, "source_uri": memory.source_uri,
        "source_memory_ids": list(memory.source_memory_ids),
        "anchor": anchor and {
            "path": anchor.path, "symbol": anchor.symbol, "content_hash": anchor.content_hash,
            "start_line": anchor.start_line, **{name: value for name in _ANCHOR if (value := getattr(anchor, name))},
        },
        "branch": memory.branch, "summary_key": memory.summary_key,
    }  # fmt: skip


def to_incoming(record: object, target: ImportDestination, problems: list[str]) -> Incoming | None:
    """A record as a memory of `target`; None for an invalid one, whose errors are added to `problems`.

    Metadata fields may also stand beside `metadata`. Content that comes with its hash is kept exactly; other content is
    normalised as when storing it.
    """
    if not isinstance(record, Mapping):
        problems.append("is no object with the fields of a memory")
        return None
    found: list[str] = []
    try:
        incoming = _incoming(record, target, found)
    except RecursionError:
        found.append("is nested too deeply; make it flatter")
    problems += found
    return None if found else incoming


def _incoming(record: Record, target: ImportDestination, problems: list[str]) -> Incoming:
    fields = Fields({name: value for name, value in record.items() if name not in _METADATA}, problems)
    metadata = _metadata(
        {name: record[name] for name in _METADATA if name in record}, fields.mapping("metadata"), problems
    )
    content, digest = _content(fields, problems)
    branch, key = fields.text("branch") or None, fields.text("summary_key") or None
    memory_id, version = _id(fields, problems), fields.whole("version", 1)
    created, updated = fields.stamp("created_at"), fields.stamp("updated_at")
    said = {"id": memory_id, "version": version, "created_at": created, "updated_at": updated}
    memory = Memory(
        id=memory_id or "", content=content, scope=target.scope,
        metadata=metadata, memory_type=_memory_type(fields, problems), created_at=_or(created, _or(updated, target.now)),
        updated_at=_or(updated, _or(created, target.now)), version=_or(version, 1), content_hash=digest,
        source_uri=fields.text("source_uri"), source_memory_ids=fields.texts("source_memory_ids"),
        anchor=_anchor(fields.mapping("anchor"), problems), branch=branch, summary_key=key,
    )  # fmt: skip
    if memory_id is None:
        memory = replace(memory, id=_derived_id(memory))
    embeddings = decode(fields.anything("embeddings"), problems)
    fields.refuse_others()
    if not problems and not target.force:
        _note_problem(problems, lambda: refuse_secrets(content, metadata))
    return Incoming(memory, frozenset(name for name, value in said.items() if value is None), embeddings)


def _or(value: _T | None, default: _T) -> _T:
    return default if value is None else value


def _metadata(beside: Record, inside: Record | None, problems: list[str]) -> MemoryMetadata:
    fields = Fields({**beside, **(inside or {})}, problems, "metadata" if inside is not None else "")
    metadata = MemoryMetadata(
        tags=fields.texts("tags"),
        source_file=fields.text("source_file", in_column=False),
        language=fields.text("language", in_column=False),
        chunk_index=fields.whole("chunk_index", 0),
        parent_id=fields.text("parent_id", in_column=False),
        ast_node_type=fields.text("ast_node_type", in_column=False),
        importance_score=_or(fields.share("importance_score"), MemoryMetadata().importance_score),
        custom=_or(fields.mapping("custom"), {}),
    )
    fields.refuse_others()
    _note_problem(problems, lambda: check_metadata(metadata))
    return metadata


def _content(fields: Fields, problems: list[str]) -> tuple[str, str]:
    before = len(problems)
    content, digest = fields.text("content"), fields.text("content_hash")
    if content is None:
        if len(problems) == before:
            problems.append("has no content; give the text to remember")
        return "", ""
    try:
        kept = check_content(content, force=True)
    except InvalidRequest as error:
        problems.append(str(error))
        return "", ""
    if digest is None:
        return kept, content_hash(kept)
    if digest != content_hash(content):
        problems.append(
            f"content_hash {digest[:16]!r} is not that of the content; leave it out if the content was edited"
        )
    return content, digest


def _id(fields: Fields, problems: list[str]) -> str | None:
    memory_id = fields.text("id")
    if memory_id is not None and (
        not 0 < len(memory_id) <= _MAX_ID_CHARACTERS or not memory_id.isprintable() or " " in memory_id
    ):
        problems.append(
            f"id {memory_id[:40]!r} is not one word of at most {_MAX_ID_CHARACTERS} characters; leave it out to get one"
        )
        return None
    return memory_id


def _derived_id(memory: Memory) -> str:
    parts = [memory.scope.value, memory.branch or "", memory.summary_key or "", memory.content, *memory.place]
    parts += [memory.memory_type.value] if memory.memory_type is not MemoryType.SEMANTIC else []
    parts += [PRIVATE] if PRIVATE in memory.metadata.tags else []
    return str(uuid.uuid5(_IDS, "\0".join(parts)))


def _memory_type(fields: Fields, problems: list[str]) -> MemoryType:
    given = fields.text("memory_type")
    try:
        return MemoryType.SEMANTIC if given is None else MemoryType(given)
    except ValueError:
        problems.append(f"memory_type is {given[:40] if given else ''!r}; give one of {', '.join(MemoryType)}")
        return MemoryType.SEMANTIC


def _anchor(values: Record | None, problems: list[str]) -> Anchor | None:
    if values is None:
        return None
    fields = Fields(values, problems, "anchor")
    path = fields.text("path", in_column=False)
    texts = {name: fields.text(name, in_column=False) or "" for name in _ANCHOR if name != "line_offset"}
    anchor = Anchor(
        path or "",
        fields.text("symbol", in_column=False) or "",
        fields.text("content_hash", in_column=False) or "",
        fields.whole("start_line", 0) or 0,
        line_offset=fields.whole("line_offset", 0) or 0,
        **texts,  # type: ignore[arg-type]
    )
    fields.refuse_others()
    if not path:
        problems.append("anchor has no path; give the file that it is about")
    return anchor


def _note_problem(problems: list[str], check: Callable[[], object]) -> None:
    try:
        check()
    except InvalidRequest as error:
        problems.append(str(error))


class Fields:
    """The fields of one JSON object. A missing, null or invalid field gives None."""

    def __init__(self, values: Mapping[str, object], problems: list[str], inside: str = "") -> None:
        """Problems are added to `problems`; `inside` names the object in them if it is not the record itself."""
        self._left = dict(values)
        self._problems = problems
        self._inside = f"{inside}." if inside else ""

    def text(self, name: str, *, in_column: bool = True) -> str | None:
        """A string. Half a surrogate pair is a problem `in_column`; elsewhere the store keeps it."""
        value: str | None = self._take(name, "a string", lambda value: isinstance(value, str))
        if value is not None and in_column and value != without_surrogates(value):
            self._problems.append(f"{self._inside}{name} holds half of a character (a lone surrogate); replace it")
            return None
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings, empty where it is missing."""
        values = self._take(name, "a list of strings", lambda value: isinstance(value, list | tuple)) or ()
        names = [f"{name}[{number}]" for number in range(len(values))]
        items = Fields(dict(zip(names, values, strict=True)), self._problems, self._inside[:-1])
        return tuple(text for name in names if (text := items.text(name)) is not None)

    def whole(self, name: str, least: int) -> int | None:
        """A whole number from `least`."""

        def fits(value: object) -> bool:
            return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MAX_INTEGER

        value: int | None = self._take(name, f"a whole number from {least}", fits)
        return value

    def share(self, name: str) -> float | None:
        """A number from 0 to 1."""

        def fits(value: object) -> bool:
            # NaN is not between them.
            return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1

        value: float | None = self._take(name, "a number from 0 to 1", fits)
        return value

    def stamp(self, name: str) -> str | None:
        """A time with its zone, in the format of records."""
        value = self.text(name)
        if value is None:
            return None
        try:
            time = datetime.fromisoformat(value) if _STAMP.match(value) else None
            if time is not None and time.tzinfo is not None:
                return utc_stamp(time)
        except (ValueError, OverflowError):
            pass
        self._wrong(name, value, "a time with its zone, such as 2026-01-31T12:00:00Z")
        return None

    def mapping(self, name: str) -> dict[str, object] | None:
        """An object."""
        value = self._take(name, "an object", lambda value: isinstance(value, Mapping))
        return None if value is None else dict(value)

    def anything(self, name: str) -> object:
        """A value that the caller checks."""
        return self._left.pop(name, None)

    def refuse_others(self) -> None:
        """Add a problem for each field that was not read."""
        for name in self._left:
            self._problems.append(f"{self._inside}{str(name)[:60]!r} is no field of a memory; put it under custom")

    def _take(self, name: str, wanted: str, fits: Callable[[object], bool]) -> Any:
        """A field's value; None, and a problem, for one that does not fit."""
        value = self._left.pop(name, None)
        if value is None or fits(value):
            return value
        self._wrong(name, value, wanted)
        return None

    def _wrong(self, name: str, value: object, wanted: str) -> None:
        self._problems.append(f"{self._inside}{name} is {_shorten_value(value)}; give {wanted}")


def _shorten_value(value: object) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and abs(value) > _MAX_INTEGER:
        return "a number out of range"
    return repr(value)[:60]


def encode(vectors: NDArray[np.float16]) -> list[str]:
    """Vectors of shape (parts, dimensions) as texts, one for each part."""
    return [base64.b64encode(part.astype(_HALF).tobytes()).decode() for part in vectors]


def decode(value: object, problems: list[str]) -> dict[str, Vectors]:
    """The vectors by model, each of shape (parts, dimensions). Adds errors to `problems`."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        problems.append("embeddings is not an object of lists by model")
        return {}
    vectors = {}
    for model, parts in value.items():
        try:
            vectors[model] = _vectors(model, parts)
        except ValueError as error:
            problems.append(f"the embeddings of {str(model)[:60]!r} {error}")
    return vectors


def _vectors(model: object, parts: object) -> Vectors:
    if not isinstance(model, str) or not model or not model.isprintable():
        raise ValueError("are under a name that is no model's")
    if not isinstance(parts, Sequence) or isinstance(parts, str) or not parts:
        raise ValueError("are not a list with a base64 text for each part")
    vectors = [_vector(part) for part in parts]
    if len({vector.size for vector in vectors}) > 1:
        raise ValueError("have different dimensions")
    stacked = np.stack(vectors)
    lengths = np.linalg.norm(stacked, axis=1)
    if not np.all(np.isfinite(lengths)):
        raise ValueError("are not finite")
    if np.any(np.abs(lengths - 1) > _MAX_LENGTH_ERROR):
        raise ValueError("are not of length one")
    return stacked


def _vector(part: object) -> NDArray[np.float32]:
    try:
        data = base64.b64decode(part, validate=True) if isinstance(part, str) else b""
    except (binascii.Error, ValueError):
        data = b""
    if not data or len(data) % _HALF.itemsize:
        raise ValueError("do not decode: each part is the base64 of little-endian float16 numbers")
    return np.frombuffer(data, _HALF).astype(np.float32)
