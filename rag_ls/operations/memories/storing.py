"""Operations that store, change, delete and restore single memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rag_ls.engine import MemoryChange, ProjectSession, anchor_to_place, describe_missing, renew_anchor, resolve_anchor
from rag_ls.errors import InvalidRequest
from rag_ls.memory import MAX_CONTENT, SUPERSEDES, NewMemory, Stored, find_contradiction, memory_of
from rag_ls.model import Anchor, Hit, Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.operations.fields import NoArguments, argument, arguments_of, join_notes, optional
from rag_ls.operations.memories.arguments import (
    PLACE_KEYS,
    SCOPE_NAMES,
    Metadata,
    merge_patch,
    read_branch,
    read_metadata,
)
from rag_ls.operations.memories.memory_records import (
    MAX_SHOWN_CHARACTERS,
    AnchorRecord,
    BriefMemory,
    make_anchor_record,
    shorten_memory,
)
from rag_ls.operations.memories.recalling import find_memory
from rag_ls.operations.operation import (
    DELETES,
    DESTROYS,
    WRITES,
    Caller,
    Changed,
    Opens,
    Tool,
    Verb,
    mark_changed,
    operation,
)
from rag_ls.operations.parsing import argument_named, parse_request
from rag_ls.util.records import dataclass, replace

_EVICTED = "the session was full: the oldest of its least important memories made room"
_NOT_COMPARED = (
    "it was not compared with what is known, because its meaning is not computed yet (`rag-ls status` shows the model); "
    "`rag-ls consolidate --dry-run` compares it later"
)
_PLACE = ("source_file", *PLACE_KEYS)
_SHOWN_CHANGES = ("tags", "source_file", "line", "symbol")
_SHOWN_METADATA = (*_SHOWN_CHANGES, "memory_type")


@dataclass(frozen=True, slots=True)
class StoreMemory:
    content: str = argument(doc="the text to remember")
    scope: str = argument("", "where it lives", choices=SCOPE_NAMES, agents_required=True)
    metadata: Metadata = argument(
        {}, "what else is said of it; may stand beside it, too", properties=Metadata, beside=True, shown=_SHOWN_METADATA
    )
    project: str = argument("", "the name or root of a project")
    force: bool = argument(False, "store it even if it looks trivial, or like a secret")


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The outcome of storing a memory."""

    id: str
    status: str
    version: int
    scope: str
    anchor: AnchorRecord | None
    duplicate_of: str = optional("")
    known: tuple[BriefMemory, ...] = optional(())
    evicted: tuple[str, ...] = optional(())
    note: str = optional("")


@operation(
    effects=WRITES,
    changes=MemoryChange.STORED,
    opens=Opens.NEW,
    needs_code=False,
    tool=Tool(
        "memory",
        "Keep a fact, decision or convention of the project, of all (global), or until this session ends. source_file with "
        "line or symbol ties it to code. Update what the answer names as known.",
        ("content", "scope", "metadata"),
        ("id",),
    ),
    command="ragLs.storeMemory",
    verb=Verb("add", "store a memory", example='rag-ls add "Prices are net of tax" --at src/cart.py:12 --tag money'),
)
def store_memory(caller: Caller, request: StoreMemory) -> Changed[StoredAnswer]:
    """Keep a fact, decision or convention."""
    if not request.scope:
        raise InvalidRequest(f"store_memory needs 'scope', one of {', '.join(SCOPE_NAMES)}")
    meta = request.metadata
    scope, path = Scope(request.scope), meta.source_file.strip()
    is_of_project = bool(path) or scope is Scope.PROJECT
    view = (
        caller.memory_projects.find_holding(path, request.project)
        if is_of_project
        else caller.memory_projects.find(request.project)[0]
    )
    new = NewMemory(
        content=request.content,
        scope=scope,
        metadata=read_metadata(meta, view),
        memory_type=MemoryType(meta.memory_type or MemoryType.SEMANTIC),
        source_uri=meta.source_uri.strip() or None,
        branch=read_branch(meta, view, scope),
        force=request.force,
    )
    new = _tie_to_code(view, new, meta)
    stored = view.memories.store(new, view.project.model())
    return mark_changed(make_stored_answer(stored, describe_missing(view, new.anchor)), view, scope)


