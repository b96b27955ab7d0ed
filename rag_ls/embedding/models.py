"""The models of an engine: loaded in the background, quick ones for single texts, torch for bulk."""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls.config import EmbeddingSettings
from rag_ls.embedding.api import Embedder
from rag_ls.embedding.local.catalog import LocatedModel, locate, locate_id
from rag_ls.embedding.local.onnx import OnnxEmbedder
from rag_ls.embedding.local.worker import EmbeddingWorkerFailed, Reranker, WorkerEmbedder
from rag_ls.errors import ModelMissing, RagLsError

_log = logging.getLogger(__name__)

# Up to so many texts the quick model is done before a torch process would be up.
_FEW_TEXTS = 96
_MOST_THREADS = 8
_LOAD_S = 30.0
# A model always makes the same vector of a text: these never go stale.
_KEPT_QUERIES = 512
_RETRY_WORKER_S = 60.0
# A model that could not be loaded may be installed, or mended, meanwhile.
_RETRY_LOADING_S = 30.0


@dataclass(frozen=True, slots=True)
class ModelState:
    """How a model stands, for `status`."""

    model: str
    ready: bool
    error: str = ""


class HostedModel:
    """One model: an ONNX twin where there is one, and a torch worker process for bulk work.

    Satisfies `Embedder`; `backlog` tells `embed_documents` how many texts are still to come.
    """

    def __init__(self, model: LocatedModel, settings: EmbeddingSettings) -> None:
        threads = settings.threads or min(os.cpu_count() or 1, _MOST_THREADS)
        wants_onnx = settings.backend in ("auto", "onnx") and model.onnx_file is not None
        wants_torch = settings.backend in ("auto", "torch") and _torch_is_installed()
        if not (wants_onnx or wants_torch):
            raise ModelMissing(
                f"{model.name} cannot run with embedding.backend = {settings.backend!r} here; "
                "install sentence-transformers and torch, or set the backend to auto"
            )
        self._model_id = model.id
        self._closed = False
        self._lock = threading.Lock()
        self._holders: set[int] = set()
        self._no_bulk_until = 0.0
        self._queries: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._quick = OnnxEmbedder(model, threads=threads) if wants_onnx else None
        self._bulk = (
            WorkerEmbedder(model, device=settings.device, batch_size=settings.batch_size, threads=threads)
            if wants_torch
            else None
        )

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def worker_process_id(self) -> int | None:
        """The torch process, where one runs."""
        return self._bulk.process.process_id if self._bulk else None

    def embed_documents(self, texts: Sequence[str], *, backlog: int = 0) -> NDArray[np.float32]:
        few = len(texts) + backlog <= _FEW_TEXTS
        with self._lock:
            # Whoever has more to come holds the torch process.
            (self._holders.add if backlog else self._holders.discard)(threading.get_ident())
        try:
            return self._embedder(quick=few).embed_documents(texts)
        except EmbeddingWorkerFailed as error:
            if self._quick is None or self._closed:
                raise
            _log.warning("%s; going on with the slower ONNX model for a while", error)
            self._no_bulk_until = time.monotonic() + _RETRY_WORKER_S
            return self._quick.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        with self._lock:
            if (known := self._queries.get(text)) is not None:
                self._queries.move_to_end(text)
                return known
        vector = self._embedder(quick=True).embed_query(text)
        vector.setflags(write=False)
        with self._lock:
            self._queries[text] = vector
            while len(self._queries) > _KEPT_QUERIES:
                self._queries.popitem(last=False)
        return vector

    def warm_up(self) -> None:
        """Make sure that the next query is answered at once. Takes seconds for a model without an ONNX twin."""
        if self._quick is None:
            self.embed_query("warm up")

    def rest(self) -> None:
        """The calling thread has nothing more to embed for now: give the torch process's memory back, unless it is needed."""
        with self._lock:
            self._holders.discard(threading.get_ident())
            is_needed = bool(self._holders)
        if self._bulk is not None and self._quick is not None and not is_needed:
            self._bulk.process.stop_if_idle()

    def close(self) -> None:
        self._closed = True
        if self._bulk is not None:
            self._bulk.close()

    def _embedder(self, *, quick: bool) -> Embedder:
        may_bulk = self._quick is None or time.monotonic() >= self._no_bulk_until
        chosen = (self._quick or self._bulk) if quick or not may_bulk else (self._bulk or self._quick)
        assert chosen is not None
        return chosen


