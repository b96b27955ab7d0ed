"""Operations that change many memories at once. Each can be previewed, and taken back by `undo`.

Only the shell offers them: it asks a person first, and files that the caller names are read.
"""

from __future__ import annotations

import functools
import io
import uuid
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from rag_ls.engine import MemoryChange, ProjectSession, find_last_changes, undo_changes
from rag_ls.errors import InvalidRequest, NotFound, StoreDamaged
from rag_ls.locations import user_data_folder
from rag_ls.memory import (
    DELETED,
    IMPORTED,
    BatchResult,
    Format,
    ImportResult,
    carry_out,
    detect_format,
    import_records,
    memories_folder,
    portable,
    read_foreign,
    replace_damaged,
    restore_into,
)
from rag_ls.memory import KINDS as SOURCES
from rag_ls.model import Memory, Scope
from rag_ls.operations.fields import argument, make_record, optional
from rag_ls.operations.memories.arguments import SCOPE_NAMES
from rag_ls.operations.memories.memory_records import BriefMemory, shorten_memory
from rag_ls.operations.operation import (
    DELETES,
    DESTROYS,
    Caller,
    Changed,
    Opens,
    Verb,
    find_roots,
    mark_changed,
    operation,
)
from rag_ls.storage import ERASED, MemoryStore
from rag_ls.util.files import regular_file
from rag_ls.util.records import dataclass

_MAX_SHOWN = 20
FORMATS = tuple(item.value for item in Format)


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """The changes that were made, or would be made."""

    dry_run: bool
    inserted: int
    replaced: int
    deleted: int
    inserted_memories: tuple[BriefMemory, ...]
    """The first of them."""
    replaced_memories: tuple[BriefMemory, ...]
    """The first of them, as they were."""
    deleted_memories: tuple[BriefMemory, ...]
    """The first of them."""
    undo: str
    """The id that takes it back; empty if nothing changed."""


@dataclass(frozen=True, slots=True)
class ImportMemories:
    input: str = argument(doc="a file or folder", is_path=True)
    scope: str = argument("", "memories of this scope (default: project)", choices=SCOPE_NAMES)
    format: str = argument("", "(default: by the file's name and beginning)", choices=FORMATS)
    source: str = argument("", "it comes from another tool", choices=SOURCES, flag="--from")
    force: bool = argument(False, "take in what looks like a secret too")
    dry_run: bool = argument(False, "show what would be done, and do nothing")


@dataclass(frozen=True, slots=True)
class ImportAnswer:
    """The memories that were taken in."""

    inserted: int
    updated: int
    unchanged: int
    duplicates: int
    scope: str
    input: str
    changes: BatchRecord


@operation(
    effects=DESTROYS,
    manages=True,
    changes=MemoryChange.STORED,
    opens=Opens.NEW,
    needs_code=False,
    verb=Verb(
        "import",
        "take memories in from a file, all of it or nothing",
        example="rag-ls import --input memories.json --dry-run",
    ),
)
def import_memories(caller: Caller, request: ImportMemories) -> Changed[ImportAnswer]:
    """Take memories in from a file, all of it or nothing."""
    view = caller.memory_projects.first()
    store, source = view.memories.of(Scope(request.scope or Scope.PROJECT)), Path(request.input)
    # Opened before the transaction, because other writers wait until that ends.
    others = [other for other in view.memories.usable(tuple(Scope)) if other is not store]
    try:
        take_in = functools.partial(_import_file, view, store, others, request)
        done, result = carry_out(store, IMPORTED, take_in, stamp=view.memories.stamp(), dry_run=request.dry_run)
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{source} cannot be read: it is no text in UTF-8") from error
    except OSError as error:
        raise InvalidRequest(f"{source} cannot be read: {error.strerror or error}") from error
    changes = _make_batch_record([result], dry_run=request.dry_run)
    answer = make_record(ImportAnswer, done, scope=store.scope.value, input=str(source), changes=changes)
    return mark_changed(answer, view, *result.changed_scopes)


def _import_file(
    view: ProjectSession, store: MemoryStore, others: Sequence[MemoryStore], request: ImportMemories
) -> ImportResult:
    source, stamp = Path(request.input), view.memories.stamp()

    def is_elsewhere(memory_id: str) -> bool:
        return any(other.get(memory_id) is not None for other in others)

    if request.source:
        found = read_foreign(request.source, source)
        return import_records(store, found, force=request.force, now=stamp, is_elsewhere=is_elsewhere)
    form = Format(request.format) if request.format else detect_format(source)
    with regular_file(source, follow=True) as binary, io.TextIOWrapper(binary, encoding="utf-8", newline="") as stream:
        return portable.import_memories(store, stream, form, force=request.force, now=stamp, is_elsewhere=is_elsewhere)