def _tie_to_code(view: ProjectSession, new: NewMemory, meta: Metadata) -> NewMemory:
    """A new memory, anchored to the code that `meta` names, if it names any.

    Raises `InvalidRequest` for the project scope where no project is open, and for a place that does not exist.
    """
    if view.is_scratch and new.scope is Scope.PROJECT:
        raise InvalidRequest("no project is open, so there is none to remember for; use scope = global, or session")
    anchor = anchor_to_place(view, meta.source_file.strip() or None, meta.line or 0, meta.symbol.strip())
    if anchor is None:
        return new
    if new.scope is not Scope.PROJECT:
        # Other projects see this memory too, and may have a file of the same path.
        anchor = replace(anchor, project=str(view.project.root))
    # The anchor completed the name of a file to its path.
    return replace(new, metadata=replace(new.metadata, source_file=anchor.path), anchor=anchor)


def make_stored_answer(stored: Stored, *notes: str) -> StoredAnswer:
    memory = stored.memory
    notes += (_EVICTED if stored.evicted else "", _NOT_COMPARED if stored.is_uncompared else "")
    is_duplicate = stored.status == "duplicate" or (stored.status == "updated" and stored.is_duplicate)
    return StoredAnswer(
        memory.id, stored.status, memory.version, memory.scope.value, make_anchor_record(memory.anchor),
        duplicate_of=memory.id if is_duplicate else "",
        known=tuple(_make_known(memory, hit) for hit in stored.known),
        evicted=stored.evicted,
        note=join_notes(*notes, _note_length(memory.content)),
    )  # fmt: skip


def _note_length(content: str) -> str:
    """A note on how a long memory is found and shown; empty for one that is shown whole."""
    if len(content) <= MAX_SHOWN_CHARACTERS:
        return ""
    return (
        f"it has {len(content):,} characters (at most {MAX_CONTENT:,} are kept): each part is found, answers show the part "
        "that answers, and get_memory the whole by pages"
    )


