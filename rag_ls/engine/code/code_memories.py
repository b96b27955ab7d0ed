"""Memories as one client sees them in its open project: anchored to the present code, on the checked-out branch."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from rag_ls import memory
from rag_ls.embedding import Embedding, HostedModel
from rag_ls.engine.code.places import Places
from rag_ls.engine.requests import checked_k
from rag_ls.engine.reranking import RERANKED, Reranking
from rag_ls.engine.view_context import ViewContext
from rag_ls.errors import InvalidRequest, ModelMissing, NotFound, StoreError
from rag_ls.memory import Memories, consolidation
from rag_ls.memory.batches import CONSOLIDATED, Undone, find_batch, undo
from rag_ls.memory.consolidation import Plan
from rag_ls.memory.recall import memory_of
from rag_ls.memory.summarise import Summary, SummaryRequest, summarise
from rag_ls.model import Anchor, AnchorState, Hit, Memory, Scope, SearchAnswer, SearchStats
from rag_ls.project import current_branch, is_guest
from rag_ls.storage import Batch, ChunkRow
from rag_ls.util.paths import is_readable_file

_log = logging.getLogger(__name__)

_MAX_LOGGED = 200
_WORDS_ALONE = "the embedding model is not ready: these are matches by words alone"
_MODEL_S = 20.0


@dataclass(frozen=True, slots=True)
class Consolidated:
    """The result of a consolidation (or of its dry run) in each scope; `ids` identify it for an undo."""

    plans: Mapping[Scope, Plan]
    ids: Mapping[Scope, str]


class CodeMemories:
    """The memories about a project's code. Safe from several threads."""

    def __init__(
        self,
        context: ViewContext,
        places: Places,
        memories: Memories,
    ) -> None:
        self.memories = memories
        self._context = context
        self._shared = context.shared
        self._places = places
        self._reranking = Reranking(context.shared.reranker)

    def branch(self) -> str:
        """The git branch that is checked out; empty where there is none."""
        return current_branch(self._shared.project.root)

    # --- remembering and recalling

    def remember(self, new: memory.NewMemory, *, line: int = 0, symbol: str = "") -> memory.Stored:
        """Store a memory, anchored to the code at `line` or to `symbol` of its source file where one is given.

        Raises `InvalidRequest` for the project scope where no project is open, and for a place that does not exist.
        """
        if self._context.is_scratch and new.scope is Scope.PROJECT:
            raise InvalidRequest("no project is open, so there is none to remember for; use scope = global, or session")
        anchor = self.anchor(new.metadata.source_file, line, symbol)
        if anchor is not None:
            # A file's name was completed to its path.
            new = replace(new, metadata=replace(new.metadata, source_file=anchor.path))
        if anchor is not None and new.scope is not Scope.PROJECT:
            # Other projects see this memory too, and have files of the same names.
            anchor = replace(anchor, project=str(self._shared.project.root))
        return self.memories.store(replace(new, anchor=anchor), self._shared.model(0.0))

    def recall(
        self, query: str, filters: memory.MemoryFilters, *, k: int | None = None, min_similarity: float | None = None,
        wait_for_model_s: float = 0.0, is_unsaved: bool = False,
    ) -> SearchAnswer:  # fmt: skip
        """The memories that fit a query best. A query that is unsaved text is not sent to another machine."""
        started = time.perf_counter()
        settings = self._context.settings
        question = memory.Question(
            query,
            checked_k(k, settings.search.default_k),
            settings.search.min_similarity if min_similarity is None else min_similarity,
            filters,
            settings.search.query_expansion,
            settings.memory.half_life_days,
        )
        of_query = self._shared.model_for_unsaved if is_unsaved else self._shared.model
        model, note = of_query(wait_for_model_s), ""
        if settings.search.enable_reranking:
            hits = self.memories.recall(replace(question, k=max(question.k, RERANKED)), model)
            hits, note = self._reranking.ordered(query, hits)
        else:
            hits = self.memories.recall(question, model)
        anchored = [] if filters.restricts else self._about_symbol(query, filters)
        known = {hit.item.id for hit in anchored}
        hits = [*anchored, *(hit for hit in hits if hit.item.id not in known)][: question.k]
        self.memories.note_uses(hits)
        return self._answer(query, hits, started, model, note)

    def _about_symbol(self, query: str, filters: memory.MemoryFilters) -> list[Hit]:
        """The memories about the declaration that a query names, and about its members; none if it names none."""
        symbols = self._places.named_with_members(query)
        if not symbols:
            return []
        found = self._current(self.memories.about("", symbols, ()))
        # Those about the declaration itself come before those about its members.
        ranks = {symbol: rank for rank, symbol in enumerate(symbols)}
        ranked = [
            (ranks[item.anchor.symbol], item.id, item)
            for item in found
            if item.anchor and item.anchor.symbol in ranks and item.scope in filters.scopes
        ]
        return [Hit(item, 1.0, ("anchor",)) for _, _, item in sorted(ranked, key=itemgetter(0, 1))]

    def about(self, path: str, line: int, text: str, k: int | None) -> SearchAnswer:
        """The memories about the code at a place, then those that fit `text`, or else that code."""
        started = time.perf_counter()
        settings = self._context.settings
        count = checked_k(k, settings.search.default_k)
        row = self._row_at(path, line)
        hits = self.of_chunk(row) if row else []
        chunk = row.stored.chunk if row else None
        query = text.strip() or (f"{chunk.symbol} {chunk.doc or chunk.text[:500]}" if chunk else "")
        model = self._shared.model_for_unsaved(0.0)
        if query:
            question = memory.Question(query, count, settings.search.min_similarity, self.on_branch(memory.ALL))
            known = {hit.item.id for hit in hits}
            hits += [hit for hit in self.memories.recall(question, model) if hit.item.id not in known]
        return self._answer(query, hits[:count], started, model)

    def near(self, row: ChunkRow, embedding: Embedding | None, path: str = "", line: int = 0) -> list[Hit]:
        """Memories about a line and a chunk, then memories close to the chunk in meaning. For hovers: calls no model."""
        hover = self._context.settings.hover
        chunk = row.stored.chunk
        about = self._about_code(row)
        # The word under the cursor may be declared in another file than the line's.
        here = about if path in ("", chunk.path) else self._current(self.memories.about(path, (), ()))
        found = _beside(here, path or chunk.path, line)
        known = {hit.item.id for hit in found}
        found += [hit for hit in _of_chunk(about, row) if hit.item.id not in known]
        if embedding is not None:
            known = {hit.item.id for hit in found}
            close = self.memories.near(
                embedding,
                self.on_branch(memory.ALL),
                k=hover.max_memories + len(known),
                min_similarity=hover.min_similarity,
            )
            anchoring = self._places.anchoring()
            new = [hit for hit in close if hit.item.id not in known]
            found += [replace(hit, item=self._resolved(memory_of(hit), anchoring)) for hit in new]
        return found[: hover.max_memories]

    def of_chunk(self, row: ChunkRow) -> list[Hit]:
        """The memories that are about a chunk's code, the most important first."""
        return _of_chunk(self._about_code(row), row)

    def _about_code(self, row: ChunkRow) -> list[Memory]:
        """The memories about a chunk's document, symbol or text."""
        chunk = row.stored.chunk
        return self._current(self.memories.about(chunk.path, (chunk.symbol,), (row.stored.content_hash,)))

    def of_document(self, path: str) -> list[tuple[ChunkRow, list[Memory]]]:
        """The chunks of a document that memories are about, from its top, with these memories.

        Each is there once, at the first piece of its code.
        """
        self._shared.catch_up()
        rows = self._places.chunks(path)
        if not rows:
            return []
        symbols = [row.stored.chunk.symbol for row in rows]
        items = self._current(self.memories.about(path, symbols, [row.stored.content_hash for row in rows]))
        found = []
        for row in rows:
            about = [item for item in items if _is_about(item, row)]
            items = [item for item in items if item not in about]
            if about:
                found.append((row, about))
        return found

    def on_branch(self, filters: memory.MemoryFilters) -> memory.MemoryFilters:
        """The filters, narrowed to memories that count on the checked-out branch."""
        return replace(filters, branch=self.branch())

    # --- anchors

    def with_anchor_state(self, item: Memory) -> Memory:
        """The memory with its anchor resolved against the present code."""
        if item.anchor is None or self._is_elsewhere(item.anchor):
            return item
        anchor = item.anchor

        def look() -> Anchor:
            self._shared.take_in(anchor.path)
            return self._present(anchor, self._places.anchoring())

        return replace(item, anchor=_or_unknown(anchor, look))

    def _resolved(self, item: Memory, anchoring: memory.Anchoring) -> Memory:
        """As `with_anchor_state`, but only by the index as it is: hovers and lenses must not index a file."""
        if item.anchor is None or self._is_elsewhere(item.anchor):
            return item
        anchor = item.anchor
        found = _or_unknown(anchor, lambda: self._present(anchor, anchoring))
        if found.state is AnchorState.ORPHANED and not self._was_read(anchor.path):
            return item
        return replace(item, anchor=found)

    def _present(self, anchor: Anchor, anchoring: memory.Anchoring) -> Anchor:
        """The anchor with its present place and state; a file that is not for the index is there or not as a whole.

        Raises `OSError` for a file of which nothing is found, but which cannot be read just now.
        """
        found = anchoring.resolved(anchor)
        if found.state is not AnchorState.ORPHANED or is_guest(anchor.path):
            return found
        is_whole_file = not (anchor.symbol or anchor.content_hash)
        is_there = is_readable_file(self._shared.project.root / anchor.path)
        return replace(found, state=AnchorState.FRESH) if is_whole_file and is_there else found

    def _was_read(self, path: str) -> bool:
        """Whether the file was read, so that its absence from the index means something."""
        checkout = self._shared.index.checkout
        return checkout.document(path) is not None or not (self._shared.never_indexed or checkout.queue.holds(path))

    def anchor(self, source_file: str | None, line: int, symbol: str) -> Anchor | None:
        """An anchor for a place of a source file, or for the only declaration of a name; None without either.

        Raises `InvalidRequest`, which names the nearest places.
        """
        if not source_file and not symbol:
            if line:
                raise InvalidRequest(f"line = {line} says nothing without source_file: give the path of its file")
            return None
        self._shared.catch_up()
        path = self._context.relative(source_file) if source_file else self._places.declaring(symbol)
        if not is_guest(path):
            path = self._places.existing(path)
            self._shared.take_in(path)
        return self._places.anchor(path, line, symbol)

    def confirmed_anchor(self, item: Memory) -> Anchor | None:
        """The anchor of a confirmed memory, renewed for the present code if that still exists."""
        if item.anchor is None or self._is_elsewhere(item.anchor):
            return item.anchor
        self._shared.catch_up()
        found = self.with_anchor_state(item).anchor
        if found is None or found.state in (AnchorState.ORPHANED, AnchorState.UNKNOWN):
            return item.anchor
        line = found.start_line if found.line_print else 0
        now = self._places.anchor(found.path, line, "" if line else found.symbol)
        return replace(now, project=item.anchor.project)

    def _is_elsewhere(self, anchor: Anchor) -> bool:
        """Whether an anchor is in the code of another project."""
        return anchor.project not in ("", str(self._shared.project.root))

    # --- consolidating and summarising

    def consolidate(self, scopes: Sequence[Scope], threshold: float, *, dry_run: bool) -> Consolidated:
        """Merge memories that say the same, scope by scope. Raises `ModelMissing`."""
        model = self._model("consolidation compares meanings")
        plans: dict[Scope, Plan] = {}
        ids: dict[Scope, str] = {}
        number = str(uuid.uuid4())
        for store in self.memories.usable(scopes):
            plans[store.scope], ids[store.scope] = consolidation.consolidate(
                store, model, threshold, self.memories.now(), number=number, dry_run=dry_run
            )
        return Consolidated(plans, ids)

    def last_changes(self, batch_id: str = "") -> list[Batch]:
        """The change of many memories that `undo` would take back: its part in each store; empty for none."""
        stores = list(self.memories.usable(tuple(Scope)))
        found = [batch for store in stores if (batch := find_batch(store, batch_id))]
        latest = max(found, key=lambda batch: batch.at, default=None)
        return [batch for batch in found if latest is not None and batch.id == latest.id]

    def undo(self, scopes: Sequence[Scope], batch_id: str, *, kind: str = "", dry_run: bool = False) -> list[Undone]:
        """Take a change of many memories back: the one with this id, else the scopes' latest (of a kind).

        Raises `NotFound`.
        """
        stores = list(self.memories.usable(scopes))
        found = [batch for store in stores if (batch := find_batch(store, batch_id, kind))]
        if not found:
            what = "no consolidation" if kind == CONSOLIDATED else "no deletion, import, merge or restore"
            named = f" with the id {batch_id!r}" if batch_id else ""
            raise NotFound(f"there is {what} to undo{named}; restore_memory takes back how one memory was changed")
        latest = max(found, key=lambda batch: batch.at).id
        stamp = self.memories.stamp()
        return [undo(store, latest, stamp, dry_run=dry_run) for store in stores if find_batch(store, latest)]

    def summarise(self, request: SummaryRequest, *, dry_run: bool = False) -> Summary:
        """Summarise the memories of a period, and keep the summary, but in a preview."""
        if self._context.is_scratch and request.filters.scopes == tuple(Scope):
            request = replace(request, filters=replace(request.filters, scopes=(Scope.SESSION, Scope.GLOBAL)))
        settings = self._context.settings.summaries
        return summarise(self.memories, request, self._shared.model(0.0), settings, dry_run=dry_run)

    def embedding_of(self, item: Memory) -> tuple[str, tuple[tuple[float, ...], ...]] | None:
        """The answering model's id, and its vectors of a memory's parts; None where there are none yet."""
        model = self._shared.model(0.0)
        vectors = self.memories.of(item.scope).vectors.of(item.id, model.model_id) if model else None
        if model is None or vectors is None or not len(vectors):
            return None
        return model.model_id, tuple(tuple(round(float(value), 6) for value in row) for row in vectors)

    def _model(self, purpose: str) -> HostedModel:
        model = self._shared.model(_MODEL_S)
        if model is None:
            raise ModelMissing(
                f"{purpose}, which needs the embedding model: {self._shared.model_state()[2] or 'it is loading'}"
            )
        return model

    def _row_at(self, path: str, line: int) -> ChunkRow | None:
        self._shared.catch_up()
        try:
            return self._places.at(self._context.relative(path), line)
        except (NotFound, InvalidRequest):
            return None

    def _current(self, found: Sequence[Memory]) -> list[Memory]:
        """The memories that count on this branch, with their anchors resolved against the present code."""
        branch = self.branch()
        here = [item for item in found if item.anchor is None or not self._is_elsewhere(item.anchor)]
        anchoring = self._places.anchoring()
        return [self._resolved(item, anchoring) for item in here if item.branch in (None, branch)]

    def _answer(
        self, query: str, hits: Sequence[Hit], started: float, model: HostedModel | None, note: str = ""
    ) -> SearchAnswer:
        anchored = tuple(
            hit if "anchor" in hit.matched_by else replace(hit, item=self.with_anchor_state(memory_of(hit)))
            for hit in hits
        )
        note = self.memories.damage() or self.memories.take_note() or note or ("" if model else _WORDS_ALONE)
        took_ms = round((time.perf_counter() - started) * 1000, 1)
        return SearchAnswer(
            query, anchored, SearchStats(took_ms, model is not None, len(hits), complete=True, note=note)
        )


