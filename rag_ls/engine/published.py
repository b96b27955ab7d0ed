"""Searches the code that a team published on a server, of projects that nobody has checked out here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from typing import TypeVar

from rag_ls.config import SearchSettings, StoreSettings
from rag_ls.embedding import HostedModel, ModelHost
from rag_ls.engine.code.hits import Reranking, find_hits, take_hits
from rag_ls.engine.requests import SearchRequest, read_k
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.model import Freshness, SearchAnswer, SearchStats
from rag_ls.search import BY_PATH, Filters, Searcher, View, explain_filters
from rag_ls.storage import (
    DISK,
    DocumentRecord,
    Publication,
    PublishedIndex,
    PublishedServer,
    SearchedDocuments,
    ServerQuestions,
    ask_server,
    open_published_server,
)
from rag_ls.util.threads import Counts

T = TypeVar("T")

_STORE = "published code"
# A question waits at most this long for an answer of the server, or for the list of its publications.
_QUESTION_S, _NAMES_S = 10.0, 8.0
_COMMIT_CHARACTERS = 10
# A note quotes at most this much of a text that others wrote on the server.
_MAX_NOTE_CHARACTERS = 80


class PublishedProjects:
    """The projects that are published on the server of the settings. Safe from several threads."""

    def __init__(self, settings: StoreSettings, models: ModelHost, counts: Counts) -> None:
        self._settings = settings
        self._models = models
        self._counts = counts
        self._lock = threading.Lock()
        self._server: PublishedServer | None = None
        self._questions: ServerQuestions | None = None
        self._open: dict[str, PublishedCode] = {}

    def names(self) -> list[str]:
        """Their names, in order; none without a server. Raises `StoreUnavailable`, at once if it failed a moment ago."""
        server = self._find_server()
        if server is None or self._questions is None:
            return []
        return self._questions.ask(server.names)

    def find_called(self, name: str) -> PublishedCode | None:
        """The one with this name, or whose name ends in it after a `/`.

        None if there is none, or no server. Raises `InvalidRequest` if it may be several, and `StoreUnavailable`.
        """
        names = self.names()
        meant = [name] if name in names else [each for each in names if each.endswith(f"/{name}")]
        if len(meant) > 1:
            raise InvalidRequest(f"{name!r} may be several published projects: name one of {', '.join(meant)}")
        server = self._find_server()
        if not meant or server is None:
            return None
        with self._lock:
            for gone in self._open.keys() - set(names):
                del self._open[gone]
            if meant[0] not in self._open:
                self._open[meant[0]] = PublishedCode(server.open(meant[0]), server.place, self._models, self._counts)
            return self._open[meant[0]]

    def close(self) -> None:
        with self._lock:
            server, self._server = self._server, None
            self._open.clear()
        if server is not None:
            server.close()

    def _find_server(self) -> PublishedServer | None:
        with self._lock:
            if self._server is None and (server := open_published_server(self._settings)) is not None:
                self._server, self._questions = server, ServerQuestions(server.place, _STORE, _NAMES_S)
            return self._server


class PublishedCode:
    """The published code of one project, searched on the server with the ranking of every search.

    Safe from several threads.
    """

    def __init__(self, index: PublishedIndex, place: str, models: ModelHost, counts: Counts) -> None:
        self.name = index.project
        self._index = index
        self._place = place
        self._models = models
        self._searcher = Searcher(index, _NoFiles(), counts)
        self._reranking = Reranking(models.reranker)

    def search(
        self, request: SearchRequest, settings: SearchSettings, *, wait_for_model_s: float = 0.0
    ) -> SearchAnswer:
        """The chunks that answer a question best. Raises `InvalidRequest`, `NotFound`, `StoreUnavailable`."""
        return ask_server(
            lambda: self._search_now(request, settings, wait_for_model_s),
            self._place, _STORE, _QUESTION_S + wait_for_model_s,
        )  # fmt: skip

    def look(self, filters: Filters, work: Callable[[SearchedDocuments, View], T]) -> T:
        """The result of `work` on the published files and the view of them. Raises `NotFound`, `StoreUnavailable`, and its errors."""

        def ask() -> T:
            self._check_published()
            return work(self._index.checkout, self._searcher.view(DISK, filters))

        return ask_server(ask, self._place, _STORE, _QUESTION_S)

    def _search_now(self, request: SearchRequest, settings: SearchSettings, wait_s: float) -> SearchAnswer:
        started = time.perf_counter()
        k = read_k(request.k, settings.code_k)
        publication = self._check_published()
        model = self._find_model(publication, wait_s)
        found, reranked = find_hits(request, k, self._searcher, settings, model, self._index.checkout, self._reranking)
        notes = [_describe_publication(self.name, publication)]
        if found.is_filtered_out:
            paths = {row[1] for row in self._index.checkout.document_paths()}
            notes += explain_filters(request.filters, paths, "published file")
        elif not found.dense:
            notes.append(self._why_words(publication, model))
        notes.append(reranked)
        stats = SearchStats(
            took_ms=round((time.perf_counter() - started) * 1000, 1), dense=found.dense, candidates=found.candidates,
            complete=True, notes=tuple(filter(None, notes)), closeness=found.closeness,
        )  # fmt: skip
        return SearchAnswer(request.query, take_hits(request, found.hits, k), stats)

    def _check_published(self) -> Publication:
        """The publication. Raises `NotFound` if there is none now."""
        publication = self._index.publication()
        if publication is None:
            raise NotFound(
                f"nothing is published of {self.name} now: `rag-ls store publish` in a checkout publishes it, and goes on "
                "where it was interrupted"
            )
        return publication

    def _find_model(self, publication: Publication, wait_s: float) -> HostedModel | None:
        """The model whose vectors were published, if it is ready: an older rag-ls may have made them."""
        if not self._models.can_have(publication.model):
            return None
        return self._models.wait(publication.model, wait_s) if wait_s else self._models.get(publication.model)

    def _why_words(self, publication: Publication, model: HostedModel | None) -> str:
        if self._models.is_off:
            return ""
        if not self._models.can_have(publication.model):
            configured = self._models.configured_id
            here = f"the model here is {configured}" if configured else "there is no model here"
            return f"matches by words alone: its vectors are of {_shorten_text(publication.model)}, {here}"
        if model:
            return "matches by words alone"
        return f"matches by words alone: {self._models.state(publication.model).error or 'the embedding model is not ready'}"


class _NoFiles:
    """See `Corpus`: published code has no files here."""

    roles = BY_PATH

    def is_live(self, session: str) -> bool:
        return False

    def freshness(self, document: DocumentRecord) -> Freshness | None:
        return Freshness.PUBLISHED

    def note_unembedded(self, documents: Collection[int]) -> None:
        """Nothing is embedded here."""


def _describe_publication(name: str, publication: Publication) -> str:
    commit = _shorten_text(publication.commit)[:_COMMIT_CHARACTERS] + " with changes" * publication.commit.endswith("+")
    place = " at ".join(filter(None, (_shorten_text(publication.branch), commit)))
    changing = ", some files otherwise, since a publication is under way or could not send them"
    return (
        f"{name} as published {_shorten_text(publication.at)}{f' from {place}' if place else ''}"
        f"{changing * publication.is_changing}; it is not checked out here"
    )


def _shorten_text(text: str) -> str:
    """A text of the server in one line."""
    return " ".join(text.split())[:_MAX_NOTE_CHARACTERS]
