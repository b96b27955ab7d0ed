"""Operations that change many memories at once. Each can be previewed, and taken back by `undo`.

Only the shell offers them: it asks a person first, and files that the caller names are read.
"""

from __future__ import annotations

import functools
import io
import uuid
from collections.abc import Collection, Iterable
from pathlib import Path

from rag_ls.engine.project_view import ProjectView
from rag_ls.errors import InvalidRequest, NotFound, StoreDamaged
from rag_ls.memory.backups import replace_damaged, restore_into
from rag_ls.memory.batches import DELETED, IMPORTED, BatchResult, carry_out
from rag_ls.memory.portable import (
    Format,
    ImportResult,
    detect_format,
    import_memories,
    import_records,
    read_foreign,
)
from rag_ls.memory.project_memories import memories_folder
from rag_ls.model import Memory, Scope
from rag_ls.operations.batch_records import (
    BatchRecord,
    DeletedMemoriesAnswer,
    ImportAnswer,
    LastChangeAnswer,
    RestoredBackupAnswer,
    UndoneAnswer,
)
from rag_ls.operations.changes import Changed, changed
from rag_ls.operations.projects import Projects
from rag_ls.operations.records_of import brief
from rag_ls.operations.requests import DeleteMemories, ImportMemories, NoArguments, RestoreBackup, Undo
from rag_ls.project import user_data_folder
from rag_ls.storage import MemoryStore
from rag_ls.util.regular_files import regular_file

_MAX_SHOWN = 20


class BatchOperations:
    """Operations that change many memories."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    def import_memories(self, asked: ImportMemories) -> Changed:
        """Import memories from a file: all of them, or none if the file has an error."""
        view = self._projects.first()
        store, source = view.memories.of(Scope(asked.scope or Scope.PROJECT)), Path(asked.input)
        try:
            done, result = carry_out(
                store,
                IMPORTED,
                lambda: _imported(view, store, asked),
                stamp=view.memories.stamp(),
                dry_run=asked.dry_run,
            )
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"{source} cannot be read: {error}") from error
        answer = ImportAnswer(
            done.inserted, done.updated, done.unchanged, done.duplicates, store.scope.value, str(source),
            _record([result], dry_run=asked.dry_run),
        )  # fmt: skip
        return changed(answer, view, *result.changed_scopes)

    def restore_backup(self, asked: RestoreBackup) -> Changed:
        """Make a scope's memories what a backup holds; a damaged file is moved aside."""
        view, scope = self._projects.first(), Scope(asked.scope or Scope.PROJECT)
        name = asked.backup.strip() or "latest"
        try:
            restored = restore_into(view.memories.of(scope), name, view.memories.stamp(), dry_run=asked.dry_run)
        except StoreDamaged:
            if asked.dry_run:
                # Nothing can be read that would go, and the damaged file stays beside the restored one.
                nothing = _record([], dry_run=True)
                return changed(RestoredBackupAnswer(scope.value, name, 0, 0, 0, None, nothing), view)
            folder = user_data_folder()
            if scope is Scope.PROJECT:
                folder = memories_folder(view.project, self._projects.memory_homes)
            restored = replace_damaged(folder, name, scope)
        changes = _record([restored.result], dry_run=asked.dry_run)
        answer = RestoredBackupAnswer(
            scope.value, restored.backup, changes.inserted + restored.replaced_damaged, changes.replaced, changes.deleted,
            restored.moved_aside, changes,
        )  # fmt: skip
        return changed(answer, view, *(() if asked.dry_run else (scope,)))

    def delete_memories(self, asked: DeleteMemories) -> Changed:
        """Delete several memories together."""
        found: dict[str, tuple[MemoryStore, Memory]] = {}
        views: dict[int, ProjectView] = {}
        missing: list[str] = []
        for memory_id in asked.ids:
            try:
                view, store, memory = self._held(memory_id)
                found[memory.id], views[id(store)] = (store, memory), view
            except NotFound:
                missing.append(memory_id)
        stores = {id(store): store for store, _ in found.values()}
        number, stamp = str(uuid.uuid4()), self._projects.all()[0].memories.stamp()
        results, roots = [], dict[Path | None, None]()
        for key, store in stores.items():
            ids = [memory.id for holder, memory in found.values() if holder is store]
            _, result = carry_out(
                store,
                DELETED,
                functools.partial(_delete, store, ids),
                stamp=stamp,
                batch_id=number,
                dry_run=asked.dry_run,
            )
            results.append(result)
            roots |= dict.fromkeys(changed(None, views[key], *result.changed_scopes).roots)
        answer = DeletedMemoriesAnswer(tuple(missing), _record(results, dry_run=asked.dry_run))
        return Changed(answer, tuple(roots))

    def last_change(self, asked: NoArguments) -> LastChangeAnswer:
        """The change that `undo` would take back."""
        found = self._last_changed_view().code_memories.last_changes()
        if not found:
            return LastChangeAnswer("", "", "", 0)
        return LastChangeAnswer(found[0].id, found[0].kind, found[0].at, sum(len(batch.changes) for batch in found))

    def undo(self, asked: Undo) -> Changed:
        """Take a change of many memories back."""
        wanted = asked.id.strip()
        view = self._last_changed_view(wanted)
        undone = view.code_memories.undo(tuple(Scope), wanted, dry_run=asked.dry_run)
        batch = undone[0].batch
        kept = tuple(memory_id for item in undone for memory_id in item.kept)
        changes = _record([item.result for item in undone], dry_run=asked.dry_run)
        answer = UndoneAnswer(batch.id, batch.kind, batch.at, kept, changes)
        return changed(answer, view, *(scope for item in undone for scope in item.result.changed_scopes))

    def _last_changed_view(self, batch_id: str = "") -> ProjectView:
        """Of the client's projects, the one whose memories were changed last, many at once."""

        def time_of(view: ProjectView) -> str:
            return max((batch.at for batch in view.code_memories.last_changes(batch_id)), default="")

        return max(self._projects.all(), key=time_of)

    def _held(self, memory_id: str) -> tuple[ProjectView, MemoryStore, Memory]:
        """A memory with its project and store. Raises `NotFound`."""
        view, memory = self._projects.first_with(lambda view: view.memories.get(memory_id))
        return view, view.memories.of(memory.scope), memory


