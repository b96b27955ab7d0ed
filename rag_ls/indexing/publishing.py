"""Publishes the code that a checkout's index holds on a team's server, so that others can search it without a checkout."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Collection, Sequence

import numpy as np

from rag_ls.errors import InvalidRequest, StoreDamaged, StoreReadOnly, StoreUnavailable
from rag_ls.storage import (
    ChunkRow,
    DocumentRecord,
    ProjectIndex,
    Publication,
    PublishedFile,
    Publisher,
    StoredSymbol,
    Vector,
)
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of

_log = logging.getLogger(__name__)

# Each is one transaction, so that an interruption loses little.
_FILES_AT_ONCE = 50
_TEXTS_AT_ONCE = 1000
_MAX_SYMBOLS = 100_000
_CHANGED = "it was changed just now: publish again"

Report = Callable[[int, int], None]
"""Called with the number of files that are done, and of all."""


@dataclass(frozen=True, slots=True)
class Published:
    """The changes that a publication made on the server."""

    files: int
    """The files that are published now."""
    changed: int
    removed: int
    failed: dict[str, str]
    """The reason why files were not published, by path."""


class Publishing:
    """Publishes one checkout: what files hold, never unsaved text."""

    def __init__(self, index: ProjectIndex, publisher: Publisher) -> None:
        self._index = index
        self._publisher = publisher
        self._failed: dict[str, str] = {}

    def publish(
        self,
        publication: Publication,
        report: Report = lambda done, of: None,
        is_current: Callable[[], bool] = lambda: True,
    ) -> Published:
        """Make the server hold what the checkout's index holds, sending only what differs.

        `is_current` tells whether the publication's commit is still checked out. An interrupted publication goes on where
        it stopped. Raises `InvalidRequest` while the index is not complete or somebody else publishes, and if another
        commit comes meanwhile; `StoreUnavailable`.
        """
        model = self._index.checkout.embeddings.active_model()
        if self._index.checkout.queue_lengths() != (0, 0) or not model:
            raise InvalidRequest("the index is not complete, and nothing is published: run `rag-ls index` first")
        with self._publisher.alone():
            documents = self._index.checkout.documents()
            _check(is_current)
            there = self._publisher.digests()
            gone = there.keys() - documents.keys()
            self._publisher.remove(gone)
            changed = self._send(documents, there, model, report)
            _check(is_current)
            self._publisher.finish(replace(publication, model=model, is_changing=bool(self._failed)))
        self._maintain()
        return Published(len(documents) - len(self._failed), changed, len(gone), dict(self._failed))

    def _send(self, documents: dict[str, DocumentRecord], there: dict[str, str], model: str, report: Report) -> int:
        """Send the files that differ from those on the server; returns how many were published."""
        sent = 0
        ordered = sorted(documents.values(), key=lambda each: each.path)
        for at in range(0, len(ordered), _FILES_AT_ONCE):
            part = ordered[at : at + _FILES_AT_ONCE]
            files = self._files(part, model)
            failed = dict.fromkeys({each.path for each in part} - {file.path for file in files}, _CHANGED)
            if files := [file for file in files if there.get(file.path) != file.digest]:
                self._send_vectors(files, model)
                refused = self._publisher.put(files)
                sent += len(files) - len(refused)
                failed |= refused
            for path, reason in failed.items():
                _log.warning("%s is not published: %s", path, reason)
            self._failed |= failed
            report(at + len(part), len(ordered))
        return sent

    def _files(self, documents: Sequence[DocumentRecord], model: str) -> list[PublishedFile]:
        """Those of these files that are still as they were listed, with what is published of them."""
        symbols: dict[int, list[StoredSymbol]] = {document.id: [] for document in documents}
        for symbol in self._index.checkout.outlines.of_documents(list(symbols), _MAX_SYMBOLS):
            symbols[symbol.document_id].append(symbol)
        chunks = {document.id: self._index.checkout.chunks.of_document(document.id) for document in documents}
        without = self._index.vectors.missing(model, {row.text_hash for rows in chunks.values() for row in rows})
        return [
            _published_file(
                document,
                [replace(row, text_hash=b"") if row.text_hash in without else row for row in chunks[document.id]],
                symbols[document.id],
                model,
            )
            for document in documents
            if self._is_still(document)
        ]

    def _is_still(self, document: DocumentRecord) -> bool:
        """Whether a document is as it was listed."""
        now = self._index.checkout.document(document.path)
        return now is not None and (now.id, now.sha256) == (document.id, document.sha256)

    def _vectors(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """The vectors of texts that have some, wherever they are. Raises `StoreUnavailable`, `InvalidRequest`."""
        found = self._index.vectors_here.get(model, text_hashes)
        elsewhere = [each for each in text_hashes if each not in found]
        if elsewhere and (served := self._index.served) is not None:
            # Not asked as a question: questions soon go on without the server.
            found |= served.server.get(model, elsewhere)
            served.known.remove(model, [each for each in elsewhere if each not in found])
        if lost := len(text_hashes) - len(found):
            raise InvalidRequest(
                f"this index has lost {count_of(lost, 'vector')}: `rag-ls index` makes it whole again, then publish again"
            )
        return found

    def _maintain(self) -> None:
        """Make the index of the vectors. Only the owner of the tables may: for another user, the owner's next publication does it."""
        try:
            self._publisher.vectors.maintain()
        except StoreUnavailable as error:
            _log.warning(
                "all is published, but its vectors have no HNSW index yet, so that questions take longer: %s", error
            )

    def _send_vectors(self, files: Sequence[PublishedFile], model: str) -> None:
        hashes = list({row.text_hash for file in files for row in file.chunks if row.text_hash})
        for at in range(0, len(hashes), _TEXTS_AT_ONCE):
            missing = self._publisher.vectors.missing(model, hashes[at : at + _TEXTS_AT_ONCE])
            if not missing:
                continue
            vectors = self._vectors(model, missing)
            try:
                self._publisher.vectors.put(model, list(vectors), np.stack(list(vectors.values())))
            except ValueError as error:
                raise StoreDamaged(
                    "a vector of this index is damaged: delete .rag-ls/index.db, which is made anew, run `rag-ls index`, then publish",
                    "index",
                ) from error
            if self._publisher.vectors.missing(model, missing):
                raise StoreReadOnly(
                    f"{self._publisher.place} does not take vectors of this user: docs/team.md has the grants",
                    "published code",
                )


def _check(is_current: Callable[[], bool]) -> None:
    if not is_current():
        raise InvalidRequest(
            "another commit was checked out meanwhile, and what is published is of two: run `rag-ls index`, then publish again"
        )


def _published_file(
    document: DocumentRecord, chunks: Sequence[ChunkRow], symbols: Collection[StoredSymbol], model: str
) -> PublishedFile:
    # Another version of rag-ls may cut the same text differently.
    parts = [model, document.sha256, document.language, *(f"{row.stored.id} {row.text_hash.hex()}" for row in chunks)]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return PublishedFile(
        path=document.path,
        language=document.language,
        size=document.state.size,
        digest=digest,
        chunks=tuple(chunks),
        symbols=tuple(symbols),
    )
