"""Operations on whole stores of memories and indexes: figures, maintenance, backups, export and import.

Only the shell offers them, because they read and write files that the caller names.
"""

from __future__ import annotations

from pathlib import Path

from rag_ls.engine.project_view import ProjectView
from rag_ls.errors import InvalidRequest, StoreDamaged
from rag_ls.memory.backups import replace_damaged, restore_into
from rag_ls.memory.portable import (
    Format,
    detect_format,
    export_memories,
    import_memories,
    import_records,
    read_foreign,
)
from rag_ls.model import MemoryFilters, Scope
from rag_ls.operations.memory_arguments import filters_of, on_branch, scopes_of
from rag_ls.operations.parsing import parsed
from rag_ls.operations.projects import Projects
from rag_ls.operations.records import (
    BytesRecord,
    ExportAnswer,
    FiguresAnswer,
    ImportAnswer,
    OptimizedAnswer,
    RestoredBackupAnswer,
    ScopeFigures,
    VacuumAnswer,
)
from rag_ls.operations.requests import ExportMemories, Filters, ImportMemories, OfScope, RestoreBackup
from rag_ls.project import user_data_folder
from rag_ls.storage import MemoryStore
from rag_ls.util.whole_files import whole_file

_MAX_TAGS = 20


class MaintenanceOperations:
    """Operations on whole stores."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    def stats(self, asked: OfScope) -> FiguresAnswer:
        """Counts of each scope's memories: by type, by tag, and those never recalled."""
        view = self._projects.first()
        stores = view.memories.usable(scopes_of(asked.scope))
        return FiguresAnswer({store.scope.value: _figures(store, view) for store in stores})

    def optimize(self, asked: OfScope) -> OptimizedAnswer:
        """Optimise the stores' database indexes and vector indexes."""
        view = self._projects.first()
        model = view.model()
        done = []
        for store in view.memories.usable(_on_disk(asked)):
            store.optimise()
            if model is not None:
                store.vectors.optimise(model.model_id)
            done.append(store.scope.value)
        if not asked.scope:
            view.store.optimise()
            done.append("index")
        return OptimizedAnswer(tuple(done))

    def vacuum(self, asked: OfScope) -> VacuumAnswer:
        """Release the free space of the files; returns each file's size in bytes before and after."""
        view = self._projects.first()
        files: dict[str, BytesRecord] = {}
        for store in view.memories.usable(_on_disk(asked)):
            before = store.size()
            store.vacuum()
            files[store.scope.value] = BytesRecord(before, store.size())
        if not asked.scope:
            files["index"] = BytesRecord(*view.store.vacuum())
        return VacuumAnswer(files)

    def export_memories(self, asked: ExportMemories) -> ExportAnswer:
        """Write a scope's memories to a file."""
        store, view = self._store(asked.scope)
        target = Path(asked.output)
        form = Format(asked.format) if asked.format else detect_format(target)
        filters = MemoryFilters()
        if asked.filters:
            filters = on_branch(filters_of(asked.scope, parsed("filters", Filters, asked.filters)), view)
        try:
            with whole_file(target) as stream:
                count = export_memories(store, stream, form, filters=filters, embeddings=asked.embeddings)
        except OSError as error:
            raise InvalidRequest(
                f"{target} cannot be written: {error.strerror or error}; give another --output"
            ) from error
        return ExportAnswer(count, store.scope.value, str(target), form)

    def import_memories(self, asked: ImportMemories) -> ImportAnswer:
        """Import memories from a file: all of them, or none if the file has an error."""
        store, view = self._store(asked.scope)
        source, stamp = Path(asked.input), view.memories.stamp()
        store.backup()
        others = [other for other in view.memories.usable(tuple(Scope)) if other is not store]

        def is_elsewhere(memory_id: str) -> bool:
            return any(other.get(memory_id) is not None for other in others)

        try:
            if asked.source:
                found = read_foreign(asked.source, source)
                result = import_records(store, found, force=asked.force, now=stamp, is_elsewhere=is_elsewhere)
            else:
                form = Format(asked.format) if asked.format else detect_format(source)
                with source.open(encoding="utf-8", newline="") as stream:
                    result = import_memories(
                        store, stream, form, force=asked.force, now=stamp, is_elsewhere=is_elsewhere
                    )
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"{source} cannot be read: {error}") from error
        return ImportAnswer(
            result.inserted, result.updated, result.unchanged, result.duplicates, store.scope.value, str(source)
        )

    def restore_backup(self, asked: RestoreBackup) -> RestoredBackupAnswer:
        """Restore a scope's memories from a backup. The history keeps replaced ones; a damaged file is moved aside."""
        view, scope = self._projects.first(), Scope(asked.scope or Scope.PROJECT)
        name = asked.backup.strip() or "latest"
        try:
            restored = restore_into(view.memories.of(scope), name, view.memories.stamp())
        except StoreDamaged:
            folder = view.project.data_folder if scope is Scope.PROJECT else user_data_folder()
            restored = replace_damaged(folder, name, scope)
        return RestoredBackupAnswer(
            scope.value, restored.backup, restored.inserted, restored.replaced, restored.deleted, restored.moved_aside
        )

    def _store(self, scope: str) -> tuple[MemoryStore, ProjectView]:
        view = self._projects.first()
        return view.memories.of(Scope(scope or Scope.PROJECT)), view


def _on_disk(asked: OfScope) -> tuple[Scope, ...]:
    return tuple(scope for scope in scopes_of(asked.scope) if scope is not Scope.SESSION)


def _figures(store: MemoryStore, view: ProjectView) -> ScopeFigures:
    model = view.model()
    newest = store.find(limit=1)
    return ScopeFigures(
        memories=store.count(),
        types=store.type_counts(),
        tags=dict(list(store.tag_counts().items())[:_MAX_TAGS]),
        anchored=store.count(MemoryFilters(anchored=True)),
        never_recalled=store.count(MemoryFilters(never_used=True)),
        bytes=store.size(),
        newest=newest[0].updated_at if newest else None,
        model=model.model_id if model else "",
        not_embedded=store.vectors.missing_count(model.model_id) if model else None,
    )
