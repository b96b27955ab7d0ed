"""Changes of many memories at once, as a client asks for them: consolidating, summarising, and taking them back."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

from rag_ls.embedding import OFF, HostedModel
from rag_ls.engine.project_status import describe_model
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import ModelMissing, NotFound
from rag_ls.memory import (
    CONSOLIDATED,
    Plan,
    Summary,
    SummaryRequest,
    Undone,
    consolidation,
    find_batch,
    make_summary,
    undo,
)
from rag_ls.model import Memory, Scope
from rag_ls.storage import Batch
from rag_ls.util.records import dataclass, replace

_MODEL_S = 20.0


@dataclass(frozen=True, slots=True)
class Consolidated:
    """The result of a consolidation (or of its dry run) in each scope; `ids` identify it for an undo."""

    plans: Mapping[Scope, Plan]
    ids: Mapping[Scope, str]


def consolidate_scopes(
    session: ProjectSession, scopes: Sequence[Scope], threshold: float, *, chosen: Sequence[Memory] = (), dry_run: bool
) -> Consolidated:
    """Merge memories that say the same, scope by scope; of `chosen` ones only those. Raises `ModelMissing`."""
    model = _wait_for_model(session, "consolidation compares meanings")
    plans: dict[Scope, Plan] = {}
    ids: dict[Scope, str] = {}
    batch_id = str(uuid.uuid4())
    for store in session.memories.usable((chosen[0].scope,) if chosen else scopes):
        plans[store.scope], ids[store.scope] = consolidation.consolidate(
            store, model, threshold, session.memories.now(), chosen=chosen, batch_id=batch_id, dry_run=dry_run
        )
    return Consolidated(plans, ids)


def find_last_changes(session: ProjectSession, batch_id: str = "") -> list[Batch]:
    """The change of many memories that `undo` would take back: its part in each store; empty for none."""
    stores = list(session.memories.usable(tuple(Scope)))
    found = [batch for store in stores if (batch := find_batch(store, batch_id))]
    latest = max(found, key=lambda batch: batch.at, default=None)
    return [batch for batch in found if latest is not None and batch.id == latest.id]


def undo_changes(
    session: ProjectSession, scopes: Sequence[Scope], batch_id: str, *, kind: str = "", dry_run: bool = False
) -> list[Undone]:
    """Take a change of many memories back: the one with this id, else the scopes' latest (of a kind).

    Raises `NotFound`.
    """
    stores = list(session.memories.usable(scopes))
    found = [batch for store in stores if (batch := find_batch(store, batch_id, kind))]
    if not found:
        what = "no consolidation" if kind == CONSOLIDATED else "no deletion, import, merge or restore"
        named = f" with the id {batch_id!r}" if batch_id else ""
        raise NotFound(f"there is {what} to undo{named}; restore_memory takes back how one memory was changed")
    latest = max(found, key=lambda batch: batch.at).id
    stamp = session.memories.stamp()
    return [undo(store, latest, stamp, dry_run=dry_run) for store in stores if find_batch(store, latest)]


def summarise_memories(session: ProjectSession, request: SummaryRequest, *, dry_run: bool = False) -> Summary:
    """Summarise the memories of a period, and keep the summary unless it is a preview."""
    if session.is_scratch and request.filters.scopes == tuple(Scope):
        request = replace(request, filters=replace(request.filters, scopes=(Scope.SESSION, Scope.GLOBAL)))
    settings = session.settings.summaries
    return make_summary(session.memories, request, session.project.model(0.0), settings, dry_run=dry_run)


def find_embedding(session: ProjectSession, item: Memory) -> tuple[str, tuple[tuple[float, ...], ...]] | None:
    """The answering model's id, and its vectors of a memory's parts; None where there are none yet."""
    model = session.project.model(0.0)
    vectors = session.memories.of(item.scope).vectors.of(item.id, model.model_id) if model else None
    if model is None or vectors is None or not len(vectors):
        return None
    return model.model_id, tuple(tuple(round(float(value), 6) for value in row) for row in vectors)


def _wait_for_model(session: ProjectSession, purpose: str) -> HostedModel:
    model = session.project.model(_MODEL_S)
    if model is None:
        models = session.project.engine.models
        why = OFF if models.is_off else describe_model(session.project).note or "it is loading"
        raise ModelMissing(f"{purpose}, which needs the embedding model: {why}")
    return model