def _or_unknown(anchor: Anchor, look: Callable[[], Anchor]) -> Anchor:
    """The anchor that a look at its place finds. An unreadable place is unknown: it hides no other memory."""
    try:
        return look()
    except StoreError:
        # The index itself is damaged, and is made anew.
        raise
    except Exception as error:
        _log.info("the place of a memory, %s, cannot be told: %r", anchor.path[:_MAX_LOGGED], error)
        return replace(anchor, state=AnchorState.UNKNOWN)


def _beside(items: Sequence[Memory], path: str, line: int) -> list[Hit]:
    """The memories that were stored about a line, or the line above or below it."""
    return [
        Hit(item, 1.0, ("anchor",))
        for item in items
        if (at := item.anchor) and at.path == path and at.line_print and abs(at.start_line - line) <= 1
    ]


def _of_chunk(items: Sequence[Memory], row: ChunkRow) -> list[Hit]:
    """The memories that are about a chunk, the most important first."""
    about = sorted((item for item in items if _is_about(item, row)), key=lambda item: -item.metadata.importance_score)
    return [Hit(item, 1.0, ("anchor",)) for item in about]


def _is_about(item: Memory, row: ChunkRow) -> bool:
    anchor, stored = item.anchor, row.stored
    if anchor is None or anchor.state is AnchorState.ORPHANED or anchor.path != stored.chunk.path:
        return False
    if not (anchor.symbol or anchor.content_hash):
        # A memory about the whole document shows at its first chunk.
        return stored.chunk.ordinal == 0
    if anchor.symbol and anchor.symbol == stored.chunk.symbol:
        return True
    return stored.chunk.start_line <= anchor.start_line <= stored.chunk.end_line
