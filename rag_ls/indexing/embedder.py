"""The thread that gives pending chunks their embeddings."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Collection
from concurrent.futures import Future

from rag_ls.chunking import embedding_text
from rag_ls.embedding import HostedModel, ModelHost
from rag_ls.errors import RagLsError, StoreFull
from rag_ls.indexing.intake import IndexedProject
from rag_ls.indexing.progress import Phase, Progress, ProgressBoard, Wake
from rag_ls.indexing.sharing import VectorSharing
from rag_ls.model import Chunk
from rag_ls.storage import Priority, Vectors
from rag_ls.util.threads import run_in_daemon_thread

_log = logging.getLogger(__name__)

# Texts that were just typed or written are embedded by themselves, so many at once; only a few while requests are on their way.
_TYPED_TEXTS, _MAX_BETWEEN_REQUESTS = 48, 16
# So many others are sorted by length together, because texts of equal length need no padding, and so many are one request. Two
# requests are on their way, so that the model works while vectors are stored.
_POOL_TEXTS, _REQUEST_TEXTS, _REQUESTS = 1536, 192, 2
# The longest pause before a request while questions are being answered.
_MAX_GIVE_WAY_S = 0.5
_LOOK_AGAIN_S = 5.0
# The thread looks for a model this often; only seldom does a model become available without waking it.
_LONG_REST_S = 60.0
_RETRY_S = 3.0

_Pending = list[tuple[bytes, Chunk]]
"""Texts without a vector: the hash of the embedded text, and what it is made from."""


class EmbeddingQueue:
    """Embeds the store's pending chunks, the highest priority first.

    Chunks are embedded with the model that answers searches first. When the settings name another model, its vectors
    are made next, and it takes over when they are complete.
    """

    def __init__(
        self,
        project: IndexedProject,
        models: ModelHost,
        board: ProgressBoard,
    ) -> None:
        self._project = project
        self._store = project.index.checkout
        self._vectors = project.index.vectors
        self._models = models
        self._board = board
        self._wake = Wake()
        self._awake = False
        self._stopping = False
        self.sharing = VectorSharing(project)
        self._looked_at = -_LOOK_AGAIN_S
        self.waits_for = ""
        """The reason why bulk embedding waits (typed text does not); empty where it does not wait."""
        self._logged = ""
        self.problem = ""
        """The reason why it cannot go on until the user makes room on a disk; empty otherwise."""
        self._preferred: set[int] = set()
        self._done = self._total = self._left = 0
        self.is_bulk_elsewhere = False
        """Whether another process embeds all pending chunks, and shares them."""
        self._refused: set[tuple[str, bytes]] = set()
        """Texts of which a model that is to take over makes no usable vector."""
        self.bulk = False
        """Whether this process embeds all pending chunks, or only those of interactive documents."""
        self.idle = True
        self._idle_since: float | None = None
        self._is_blocked = False
        """Whether chunks lack vectors because their model cannot be had, as of the last look."""

    def start(self) -> None:
        self._wake.serve(self._run, "embeddings")

    def begin_stop(self) -> None:
        """Tell the thread to end after the current batch."""
        self._stopping = True
        self._wake.close()

    def stop(self) -> None:
        """Stop, and wait for it."""
        self.begin_stop()
        self._wake.join(10.0)

    def let_end(self) -> bool:
        """Let the thread end while nothing is to do; whether none runs. `wake` starts it again."""
        with self._wake.condition:
            return self._wake.let_end()

    @property
    def idle_s(self) -> float:
        """For how many seconds the thread has found nothing to do; 0 while it works."""
        since = self._idle_since
        return time.monotonic() - since if since is not None else 0.0

    @property
    def can_go_on(self) -> bool:
        """Whether the model that chunks wait for can be had by now. Asks no store."""
        return self._is_blocked and self._can_be_had(self._models.configured_id)

    def wake(self) -> None:
        """Make the thread look for work: there may be something to embed."""
        with self._wake.news():
            self._awake = True

    def prefer(self, documents: Collection[int]) -> None:
        """Embed these documents before the rest, because a search returned them. Cheap: the thread applies it later."""
        with self._wake.condition:
            self._preferred.update(documents)

    def _note_preferred(self) -> None:
        with self._wake.condition:
            preferred, self._preferred = self._preferred, set()
        if preferred:
            self._store.embeddings.prefer(preferred, Priority.RETURNED)

    def has_work(self) -> bool:
        """Whether chunks lack vectors of the answering model, or another model is to take over."""
        active = self._store.embeddings.active_model() or self._models.configured_id
        successor = self._successor(active)
        if successor and self._can_be_had(successor):
            return True
        if self._store.embeddings.pending_count(active) > 0:
            return self._can_be_had(active)
        return not self.is_bulk_elsewhere and self.has_to_share()

    def has_to_share(self) -> bool:
        """Whether everything is embedded, and a team's store may lack vectors."""
        active = self._store.embeddings.active_model()
        if not active or self._models.is_off:
            return False
        return not self._store.embeddings.pending_count(active) and self.sharing.is_due(active)

    def _can_be_had(self, model_id: str) -> bool:
        return bool(model_id) and not self._models.is_off and not self._models.has_failed(model_id)

    def _successor(self, active: str) -> str | None:
        """The configured model's id, if another model answers now."""
        configured = self._models.configured_id
        return configured if active and configured and configured != active else None

    def _run(self) -> None:
        try:
            with self._project.index.database.unnoticed():
                self._work()
        finally:
            for model in self._models.loaded():
                model.release()

    def _work(self) -> None:
        while not self._stopping:
            try:
                has_more = self._step()
                self.problem = ""
                if has_more:
                    self._idle_since = None
                elif self._rest():
                    return
            except (RagLsError, ValueError) as error:
                if self._stopping:
                    return
                # A service may be away for hours.
                former, self.problem = self.problem, str(error) if isinstance(error, StoreFull) else ""
                if self.problem != former:
                    self._board.tell_again()
                if str(error) != self._logged:
                    self._logged = str(error)
                    _log.warning("embedding failed, trying again: %s", error)
                self._pause()
            except Exception:
                _log.exception("embedding failed unexpectedly, trying again")
                self._pause()

    def _rest(self) -> bool:
        """Rest until there may be something to do; whether the thread has to end instead."""
        self.idle = True
        if self._idle_since is None:
            self._idle_since = time.monotonic()
        active = self._store.embeddings.active_model()
        # Read one row instead of counting: a paused project may have tens of thousands.
        is_done = bool(active) and not self._store.embeddings.pending(active, 1, at_least=_least_priority(self.bulk))
        self._is_blocked = not is_done and not self._can_be_had(active or self._models.configured_id)
        self._board.note_step()
        with self._wake.condition:
            if not self._awake and not self._stopping:
                if self._wake.ends():
                    return True
                # The documents thread finds chunks that other processes left, and wakes this one.
                self._wake.condition.wait(_LONG_REST_S if is_done else _LOOK_AGAIN_S)
            self._awake = False
        return False

    def _pause(self) -> None:
        self.idle = True
        self._board.note_step()
        with self._wake.condition:
            self._wake.condition.wait_for(lambda: self._awake or self._stopping, _RETRY_S)
            self._awake = False

    def _step(self) -> bool:
        """Embed one batch; False when there is nothing to do for now."""
        if self._models.is_off:
            return False
        active = self._store.embeddings.active_model()
        if not active:
            if not (active := self._models.configured_id):
                return False
            self._store.embeddings.activate(active)
        successor = self._successor(active)
        self._note_preferred()
        self._borrow(active)
        if self._embed_some(active):
            return True
        if successor is not None and self.bulk:
            self._borrow(successor)
            if not self._has_to_wait() and self._embed_some(successor):
                return True
            ready = self._models.get(successor)
            if ready and self._count_left(ready) <= 0:
                _log.info("%s takes over from %s", successor, active)
                self._store.embeddings.activate(successor)
                for text_hash in self._refused_by(successor):
                    self._store.embeddings.refuse(text_hash)
                self._refused.clear()
                return True
        self._finish(active)
        return False

    def _embed_some(self, model_id: str) -> bool:
        """Embed typed texts, and then all others if this process does; False when there is nothing to do for now."""
        bulk = self.bulk and not self._has_to_wait()
        if not self._store.embeddings.pending(model_id, 1, at_least=_least_priority(bulk)):
            return False
        self.idle = self._awake = False
        model = self._models.wait(model_id, timeout_s=_RETRY_S)
        if model is None or model.has_failed:
            return False
        if model.sends_away and model_id == self._store.embeddings.active_model():
            self._store.embeddings.withhold_unsaved()
        has_embedded = self._embed_typed(model)
        return (bulk and self._embed_pools(model)) or has_embedded

    def _embed_typed(self, model: HostedModel, *, between_requests: bool = False) -> bool:
        """Embed texts that were typed or written just now; whether there were any. Between two requests many are left to the next one."""
        if model.model_id != self._store.embeddings.active_model():
            return False
        pending = self._find_pending(model, _TYPED_TEXTS, at_least=Priority.INTERACTIVE)
        if not pending or (between_requests and len(pending) > _MAX_BETWEEN_REQUESTS):
            return False
        left = max(0, self._count_left(model))
        if self.bulk:
            self._report(left)
        # Without a backlog no other request is waited for.
        backlog = 0 if between_requests else max(0, left - len(pending))
        texts = [embedding_text(chunk) for _, chunk in pending]
        self._store_vectors(model, pending, model.embed_documents(texts, backlog=backlog))
        return True

    def _embed_pools(self, model: HostedModel) -> bool:
        """Embed all texts until none is left, or something else is to do; whether there were any.

        Texts that are typed meanwhile are embedded between two requests; then the rest of the pool is chosen anew.
        """
        pool: deque[_Pending] = deque()
        running: deque[tuple[_Pending, Future[Vectors]]] = deque()
        has_embedded = False
        while not self._stopping:
            if self._awake:
                self._awake = False
                self._note_preferred()
                while self._embed_typed(model, between_requests=True):
                    pass
                pool.clear()
            while len(running) < _REQUESTS and self.bulk and not self._has_to_wait():
                pool = pool or self._find_pool(model, {item[0] for items, _ in running for item in items})
                if not pool:
                    break
                self._project.let_questions_pass(_MAX_GIVE_WAY_S)
                running.append((pool[0], self._request(model, pool.popleft())))
            if not running:
                break
            items, vectors = running[0]
            if self._wait_for(vectors):
                running.popleft()
                self._store_vectors(model, items, vectors.result())
                has_embedded = True
                self._left = max(0, self._left - len(items))
                if self.bulk:
                    self._report(self._left)
        return has_embedded

    def _wait_for(self, vectors: Future[Vectors]) -> bool:
        """Wait for an answer of the model, unless there is news; whether the answer is there."""
        with self._wake.condition:
            self._wake.condition.wait_for(lambda: vectors.done() or self._awake or self._stopping)
        return vectors.done()

    def _request(self, model: HostedModel, items: _Pending) -> Future[Vectors]:
        """Ask the model for vectors, and wake this thread when they are there."""
        backlog = max(0, self._left - len(items))
        texts = [embedding_text(chunk) for _, chunk in items]
        vectors = run_in_daemon_thread(lambda: model.embed_documents(texts, backlog=backlog), "embed texts")
        vectors.add_done_callback(lambda _: self._wake.look_up())
        return vectors

    def _find_pool(self, model: HostedModel, running: set[bytes]) -> deque[_Pending]:
        """The next requests, each of texts of similar length, without texts that are `running`: wanted ones before all others."""
        found = self._find_pending(model, _POOL_TEXTS, at_least=Priority.RETURNED, without=running)
        found = found or self._find_pending(model, _POOL_TEXTS, without=running)
        found.sort(key=lambda item: -len(item[1].text))
        if found:
            self._left = max(0, self._count_left(model))
            self._report(self._left)
        return deque(found[at : at + _REQUEST_TEXTS] for at in range(0, len(found), _REQUEST_TEXTS))

    def _find_pending(
        self, model: HostedModel, limit: int, *, at_least: Priority = Priority.REST, without: Collection[bytes] = ()
    ) -> _Pending:
        left_out = {*self._refused_by(model.model_id), *without}
        found = self._store.embeddings.pending(
            model.model_id, limit + len(left_out), at_least=at_least, saved_only=model.sends_away
        )
        return [item for item in found if item[0] not in left_out][:limit]

    def _count_left(self, model: HostedModel) -> int:
        pending = self._store.embeddings.pending_count(model.model_id, saved_only=model.sends_away)
        return pending - len(self._refused_by(model.model_id))

    def _report(self, left: int) -> None:
        """Tell how many of the chunks are done. A text may stand in several, so the total is kept, and `left` is counted."""
        self._total = max(self._total, self._done + left)
        self._done = self._total - left
        self._board.report(Progress(Phase.EMBEDDING, self._done, self._total))

    def _refused_by(self, model_id: str) -> set[bytes]:
        return {text_hash for model, text_hash in self._refused if model == model_id}

    def _borrow(self, model_id: str) -> None:
        if self.bulk:
            self.sharing.borrow(model_id, self._models.card(model_id).dimensions, self._keep)

    def _has_to_wait(self) -> bool:
        if time.monotonic() - self._looked_at >= _LOOK_AGAIN_S:
            self._looked_at = time.monotonic()
            former, self.waits_for = self.waits_for, self._project.reason_to_wait()
            if self.waits_for != former:
                self._board.tell_again()
        return bool(self.waits_for)

    def _store_vectors(self, model: HostedModel, pending: _Pending, vectors: Vectors) -> None:
        self._keep(model.model_id, [text_hash for text_hash, _ in pending], vectors)
        self.sharing.note_embedded()

    def _keep(self, model_id: str, text_hashes: list[bytes], vectors: Vectors) -> None:
        """Store a batch. If the store refuses it, store its halves, down to the texts whose vectors are unusable."""
        try:
            with self._store.together():
                self._vectors.put(model_id, text_hashes, vectors)
                if model_id == self._store.embeddings.active_model():
                    self._store.embeddings.note_embedded(text_hashes)
        except ValueError:
            if len(text_hashes) == 1:
                _log.warning("a text has no usable embedding by %s and is found by its words alone", model_id)
                if model_id == self._store.embeddings.active_model():
                    self._store.embeddings.refuse(text_hashes[0])
                else:
                    self._refused.add((model_id, text_hashes[0]))
                return
            half = len(text_hashes) // 2
            self._keep(model_id, text_hashes[:half], vectors[:half])
            self._keep(model_id, text_hashes[half:], vectors[half:])

    def _finish(self, active: str) -> None:
        is_done = not self._store.embeddings.pending_count(active)
        if is_done:
            self.sharing.note_all_embedded(active)
        if self.bulk and is_done:
            self.sharing.send(active, lambda: self._awake or self._stopping)
        if self.bulk and self._total and is_done:
            self._report(0)
            self._done = self._total = 0
            self._board.report(Progress(Phase.IDLE))
        if (is_done or not self.bulk) and (model := self._models.get(active)):
            model.release()


def _least_priority(bulk: bool) -> Priority:
    return Priority.REST if bulk else Priority.INTERACTIVE
