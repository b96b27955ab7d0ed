"""Operations on whole stores of memories and indexes: figures, maintenance, export.

Only the shell offers them, because they write files that the caller names.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rag_ls.engine import ProjectSession
from rag_ls.errors import InvalidRequest
from rag_ls.memory import Format, format_by_name, portable
from rag_ls.model import MemoryFilters, Scope
from rag_ls.operations.fields import argument, optional
from rag_ls.operations.memories.arguments import (
    SCOPE_NAMES,
    SCOPES_OR_ALL,
    MemoryFilterArguments,
    make_memory_filters,
    read_scopes,
    set_branch,
)
from rag_ls.operations.memories.batches import FORMATS
from rag_ls.operations.operation import WRITES, Caller, Verb, operation
from rag_ls.storage import MemoryStore
from rag_ls.util.files import whole_file
from rag_ls.util.records import dataclass

_MAX_TAGS = 20


@dataclass(frozen=True, slots=True)
class OfScope:
    scope: str = argument("", "memories of this scope (default: all)", choices=SCOPES_OR_ALL, agents_type="string")


@dataclass(frozen=True, slots=True)
class ScopeFigures:
    """The content of a scope, in numbers."""

    memories: int
    types: Mapping[str, int]
    tags: Mapping[str, int]
    anchored: int
    never_recalled: int
    bytes: int
    newest: str | None
    model: str = optional("")
    not_embedded: int | None = optional()


@dataclass(frozen=True, slots=True)
class FiguresAnswer:
    """Figures by scope."""

    scopes: Mapping[str, ScopeFigures]


@operation(
    needs_code=False,
    command="ragLs.memoryStats",
    verb=Verb(
        "stats",
        "count memories by kind and tag, and those that were never recalled",
        example="rag-ls stats --scope project",
    ),
)
def stats(caller: Caller, request: OfScope) -> FiguresAnswer:
    """The numbers of memories by kind, and those that are never recalled."""
    view = caller.memory_projects.first()
    stores = view.memories.usable(read_scopes(request.scope))
    return FiguresAnswer({store.scope.value: _count_scope(store, view) for store in stores})


def _count_scope(store: MemoryStore, view: ProjectSession) -> ScopeFigures:
    model = view.project.model()
    newest = store.find(limit=1)
    return ScopeFigures(
        memories=store.count(),
        types=store.words.type_counts(),
        tags=dict(list(store.words.tag_counts().items())[:_MAX_TAGS]),
        anchored=store.count(MemoryFilters(anchored=True)),
        never_recalled=store.count(MemoryFilters(never_used=True)),
        bytes=store.size(),
        newest=newest[0].updated_at if newest else None,
        model=model.model_id if model else "",
        not_embedded=store.vectors.missing_count(model.model_id) if model else None,
    )


@dataclass(frozen=True, slots=True)
class OptimizedAnswer:
    """The indexes that were brought into their best shape."""

    optimized: tuple[str, ...]


@operation(
    effects=WRITES,
    manages=True,
    verb=Verb("optimize", "tidy the search indexes of the memories, so that they answer fast"),
)
def optimize(caller: Caller, request: OfScope) -> OptimizedAnswer:
    """Bring the indexes into their best shape."""
    view = caller.memory_projects.first()
    model = view.project.model()
    done = []
    for store in view.memories.usable(_choose_scopes(request)):
        store.optimise()
        if model is not None:
            store.vectors.optimise(model.model_id)
        done.append(store.scope.value)
    if not request.scope:
        view.store.optimise()
        done.append("index")
    return OptimizedAnswer(tuple(done))


@dataclass(frozen=True, slots=True)
class BytesRecord:
    """The former and the present size of a file."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class VacuumAnswer:
    """Space given back, by store."""

    bytes: Mapping[str, BytesRecord]


@operation(effects=WRITES, manages=True, verb=Verb("vacuum", "give free space of the files back to the disk"))
def vacuum(caller: Caller, request: OfScope) -> VacuumAnswer:
    """Give free space of the files back to the disk."""
    view = caller.memory_projects.first()
    files: dict[str, BytesRecord] = {}
    for store in view.memories.usable(_choose_scopes(request)):
        before = store.size()
        store.vacuum()
        files[store.scope.value] = BytesRecord(before, store.size())
    if not request.scope:
        files["index"] = BytesRecord(*view.store.vacuum())
    return VacuumAnswer(files)


def _choose_scopes(request: OfScope) -> tuple[Scope, ...]:
    return tuple(scope for scope in read_scopes(request.scope) if scope is not Scope.SESSION)


@dataclass(frozen=True, slots=True)
class ExportMemories:
    output: str = argument(doc="a file", is_path=True, is_written=True)
    scope: str = argument("", "memories of this scope (default: project)", choices=SCOPE_NAMES)
    format: str = argument("", "(default: by the file's name, else json)", choices=FORMATS)
    embeddings: bool = argument(False, "with their vectors")
    tags: tuple[str, ...] = argument((), flag="-")
    filters: MemoryFilterArguments = argument({}, flag="-", properties=MemoryFilterArguments)


@dataclass(frozen=True, slots=True)
class ExportAnswer:
    """The memories that were written to a file."""

    exported: int
    scope: str
    output: str
    format: str


@operation(
    effects=WRITES,
    manages=True,
    needs_code=False,
    verb=Verb("export", "write memories to a file", example="rag-ls export --output memories.json"),
)
def export_memories(caller: Caller, request: ExportMemories) -> ExportAnswer:
    """Write memories to a file."""
    store, view = _choose_store(caller, request.scope)
    target = Path(request.output)
    form = Format(request.format) if request.format else format_by_name(target)
    filters = MemoryFilters()
    if request.filters != MemoryFilterArguments():
        filters = set_branch(make_memory_filters(request.scope, request.filters), view)
    try:
        with whole_file(target) as stream:
            count = portable.export_memories(store, stream, form, filters=filters, embeddings=request.embeddings)
    except OSError as error:
        raise InvalidRequest(f"{target} cannot be written: {error.strerror or error}; give another --output") from error
    return ExportAnswer(count, store.scope.value, str(target), form)


def _choose_store(caller: Caller, scope: str) -> tuple[MemoryStore, ProjectSession]:
    view = caller.memory_projects.first()
    return view.memories.of(Scope(scope or Scope.PROJECT)), view