@dataclass(frozen=True, slots=True)
class RestoreBackup:
    scope: str = argument("", "memories of this scope (default: project)", choices=SCOPE_NAMES[1:])
    backup: str = argument("", "latest, a date like 2026-01-31, a time of it, or a file", metavar="NAME", is_path=True)
    dry_run: bool = argument(False, "show what would be done, and do nothing")


@dataclass(frozen=True, slots=True)
class RestoredBackupAnswer:
    """The changes that bringing a backup back made."""

    scope: str
    backup: str
    inserted: int
    replaced: int
    deleted: int
    moved_aside: str | None
    changes: BatchRecord


@operation(
    effects=DESTROYS,
    manages=True,
    changes=MemoryChange.CHANGED,
    needs_code=False,
    verb=Verb(
        "restore",
        "bring back a memory's former version, or all memories of a backup",
        example="rag-ls restore 7b34c1d2 --version 1",
    ),
)
def restore_backup(caller: Caller, request: RestoreBackup) -> Changed[RestoredBackupAnswer]:
    """Make a scope's memories what a backup holds."""
    view, scope = caller.memory_projects.first(), Scope(request.scope or Scope.PROJECT)
    name = request.backup.strip() or "latest"
    try:
        restored = restore_into(view.memories.of(scope), name, view.memories.stamp(), dry_run=request.dry_run)
    except StoreDamaged:
        if request.dry_run:
            # None of the memories that would go can be read, and the damaged file stays beside the restored one.
            nothing = _make_batch_record([], dry_run=True)
            answer = make_record(
                RestoredBackupAnswer, nothing, scope=scope.value, backup=name, moved_aside=None, changes=nothing
            )
            return mark_changed(answer, view)
        folder = user_data_folder()
        if scope is Scope.PROJECT:
            folder = memories_folder(view.project.folder, caller.memory_projects.memory_homes)
        restored = replace_damaged(folder, name, scope)
    changes = _make_batch_record([restored.result], dry_run=request.dry_run)
    answer = make_record(
        RestoredBackupAnswer, changes, scope=scope.value, backup=restored.backup, moved_aside=restored.moved_aside,
        inserted=changes.inserted + restored.replaced_damaged, changes=changes,
    )  # fmt: skip
    return mark_changed(answer, view, *(() if request.dry_run else (scope,)))


@dataclass(frozen=True, slots=True)
class DeleteMemories:
    ids: tuple[str, ...] = argument((), "ids, or their first 4 or more characters")
    dry_run: bool = argument(False, "show what would be done, and do nothing")
    purge: bool = argument(
        False, "erase them for good, with their history and in all backups: nothing brings them back"
    )


@dataclass(frozen=True, slots=True)
class DeletedMemoriesAnswer:
    """The memories that were deleted together."""

    missing: tuple[str, ...]
    """Ids that no memory has."""
    changes: BatchRecord
    still_held: tuple[str, ...] = optional(())
    """Backups that cannot be changed, and hold what was to be erased."""


@operation(effects=DELETES, changes=MemoryChange.DELETED, needs_code=False)
def delete_memories(caller: Caller, request: DeleteMemories) -> Changed[DeletedMemoriesAnswer]:
    """Delete several memories together."""
    found: dict[str, tuple[ProjectSession, MemoryStore, Memory]] = {}
    missing: list[str] = []
    for memory_id in request.ids:
        try:
            stored = _find_stored(caller, memory_id, with_deleted=request.purge)
            found[stored[2].id] = stored
        except NotFound:
            missing.append(memory_id)
    batch_id, stamp = str(uuid.uuid4()), caller.memory_projects.all()[0].memories.stamp()
    results, roots, still_held = [], dict[Path | None, None](), list[str]()
    for view, store in {id(store): (view, store) for view, store, _ in found.values()}.values():
        held = [memory for _, holder, memory in found.values() if holder is store]
        if request.purge:
            result = BatchResult(deleted=tuple(held))
            still_held += map(str, () if request.dry_run else _purge_memories(view, store, held))
        else:
            delete = functools.partial(_delete_all, store, [memory.id for memory in held])
            _, result = carry_out(store, DELETED, delete, stamp=stamp, batch_id=batch_id, dry_run=request.dry_run)
        scopes = (store.scope,) if request.purge and not request.dry_run else result.changed_scopes
        results.append(result)
        roots |= dict.fromkeys(find_roots(view, *scopes))
    changes = _make_batch_record(results, dry_run=request.dry_run)
    answer = DeletedMemoriesAnswer(missing=tuple(missing), changes=changes, still_held=tuple(still_held))
    return Changed(answer, tuple(roots))