def _imported(view: ProjectView, store: MemoryStore, asked: ImportMemories) -> ImportResult:
    source, stamp = Path(asked.input), view.memories.stamp()
    others = [other for other in view.memories.usable(tuple(Scope)) if other is not store]

    def is_elsewhere(memory_id: str) -> bool:
        return any(other.get(memory_id) is not None for other in others)

    if asked.source:
        found = read_foreign(asked.source, source)
        return import_records(store, found, force=asked.force, now=stamp, is_elsewhere=is_elsewhere)
    form = Format(asked.format) if asked.format else detect_format(source)
    with regular_file(source, follow=True) as binary, io.TextIOWrapper(binary, encoding="utf-8", newline="") as stream:
        return import_memories(store, stream, form, force=asked.force, now=stamp, is_elsewhere=is_elsewhere)


def _delete(store: MemoryStore, ids: Iterable[str]) -> None:
    for memory_id in ids:
        store.delete(memory_id)


def _record(results: Collection[BatchResult], *, dry_run: bool) -> BatchRecord:
    inserted = [memory for result in results for memory in result.inserted]
    replaced = [memory for result in results for memory in result.replaced]
    deleted = [memory for result in results for memory in result.deleted]
    return BatchRecord(
        dry_run, len(inserted), len(replaced), len(deleted), tuple(map(brief, inserted[:_MAX_SHOWN])),
        tuple(map(brief, replaced[:_MAX_SHOWN])), tuple(map(brief, deleted[:_MAX_SHOWN])),
        next((result.batch_id for result in results if result.batch_id), ""),
    )  # fmt: skip