def _make_known(memory: Memory, hit: Hit) -> BriefMemory:
    """A memory that says about the same as a stored one, or the opposite."""
    other = memory_of(hit)
    opposed = find_contradiction(memory, other)
    return replace(
        shorten_memory(other), similarity=round(hit.similarity or 0.0, 4), cosine=round(hit.score, 4),
        contradicts=opposed.reason if opposed else "",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class UpdateMemory:
    """A memory and its new content or metadata; without both, the caller confirms that it still holds."""

    id: str = argument(doc="a memory's id, or its first 4 or more characters")
    content: str | None = argument(None, "its new text")
    metadata: Mapping[str, Any] | None = argument(
        None, "changes of its metadata; null removes a key", properties=Metadata, shown=_SHOWN_CHANGES
    )
    expected_version: int | None = argument(None, "refuse if the memory is at another version than this", least=1)
    force: bool = argument(False, "store it even if it looks trivial, or like a secret")


@operation(
    effects=WRITES,
    changes=MemoryChange.CHANGED,
    needs_code=False,
    tool=Tool(
        "memory",
        "Change a memory; metadata is merged, null removes a key. id alone: it holds for the code as it is now.",
        ("id", "content", "metadata"),
        ("id",),
    ),
    command="ragLs.updateMemory",
    verb=Verb(
        "update",
        "change a memory; the former version is kept",
        hidden=("content",),
        example="rag-ls update 7b34c1d2 --content 'Prices are gross'",
    ),
)
def update_memory(caller: Caller, request: UpdateMemory) -> Changed[StoredAnswer]:
    """Change a memory, or confirm it; the former version is kept."""
    view, memory = find_memory(caller, request.id)
    if request.content is None and request.metadata is None and memory.anchor is None:
        raise InvalidRequest(
            "update_memory needs content or metadata; only a memory about code can be confirmed as it is"
        )
    metadata = request.metadata or {}
    meta = parse_request(
        "update_memory metadata", Metadata, {key: value for key, value in metadata.items() if value is not None}
    )
    changes = {argument_named(str(key).strip(), arguments_of(Metadata)): value for key, value in metadata.items()}
    # Outside the transaction, because finding the code may read files while other writers wait.
    anchor = _make_anchor(memory, meta, changes, view)
    missing = describe_missing(view, anchor) if "source_file" in changes else ""
    is_moved = any(key in changes for key in _PLACE)

    def change(current: Memory) -> Memory:
        is_as_found = is_moved or current.anchor == memory.anchor
        changed = _change_memory(current, view=view, content=request.content, meta=meta, changes=changes)
        return replace(changed, anchor=anchor if is_as_found else current.anchor)

    stored = view.memories.update(
        memory.id, change, view.project.model(), expected=request.expected_version, force=request.force
    )
    answer = make_stored_answer(replace(stored, memory=resolve_anchor(view, stored.memory)), missing)
    return mark_changed(answer, view, memory.scope)


def _change_memory(
    memory: Memory, *, view: ProjectSession, content: str | None, meta: Metadata, changes: Mapping[str, Any]
) -> Memory:
    """A memory with the changes that a caller asked for; their parsed values are in `meta`."""
    stated = read_metadata(meta, view)
    changed = {name: getattr(stated, name) for name in MemoryMetadata.__dataclass_fields__ if name in changes}
    if changes.get("custom") is not None:
        changed["custom"] = merge_patch(memory.metadata.custom, meta.custom)
    if stated.custom.get(SUPERSEDES) == memory.id:
        raise InvalidRequest("a memory cannot take its own place: give the id of another one as supersedes")
    if SUPERSEDES in changes:
        named = {SUPERSEDES: stated.custom[SUPERSEDES]} if SUPERSEDES in stated.custom else {}
        custom = changed.get("custom", memory.metadata.custom)
        changed["custom"] = {key: value for key, value in custom.items() if key != SUPERSEDES} | named
    return replace(
        memory,
        content=memory.content if content is None else content,
        metadata=replace(memory.metadata, **changed),
        memory_type=MemoryType(meta.memory_type or memory.memory_type),
        source_uri=meta.source_uri.strip() or None if "source_uri" in changes else memory.source_uri,
        branch=read_branch(meta, view, memory.scope) if "branch" in changes else memory.branch,
    )


def _make_anchor(memory: Memory, meta: Metadata, changes: Mapping[str, Any], view: ProjectSession) -> Anchor | None:
    if any(key in changes for key in _PLACE):
        source_file = meta.source_file.strip() or (memory.metadata.source_file if "source_file" not in changes else "")
        return anchor_to_place(view, source_file or None, meta.line or 0, meta.symbol.strip())
    return renew_anchor(view, memory)


@dataclass(frozen=True, slots=True)
class MemoryId:
    id: str = argument(doc="a memory's id, or its first 4 or more characters")


@dataclass(frozen=True, slots=True)
class DeletedAnswer:
    """A memory that was deleted."""

    id: str
    deleted: bool
    scope: str


@operation(
    effects=DELETES,
    changes=MemoryChange.DELETED,
    needs_code=False,
    tool=Tool("memory", "Delete a memory that is wrong or outdated.", ("id",), ("deleted",)),
    command="ragLs.deleteMemory",
    verb=Verb("delete", "delete memories", example="rag-ls delete 7b34c1d2"),
)
def delete_memory(caller: Caller, request: MemoryId) -> Changed[DeletedAnswer]:
    """Delete one memory; it can be restored."""
    view, found = find_memory(caller, request.id)
    view.memories.delete(found.id)
    return mark_changed(DeletedAnswer(found.id, True, found.scope.value), view, found.scope)


@dataclass(frozen=True, slots=True)
class RestoreMemory:
    id: str = argument(doc="of a memory that was changed or deleted")
    version: int | None = argument(None, "which version (default: the one before)", least=1)


@operation(
    effects=WRITES, changes=MemoryChange.STORED, needs_code=False, command="ragLs.restoreMemory", shared_verb="restore"
)
def restore_memory(caller: Caller, request: RestoreMemory) -> Changed[StoredAnswer]:
    """Bring back a memory's former version, or one that was deleted."""
    view = caller.memory_projects.find_first(lambda project: project.memories.history(request.id))[0]
    stored = view.memories.restore(request.id, request.version, view.project.model())
    return mark_changed(make_stored_answer(stored), view, stored.memory.scope)


@dataclass(frozen=True, slots=True)
class ClearedAnswer:
    """The number of memories that were forgotten."""

    cleared: int


@operation(
    effects=DESTROYS,
    changes=MemoryChange.DELETED,
    needs_code=False,
    tool=Tool("memory", "Delete the session's memories, when the task is done.", (), ("cleared",)),
    command="ragLs.clearSession",
)
def clear_session(caller: Caller, request: NoArguments) -> Changed[ClearedAnswer]:
    """Forget the memories of scope session."""
    view = caller.memory_projects.all()[0]
    return mark_changed(ClearedAnswer(view.memories.of(Scope.SESSION).clear()), view, Scope.SESSION)
