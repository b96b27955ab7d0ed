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


class VectorSharing:
    """Names those who may lend vectors, and gives the team's store what it lacks. Used by the embedding thread."""

    def __init__(self, project: IndexedProject) -> None:
        self._project = project
        self._model = ""
        self._new: set[bytes] = set()
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
        """Note that texts were embedded here, so that the team may lack their vectors."""
        if model_id == self._model and self._project.shared_vectors() is not None:
            self._new.update(text_hashes)

    def is_due(self, model_id: str) -> bool:
        """Whether vectors are to be sent, and can be for all that is known."""
        return not self.problem and self._project.shared_vectors() is not None and self._has_some(model_id)

    def send(self, model_id: str) -> None:
        """Give the team's store the vectors of saved texts that it lacks: all of them once, then those that are new."""
        if not self._has_some(model_id) or (shared := self._store()) is None:
            return
        is_first, new = model_id != self._model, list(self._new)
        try:
            count = self._sent(shared, model_id, None if is_first else new)
        except (StoreUnavailable, ValueError) as error:
            self._note(str(error))
            return
        if count:
            _log.info("%d vectors were given to %s", count, shared.place)
        self._model = model_id
        self._new.difference_update(new)
        self.problem = ""

    def _has_some(self, model_id: str) -> bool:
        return model_id != self._model or bool(self._new)

    def _store(self) -> SharedVectors | None:
        """The team's store, unless it failed a moment ago."""
        is_resting = bool(self.problem) and time.monotonic() - self._failed_at < _RETRY_S
        return None if is_resting else self._project.shared_vectors()

    def _sent(self, shared: SharedVectors, model_id: str, among: Collection[bytes] | None) -> int:
        index = self._project.index
        # Unsaved text does not leave the machine, not even as a vector.
        wanted = index.checkout.embeddings.saved_hashes(among)
        count = 0
        for start in range(0, len(wanted), _TEXTS_AT_ONCE):
            missing = shared.missing(model_id, wanted[start : start + _TEXTS_AT_ONCE])
            vectors = index.vectors.get(model_id, missing)
            if vectors:
                shared.put(model_id, list(vectors), np.stack(list(vectors.values())))
            count += len(vectors)
        return count

    def _note(self, problem: str) -> None:
        if problem != self.problem:
            _log.warning("vectors are not shared: %s", problem)
        self.problem = problem
        self._failed_at = time.monotonic()