class ModelHost:
    """Loads models by id in background threads, and gives them out once they are ready."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._configured: LocatedModel | None = None
        self._models: dict[str, HostedModel] = {}
        self._errors: dict[str, tuple[float, str]] = {}
        self._loading: dict[str, threading.Thread] = {}
        self._reranker: Reranker | None = None
        self._closed = False

    def configured(self) -> LocatedModel:
        """The model that the settings ask for. Raises `ModelMissing`; it may be installed later."""
        if self._configured is None:
            self._configured = locate(self._settings.model)
        return self._configured

    def get(self, model_id: str) -> HostedModel | None:
        """The model if it is ready, else None; the first call starts loading it."""
        with self._lock:
            if model_id in self._models or model_id in self._loading or self._closed:
                return self._models.get(model_id)
            if self._recent_error(model_id):
                return None
            thread = threading.Thread(target=self._load, args=(model_id,), name=f"load {model_id}", daemon=True)
            self._loading[model_id] = thread
            thread.start()
        return None

    def wait(self, model_id: str, timeout_s: float | None = None) -> HostedModel | None:
        """The model, waiting until it is loaded or has failed."""
        if (model := self.get(model_id)) is None:
            with self._lock:
                thread = self._loading.get(model_id)
            if thread is not None:
                thread.join(timeout_s)
            model = self.get(model_id)
        return model

    def state(self, model_id: str) -> ModelState:
        """Whether a model is ready, and if not why."""
        with self._lock:
            return ModelState(model_id, model_id in self._models, self._recent_error(model_id))

    def reranker(self) -> Reranker:
        """The cross-encoder of the settings. Raises `ModelMissing` where none is set, or it is not there."""
        folder = Path(self._settings.reranker).expanduser()
        if not self._settings.reranker or not folder.is_dir():
            named = f"{self._settings.reranker} is no folder" if self._settings.reranker else "none is set"
            raise ModelMissing(f"reranking needs the folder of a cross-encoder in embedding.reranker: {named}")
        with self._lock:
            if self._reranker is None:
                threads = self._settings.threads or min(os.cpu_count() or 1, _MOST_THREADS)
                self._reranker = Reranker(folder, device=self._settings.device, threads=threads)
            return self._reranker

    def loaded(self) -> list[HostedModel]:
        """The models that are ready."""
        with self._lock:
            return list(self._models.values())

    def close(self) -> None:
        """Stop all models."""
        with self._lock:
            self._closed = True
            models = list(self._models.values())
            self._models.clear()
            loading = list(self._loading.values())
        # A thread inside onnxruntime when the interpreter ends aborts the process.
        for thread in loading:
            thread.join(_LOAD_S)
        for model in models:
            model.close()
        if self._reranker is not None:
            self._reranker.close()

    def _recent_error(self, model_id: str) -> str:
        """Why a model could not be loaded, until it is time to try again; empty otherwise. Call it under the lock."""
        failed_at, error = self._errors.get(model_id, (0.0, ""))
        return error if time.monotonic() - failed_at < _RETRY_LOADING_S else ""

    def _check_dimension(self, model: HostedModel) -> None:
        wanted = self._settings.dimension
        if wanted and (found := len(model.embed_query("dimension"))) != wanted:
            raise ModelMissing(
                f"{model.model_id} makes vectors of {found} dimensions, embedding.dimension asks for {wanted}: "
                "set it to 0, or choose another model"
            )

    def _load(self, model_id: str) -> None:
        try:
            model = HostedModel(locate_id(model_id), self._settings)
            model.warm_up()
            self._check_dimension(model)
        except RagLsError as error:
            _log.warning("%s", error)
            failure = str(error)
        except Exception as error:
            _log.exception("loading %s failed", model_id)
            failure = f"{type(error).__name__}: {error}"
        else:
            with self._lock:
                self._loading.pop(model_id, None)
                if not self._closed:
                    self._models[model_id] = model
                self._errors.pop(model_id, None)
            return
        with self._lock:
            self._loading.pop(model_id, None)
            self._errors[model_id] = (time.monotonic(), failure)


def _torch_is_installed() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("torch", "sentence_transformers"))
