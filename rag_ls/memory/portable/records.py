"""Converts memories to records for export, and imported records to memories."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import TypeVar

from rag_ls.errors import InvalidRequest
from rag_ls.memory.content_checks import check_content, check_metadata, refuse_secrets
from rag_ls.memory.portable.embeddings import decode
from rag_ls.memory.portable.fields import Fields
from rag_ls.model import PRIVATE, Anchor, Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.storage import Vectors
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import content_hash

Record = Mapping[str, object]
_T = TypeVar("_T")

_METADATA = (
    "tags", "source_file", "language", "chunk_index", "parent_id", "ast_node_type", "importance_score", "custom",
)  # fmt: skip
# The namespace of derived ids. Never change it, or a second import would store memories twice.
_IDS = uuid.UUID("6f0a5a0e-3f52-5d0c-9f57-0c8a5f1f7d3e")
_MAX_ID_CHARACTERS = 200


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


# The parts of an anchor that may be missing.
_ANCHOR = ("project", "fingerprint", "body", "sketch", "neighbours", "line_offset", "line_print", "file_hash")


def to_record(memory: Memory) -> dict[str, object]:
    """A memory as a record, complete but for its scope, its uses and its vectors."""
    meta, anchor = memory.metadata, memory.anchor
    metadata = {name: getattr(meta, name) for name in _METADATA} | {
        "tags": list(meta.tags),
        "custom": dict(meta.custom),
    }
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
