"""The provider of models on this machine: a quick ONNX model for single texts, a worker process for bulk."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray

from rag_ls.config import EmbeddingSettings
from rag_ls.embedding.api import BatchBudget, Embedder, LoadedModel, ModelCard, ModelClosed, normalise
from rag_ls.embedding.local.bulk_models import can_compile
from rag_ls.embedding.local.catalog import (
    KNOWN_MODELS,
    LocatedModel,
    card_of,
    card_of_id,
    check_onnx,
    check_weights,
    locate,
    locate_id,
)
from rag_ls.embedding.local.worker import EmbeddingWorkerFailed, WorkerEmbedder, torch_is_installed
from rag_ls.errors import ModelDamaged, ModelMissing
from rag_ls.util.installation import extra_command
from rag_ls.util.processes import import_onnxruntime

_log = logging.getLogger(__name__)

# The quick model embeds up to this many texts before a torch process would have started.
_MAX_QUICK_TEXTS = 96
MAX_THREADS = 8
_RETRY_WORKER_S = 60.0
_WORKER_QUERY_S = 20.0
# Larger batches of the quick model cost memory for activations, and gain nothing on a CPU.
_MAX_QUICK_BATCH = 8


class LocalProvider:
    """An `EmbeddingProvider`: ONNX in this process, OpenVINO or torch in a worker. Nothing leaves the machine."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        self._settings = settings

    def models(self) -> list[ModelCard]:
        found = []
        for known in KNOWN_MODELS:
            try:
                found.append(card_of(locate(known.name)))
            except ModelMissing:
                continue
        return found

    def find(self, name: str) -> ModelCard:
        return card_of(locate(name))

    def card(self, model_id: str) -> ModelCard:
        return card_of_id(model_id)

    def load(self, model_id: str) -> LoadedModel:
        return LocalModel(locate_id(model_id), self._settings)


class LocalModel:
    """A `LoadedModel` of this machine: an ONNX twin if there is one, and a worker process for bulk work."""

    sends_away = False
    # A generous limit: both truncate long texts themselves, and the worker makes its own batches.
    budget = BatchBudget(max_texts=4096, max_bytes=16_000_000)

    def __init__(self, model: LocatedModel, settings: EmbeddingSettings) -> None:
        threads = settings.threads or min(os.cpu_count() or 1, MAX_THREADS)
        wants_onnx = settings.backend in ("auto", "onnx") and model.onnx_file is not None
        # A packed model brings the graph that OpenVINO runs; others are exported with torch.
        has_bulk = torch_is_installed() or (model.is_packed and can_compile(settings.device))
        wants_worker = settings.backend in ("auto", "torch") and has_bulk
        if not (wants_onnx or wants_worker):
            raise ModelMissing(
                f"{model.name} cannot run with embedding.backend = {settings.backend!r} here; "
                f"`{extra_command('torch')}`, or set the backend to auto"
            )
        self.card = card_of(model)
        if not wants_onnx:
            # The worker checks this too, but by then no other model can be chosen.
            check_weights(model)
        self._closed = False
        self._bulk_turn = threading.Lock()
        self._no_bulk_until = 0.0
        # While a query is embedded, words are looked up: leave a core for that.
        self._quick = OnnxEmbedder(model, threads=max(1, threads - 1)) if wants_onnx else None
        self._bulk = (
            WorkerEmbedder(model, device=settings.device, batch_size=settings.batch_size, threads=threads)
            if wants_worker
            else None
        )

    @property
    def worker_process_id(self) -> int | None:
        """The process for bulk work, if one runs."""
        return self._bulk.process.process_id if self._bulk else None

    def embed_documents(self, texts: Sequence[str], *, backlog: int = 0) -> NDArray[np.float32]:
        few = len(texts) + backlog <= _MAX_QUICK_TEXTS
        wants_worker = self._quick is None or (not few and time.monotonic() >= self._no_bulk_until)
        if self._bulk is not None and wants_worker:
            try:
                return self._bulk.embed_documents(texts)
            except EmbeddingWorkerFailed as error:
                if self._quick is None or self._closed:
                    raise
                _log.warning("%s; going on with the slower ONNX model for a while", error)
                self._no_bulk_until = time.monotonic() + _RETRY_WORKER_S
        assert self._quick is not None
        # Bulk requests wait for each other here; single texts do not wait for them.
        with self._bulk_turn if backlog else nullcontext():
            return self._quick.embed_documents(texts, is_closed=lambda: self._closed)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        embedder: Embedder | None = self._quick or self._bulk
        assert embedder is not None
        return embedder.embed_query(text)

    @property
    def query_deadline_s(self) -> float | None:
        """See `LoadedModel`. Set without a quick model, because the worker may be loading or busy with a batch."""
        return _WORKER_QUERY_S if self._quick is None else None

    def warm_up(self) -> None:
        """See `LoadedModel`. Takes seconds for a model without an ONNX twin."""
        if self._quick is None:
            self.embed_query("warm up")

    def release(self) -> None:
        """See `LoadedModel`. Ends the process for bulk work to free its memory, unless it is at work for another caller."""
        if self._bulk is not None and self._quick is not None:
            self._bulk.process.stop_if_idle()

    def close(self) -> None:
        self._closed = True
        if self._bulk is not None:
            self._bulk.close()


class OnnxEmbedder:
    """Runs a model's int8 ONNX twin in this process, with mean pooling. It is small, and loads in half a second."""

    def __init__(self, model: LocatedModel, *, threads: int) -> None:
        """Raises `ModelDamaged` when a file is not the pinned one, or cannot be run."""
        check_onnx(model)
        if model.is_packed:
            # The graph refers to these files.
            check_weights(model)
        from tokenizers import Tokenizer

        onnxruntime = import_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Its threads spin while a text is embedded (a third faster), not afterwards.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        # The arena would never release the memory of the largest batch.
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                str(model.onnx_file), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            # The installed onnxruntime lacks the graph's operators; its errors have no common class.
            raise ModelDamaged(
                f"onnxruntime {onnxruntime.__version__} cannot run {model.onnx_file}: {error}"
            ) from error
        self._tokenizer = Tokenizer.from_file(str(model.tokenizer_file))
        self._tokenizer.enable_truncation(model.known.max_tokens)
        self._tokenizer.enable_padding()
        self._inputs = {each.name for each in self._session.get_inputs()}
        self.card = card_of(model)
        self._lock = threading.Lock()

    def embed_documents(
        self, texts: Sequence[str], *, is_closed: Callable[[], bool] = lambda: False
    ) -> NDArray[np.float32]:
        """As `Embedder`. Raises `ModelClosed` between two batches where `is_closed` says so."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        parts = []
        for at in range(0, len(order), _MAX_QUICK_BATCH):
            if is_closed():
                raise ModelClosed(f"{self.card.id} was closed")
            parts.append(self._embed([texts[i] for i in order[at : at + _MAX_QUICK_BATCH]]))
        if not parts:
            return np.empty((0, 0), np.float32)
        vectors = np.concatenate(parts)
        result = np.empty_like(vectors)
        result[order] = vectors
        return result

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.asarray(self._embed([text])[0], dtype=np.float32)

    def close(self) -> None:
        """Do nothing: the session is freed with the object."""

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._lock:
            encodings = self._tokenizer.encode_batch(list(texts))
        ids = np.array([encoding.ids for encoding in encodings], np.int64)
        mask = np.array([encoding.attention_mask for encoding in encodings], np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {name: inputs[name] for name in self._inputs})[0]
        weights = mask[..., None].astype(np.float32)
        return normalise((states * weights).sum(axis=1) / weights.sum(axis=1))
