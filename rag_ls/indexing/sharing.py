"""Shares vectors of equal texts: with this user's other projects, and with a team's store if the settings name one."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

import numpy as np

from rag_ls.errors import StoreUnavailable
from rag_ls.indexing.intake import IndexedProject
from rag_ls.storage import SharedVectors, VectorLender, Vectors

_log = logging.getLogger(__name__)

_TEXTS_AT_ONCE = 1000
# A store that failed is not asked again for this time.
_RETRY_S = 30.0
# Texts that were unsaved are looked for in files this often.
_LOOK_AGAIN_S = 30.0
# Below this many texts, looking for vectors in other projects costs more time than it saves.
_MIN_BORROWED_TEXTS = 8
# Vectors per query to another index.
_BORROWED_VECTORS = 500

Keep = Callable[[str, list[bytes], Vectors], None]
"""Stores vectors of a model, by the hashes of their texts."""


class VectorSharing:
    """Takes vectors that others lend, and sends the team's store those that it lacks. The embedding thread uses it."""

    def __init__(self, project: IndexedProject) -> None:
        self._project = project
        self._model = ""
        self._is_news = False
        """Whether texts were embedded since the last look at those that files hold."""
        self._left: list[bytes] = []
        """Hashes of texts that files hold and the team's store may lack."""
        self._sent: set[bytes] = set()
        self._had_unsaved = False
        self._borrowed: set[str] = set()
        """The models of which all that others have was taken."""
        self._borrow_again_at = 0.0
        self._looked_at = 0.0
        self._failed_at = -_RETRY_S
        self.problem = ""
        """The reason why the team's store cannot be used now; empty if it can, or if there is none."""

    def borrow(self, model_id: str, dimensions: int, keep: Keep) -> None:
        """Take over, once, the vectors that others have of waiting texts: those on this machine first, then the team's.

        `keep` stores them. Where a store cannot be asked, a later call asks all of them again.
        """
        if model_id in self._borrowed or time.monotonic() < self._borrow_again_at:
            return
        if self._project.index.checkout.embeddings.pending_count(model_id) < _MIN_BORROWED_TEXTS:
            return
        shared = self._store()
        lenders = [*self._project.vector_lenders(), *([shared] if shared else [])]
        failed = [lender for lender in lenders if not self._borrow_from(lender, model_id, dimensions, keep)]
        if failed or self.is_resting:
            self._borrow_again_at = time.monotonic() + _RETRY_S
        else:
            self._borrowed.add(model_id)

    def note_all_embedded(self, model_id: str) -> None:
        """Note that no text waits for a vector: others may have those of the next ones."""
        self._borrowed.discard(model_id)

    def _borrow_from(self, lender: VectorLender, model_id: str, dimensions: int, keep: Keep) -> bool:
        """Take what a lender has; whether it could be asked."""
        index, is_shared = self._project.index, lender is self._project.shared_vectors()
        is_searched_there = index.served is not None and lender is index.served.server
        # Neither an unsaved text nor its hash leaves this machine.
        wanted = index.checkout.embeddings.waiting_hashes(model_id, saved_only=is_shared)
        count = 0
        try:
            for at in range(0, len(wanted), _BORROWED_VECTORS):
                part = wanted[at : at + _BORROWED_VECTORS]
                if is_searched_there:
                    count += self._find_served(model_id, part)
                    continue
                found = lender.get(model_id, part)
                usable = {each: vector for each, vector in found.items() if dimensions in (0, len(vector))}
                if usable:
                    keep(model_id, list(usable), np.stack(list(usable.values())))
                count += len(usable)
                if not is_shared:
                    self.note_embedded()
        except StoreUnavailable as error:
            _log.info("%s", error)
            if is_shared:
                self._note(str(error))
            return not is_shared
        if count:
            _log.info("%d embeddings were taken from %s", count, lender.place)
        return True

    def note_embedded(self) -> None:
        """Note that texts were embedded here: the team's store may lack their vectors."""
        self._is_news |= self._project.shared_vectors() is not None

    def is_due(self, model_id: str) -> bool:
        """Whether vectors may wait to be sent, and the team's store can be asked now."""
        return self._has_some(model_id) and self._store() is not None

    def _find_served(self, model_id: str, text_hashes: Sequence[bytes]) -> int:
        """Note which of these texts have vectors on the server that searches them; returns how many.

        Raises `StoreUnavailable`.
        """
        served = self._project.index.served
        if served is None:
            return 0
        found = set(text_hashes) - served.server.missing(model_id, text_hashes)
        with self._project.index.checkout.together():
            served.known.add(model_id, found)
            if model_id == self._project.index.checkout.embeddings.active_model():
                self._project.index.checkout.embeddings.note_embedded(found)
        return len(found)

    def send(self, model_id: str, is_interrupted: Callable[[], bool] = lambda: False) -> None:
        """Send the team's store the vectors that it lacks. The first call for a model looks at all saved texts, later ones at new texts.

        `is_interrupted` is asked before each thousand; the next call sends the rest.
        """
        if not self._has_some(model_id) or (shared := self._store()) is None:
            return
        self._choose(model_id)
        count = 0
        try:
            while self._left and not is_interrupted():
                count += self._send(shared, model_id, self._left[:_TEXTS_AT_ONCE])
                del self._left[:_TEXTS_AT_ONCE]
        except (StoreUnavailable, ValueError) as error:
            self._note(str(error))
            return
        if count:
            _log.info("%d vectors were given to %s", count, shared.place)
        self.problem = ""

    def _choose(self, model_id: str) -> None:
        """Choose the texts whose vectors may be sent now, unless some are left from the call before."""
        if model_id != self._model:
            self._model, self._sent, self._left = model_id, set(), []
        if not self._left:
            checkout = self._project.index.checkout
            self._looked_at, self._is_news = time.monotonic(), False
            # Unsaved text does not leave the machine, not even as a vector; saving it makes no new one.
            self._had_unsaved = bool(checkout.unsaved_documents())
            saved = checkout.embeddings.saved_hashes()
            self._left = [text_hash for text_hash in saved if text_hash not in self._sent]

    def _has_some(self, model_id: str) -> bool:
        may_be_saved = self._had_unsaved and time.monotonic() - self._looked_at > _LOOK_AGAIN_S
        return model_id != self._model or bool(self._left) or self._is_news or may_be_saved

    @property
    def is_resting(self) -> bool:
        """Whether the team's store failed a moment ago, and is not asked again yet."""
        return bool(self.problem) and time.monotonic() - self._failed_at < _RETRY_S

    def _store(self) -> SharedVectors | None:
        """The team's store, unless it failed a moment ago."""
        return None if self.is_resting else self._project.shared_vectors()

    def _send(self, shared: SharedVectors, model_id: str, saved: Sequence[bytes]) -> int:
        index = self._project.index
        missing = shared.missing(model_id, saved)
        self._sent.update(saved)
        vectors = index.vectors.get(model_id, missing)
        if vectors:
            shared.put(model_id, list(vectors), np.stack(list(vectors.values())))
        if index.served is not None:
            # If this user has no right to write, the server still lacks all of them.
            lacking = shared.missing(model_id, list(vectors)) if vectors else set()
            index.served.known.add(model_id, set(saved) - missing | vectors.keys() - lacking)
            if lost := missing - vectors.keys():
                _log.warning("%s has lost %d vectors, which are made anew", shared.place, len(lost))
                index.served.known.remove(model_id, lost)
                self._sent -= lost
        return len(vectors)

    def _note(self, problem: str) -> None:
        if problem != self.problem:
            _log.warning("vectors are not shared: %s", problem)
        self.problem = problem
        self._failed_at = time.monotonic()
