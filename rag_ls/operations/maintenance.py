"""Operations on whole stores of memories and indexes: figures, maintenance, export.

Only the shell offers them, because they write files that the caller names.
"""

from __future__ import annotations

from pathlib import Path

from rag_ls.engine.project_view import ProjectView
from rag_ls.errors import InvalidRequest
from rag_ls.memory.portable import (
    Format,
    export_memories,
    format_by_name,
)
from rag_ls.model import MemoryFilters, Scope
from rag_ls.operations.memory_arguments import filters_of, on_branch, scopes_of
from rag_ls.operations.parsing import parsed
from rag_ls.operations.projects import Projects
from rag_ls.operations.records import (
    BytesRecord,
    ExportAnswer,
    FiguresAnswer,
    OptimizedAnswer,
    ScopeFigures,
    VacuumAnswer,
)
from rag_ls.operations.requests import ExportMemories, Filters, OfScope
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
        form = Format(asked.format) if asked.format else format_by_name(target)
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
