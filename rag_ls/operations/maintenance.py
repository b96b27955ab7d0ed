"""Operations that look after memories and indexes as a whole: figures, upkeep, backups, export and import.

They read and write files that the caller names, so that only the shell offers them.
"""

from __future__ import annotations

from pathlib import Path

from rag_ls.engine.project_view import ProjectView
from rag_ls.errors import InvalidRequest, StoreDamaged
from rag_ls.memory.backups import replace_damaged, restore_into
from rag_ls.memory.portable import (
    KINDS,
    Format,
    ImportResult,
    detect_format,
    export_memories,
    import_memories,
    import_records,
    read_foreign,
)
from rag_ls.model import MemoryFilters, Scope
from rag_ls.operations.answers import Json
from rag_ls.operations.arguments import Arguments
from rag_ls.operations.memory_arguments import SCOPE_NAMES, filters_of, on_branch, scopes_of
from rag_ls.operations.projects import Projects
from rag_ls.project import user_data_folder
from rag_ls.storage import MemoryStore
from rag_ls.util.whole_files import whole_file

_TAGS = 20
_FORMATS = tuple(item.value for item in Format)


class MaintenanceOperations:
    """Operations on whole stores."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    def stats(self, arguments: object = None) -> Json:
        """How many memories of what kind each scope holds, and what of them is ever recalled."""
        args = Arguments("stats", arguments, ("scope",))
        view = self._projects.first()
        return {"scopes": {store.scope.value: _figures(store, view) for store in view.memories.usable(scopes_of(args))}}

    def optimize(self, arguments: object = None) -> Json:
        """Bring indexes into their best shape."""
        args = Arguments("optimize", arguments, ("scope",))
        view = self._projects.first()
        model = view.shared.model(0.0)
        done = []
        for store in view.memories.usable(_on_disk(args)):
            store.optimise()
            if model is not None:
                store.vectors.optimise(model.model_id)
            done.append(store.scope.value)
        if args.raw("scope") is None:
            view.store.optimise()
            done.append("index")
        return {"optimized": done}

    def vacuum(self, arguments: object = None) -> Json:
        """Give the free space of the files back; how many bytes each of them had and has."""
        args = Arguments("vacuum", arguments, ("scope",))
        view = self._projects.first()
        files: Json = {}
        for store in view.memories.usable(_on_disk(args)):
            before = store.size()
            store.vacuum()
            files[store.scope.value] = {"before": before, "after": store.size()}
        if args.raw("scope") is None:
            files["index"] = dict(zip(("before", "after"), view.store.vacuum(), strict=True))
        return {"bytes": files}

    def export_memories(self, arguments: object) -> Json:
        """Write a scope's memories to a file."""
        args = Arguments("export", arguments, ("scope", "output", "format", "embeddings", "tags", "filters"))
        store, view = self._store(args)
        target = Path(args.text("output", required=True))
        form = args.choice("format", _FORMATS) or detect_format(target)
        filters = MemoryFilters() if not args.raw("filters") else on_branch(filters_of(args), view)
        try:
            with whole_file(target) as stream:
                count = export_memories(store, stream, form, filters=filters, embeddings=args.flag("embeddings"))
        except OSError as error:
            raise InvalidRequest(
                f"{target} cannot be written: {error.strerror or error}; give another --output"
            ) from error
        return {"exported": count, "scope": store.scope.value, "output": str(target), "format": form}

    def import_memories(self, arguments: object) -> Json:
        """Take memories in from a file: all of it, or nothing where anything is wrong with it."""
        args = Arguments("import", arguments, ("scope", "input", "format", "source", "force"))
        store, view = self._store(args)
        source, force = Path(args.text("input", required=True)), args.flag("force")
        stamp = view.memories.stamp()
        store.backup()
        kind = args.choice("source", KINDS)
        others = [other for other in view.memories.usable(tuple(Scope)) if other is not store]

        def is_elsewhere(memory_id: str) -> bool:
            return any(other.get(memory_id) is not None for other in others)

        try:
            if kind:
                result = import_records(
                    store, read_foreign(kind, source), force=force, now=stamp, is_elsewhere=is_elsewhere
                )
            else:
                form = args.choice("format", _FORMATS) or detect_format(source)
                with source.open(encoding="utf-8", newline="") as stream:
                    result = import_memories(store, stream, form, force=force, now=stamp, is_elsewhere=is_elsewhere)
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"{source} cannot be read: {error}") from error
        return {**_import_json(result), "scope": store.scope.value, "input": str(source)}

    def restore_backup(self, arguments: object) -> Json:
        """Make a scope's memories what a backup holds. What goes by that stays in the history, a damaged file beside it."""
        args = Arguments("restore", arguments, ("scope", "backup"))
        view = self._projects.first()
        scope = Scope(args.choice("scope", SCOPE_NAMES[1:]) or Scope.PROJECT)
        name = args.text("backup").strip() or "latest"
        try:
            restored = restore_into(view.memories.of(scope), name, view.memories.stamp())
        except StoreDamaged:
            folder = view.project.data_folder if scope is Scope.PROJECT else user_data_folder()
            restored = replace_damaged(folder, name, scope)
        return {
            "scope": scope.value,
            "backup": restored.backup,
            "inserted": restored.inserted,
            "replaced": restored.replaced,
            "deleted": restored.deleted,
            "moved_aside": restored.moved_aside,
        }

    def _store(self, args: Arguments) -> tuple[MemoryStore, ProjectView]:
        view = self._projects.first()
        return view.memories.of(Scope(args.choice("scope", SCOPE_NAMES) or Scope.PROJECT)), view


def _on_disk(args: Arguments) -> tuple[Scope, ...]:
    return tuple(scope for scope in scopes_of(args) if scope is not Scope.SESSION)


def _figures(store: MemoryStore, view: ProjectView) -> Json:
    model = view.shared.model(0.0)
    newest = store.find(limit=1)
    figures: Json = {
        "memories": store.count(),
        "types": store.type_counts(),
        "tags": dict(list(store.tag_counts().items())[:_TAGS]),
        "anchored": store.count(MemoryFilters(anchored=True)),
        "never_recalled": store.count(MemoryFilters(never_used=True)),
        "bytes": store.size(),
        "newest": newest[0].updated_at if newest else None,
    }
    if model is not None:
        figures |= {"model": model.model_id, "not_embedded": store.vectors.missing_count(model.model_id)}
    return figures


def _import_json(result: ImportResult) -> Json:
    return {
        "inserted": result.inserted,
        "updated": result.updated,
        "unchanged": result.unchanged,
        "duplicates": result.duplicates,
    }