def _delete_all(store: MemoryStore, ids: Iterable[str]) -> None:
    for memory_id in ids:
        store.delete(memory_id)


def _purge_memories(view: ProjectSession, store: MemoryStore, memories: Sequence[Memory]) -> list[Path]:
    """Erase memories for good; returns the backups that still hold them."""
    still_held = store.erase_remains(store.erase(memories))
    view.project.memories.exchange(at_once=True)
    return still_held


def _find_stored(
    caller: Caller, memory_id: str, *, with_deleted: bool = False
) -> tuple[ProjectSession, MemoryStore, Memory]:
    """A memory with its project and store, even of the deleted ones. Raises `NotFound`."""

    def find(view: ProjectSession) -> Memory:
        try:
            return view.memories.get(memory_id)
        except NotFound:
            former = view.memories.history(memory_id) if with_deleted else []
            if not former or former[0].reason == ERASED:
                raise
            return former[0].memory

    view, memory = caller.memory_projects.find_first(find)
    return view, view.memories.of(memory.scope), memory


@dataclass(frozen=True, slots=True)
class LastChange:
    project: str = argument("", "the name or root of a project")


@dataclass(frozen=True, slots=True)
class LastChangeAnswer:
    """The change of many memories that `undo` would take back now."""

    id: str
    """Empty where there is none, as what follows."""
    kind: str
    at: str
    memories: int
    """The number of memories that it changed."""


@operation(needs_code=False)
def last_change(caller: Caller, request: LastChange) -> LastChangeAnswer:
    """The change of many memories that undo would take back."""
    found = find_last_changes(caller.memory_projects.find_one(request.project))
    if not found:
        return LastChangeAnswer("", "", "", 0)
    return LastChangeAnswer(found[0].id, found[0].kind, found[0].at, sum(len(batch.changes) for batch in found))


@dataclass(frozen=True, slots=True)
class Undo:
    id: str = argument("", "the change to take back, by the id that it printed (default: the latest)")
    dry_run: bool = argument(False, "show what would be done, and do nothing")
    project: str = argument("", "the name or root of the project whose latest change it is")


@dataclass(frozen=True, slots=True)
class UndoneAnswer:
    """The change that was taken back."""

    id: str
    project: str
    """The root of the project that it belongs to; empty where all of it is the user's own."""
    kind: str
    at: str
    kept: tuple[str, ...]
    """Memories that were changed since, and stay as they are."""
    changes: BatchRecord


@operation(
    effects=DESTROYS,
    changes=MemoryChange.CHANGED,
    needs_code=False,
    verb=Verb(
        "undo",
        "take back the latest deletion, import, consolidation or restore of memories",
        ("id",),
        example="rag-ls undo --dry-run",
    ),
)
def undo(caller: Caller, request: Undo) -> Changed[UndoneAnswer]:
    """Take a change of many memories back."""
    wanted = request.id.strip()
    view = _find_changed(caller, wanted) if wanted else caller.memory_projects.find_one(request.project)
    undone = undo_changes(view, tuple(Scope), wanted, dry_run=request.dry_run)
    batch = undone[0].batch
    kept = tuple(memory_id for item in undone for memory_id in item.kept)
    changes = _make_batch_record([item.result for item in undone], dry_run=request.dry_run)
    is_of_project = any(item.scope is Scope.PROJECT for item in undone)
    root = str(view.project.root) if is_of_project and not view.is_scratch else ""
    answer = UndoneAnswer(id=batch.id, project=root, kind=batch.kind, at=batch.at, kept=kept, changes=changes)
    return mark_changed(answer, view, *(scope for item in undone for scope in item.result.changed_scopes))


def _find_changed(caller: Caller, batch_id: str) -> ProjectSession:
    """The project in which the change with an id was made; the first one if there is none."""
    views = caller.memory_projects.all()
    return next((view for view in views if find_last_changes(view, batch_id)), views[0])


def _make_batch_record(results: Collection[BatchResult], *, dry_run: bool) -> BatchRecord:
    inserted = [memory for result in results for memory in result.inserted]
    replaced = [memory for result in results for memory in result.replaced]
    deleted = [memory for result in results for memory in result.deleted]
    return BatchRecord(
        dry_run=dry_run, inserted=len(inserted), replaced=len(replaced), deleted=len(deleted),
        inserted_memories=tuple(map(shorten_memory, inserted[:_MAX_SHOWN])),
        replaced_memories=tuple(map(shorten_memory, replaced[:_MAX_SHOWN])),
        deleted_memories=tuple(map(shorten_memory, deleted[:_MAX_SHOWN])),
        undo=next((result.batch_id for result in results if result.batch_id), ""),
    )  # fmt: skip
