"""Shares vectors of equal texts: with this user's other projects, and with a team's store if the settings name one."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence

import numpy as np

from rag_ls.errors import StoreUnavailable
from rag_ls.indexing.indexed_project import IndexedProject
from rag_ls.storage import SharedVectors, VectorLender

_log = logging.getLogger(__name__)

_TEXTS_AT_ONCE = 1000
# A store that failed is asked again after so long.
_RETRY_S = 30.0
_LOOK_AGAIN_S = 30.0
_MAX_UNSAVED = 5000


class VectorSharing:
    """Names those who may lend vectors, and gives the team's store what it lacks. Used by the embedding thread."""

    def __init__(self, project: IndexedProject) -> None:
        self._project = project
        self._model = ""
        self._new: set[bytes] = set()
        self._unsaved: set[bytes] = set()
        """Texts that were embedded, but that no file held when it was looked at last."""
        self._looked_at = 0.0
        self._failed_at = -_RETRY_S
        self.problem = ""
        """Why the team's store cannot be used now; empty if it can, or if there is none."""

    def lenders(self) -> Sequence[VectorLender]:
        """Whose vectors can be taken over: this machine's come first."""
        shared = self._store()
        return [*self._project.vector_lenders(), *([shared] if shared else [])]

    def is_shared(self, lender: VectorLender) -> bool:
        """Whether a lender is the team's store, on another machine."""
        return lender is self._project.shared_vectors()

    def failed(self, lender: VectorLender, error: StoreUnavailable) -> None:
        """Note that a lender could not be asked."""
        _log.info("%s", error)
        if self.is_shared(lender):
            self._note(str(error))

    def note_embedded(self, model_id: str, text_hashes: Collection[bytes]) -> None:
        """Note that texts have got vectors here, which the team may lack."""
        if model_id == self._model and self._project.shared_vectors() is not None:
            self._new.update(text_hashes)

    def is_due(self, model_id: str) -> bool:
        """Whether vectors are to be sent, and can be for all that is known."""
        return self._has_some(model_id) and self._store() is not None

    def send(self, model_id: str) -> None:
        """Give the team's store the vectors of saved texts that it lacks: all of them once, then those that are new."""
        if not self._has_some(model_id) or (shared := self._store()) is None:
            return
        is_first, new = model_id != self._model, [*self._new, *self._unsaved]
        # Unsaved text does not leave the machine, not even as a vector.
        saved = self._project.index.checkout.embeddings.saved_hashes(None if is_first else new)
        try:
            count = self._sent(shared, model_id, saved)
        except (StoreUnavailable, ValueError) as error:
            self._note(str(error))
            return
        if count:
            _log.info("%d vectors were given to %s", count, shared.place)
        self._model = model_id
        self._new.clear()
        self._unsaved = set(list(set(new) - set(saved))[-_MAX_UNSAVED:])
        self._looked_at = time.monotonic()
        self.problem = ""

    def _has_some(self, model_id: str) -> bool:
        if model_id != self._model or self._new:
            return True
        # What was unsaved may have been saved, which makes no vector.
        return bool(self._unsaved) and time.monotonic() - self._looked_at > _LOOK_AGAIN_S

    def _store(self) -> SharedVectors | None:
        """The team's store, unless it failed a moment ago."""
        is_resting = bool(self.problem) and time.monotonic() - self._failed_at < _RETRY_S
        return None if is_resting else self._project.shared_vectors()

    def _sent(self, shared: SharedVectors, model_id: str, saved: Sequence[bytes]) -> int:
        count = 0
        for start in range(0, len(saved), _TEXTS_AT_ONCE):
            missing = shared.missing(model_id, saved[start : start + _TEXTS_AT_ONCE])
            vectors = self._project.index.vectors.get(model_id, missing)
            if vectors:
                shared.put(model_id, list(vectors), np.stack(list(vectors.values())))
            count += len(vectors)
        return count

    def _note(self, problem: str) -> None:
        if problem != self.problem:
            _log.warning("vectors are not shared: %s", problem)
        self.problem = problem
        self._failed_at = time.monotonic()
