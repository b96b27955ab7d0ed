"""Runs a model's int8 ONNX twin, which is small and loads in half a second, for single texts (queries, edits)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.api import ModelClosed, normalise
from rag_ls.embedding.local.catalog import LocatedModel, card_of, check_onnx, check_weights
from rag_ls.errors import ModelDamaged
from rag_ls.util.quiet_onnxruntime import import_onnxruntime

# Larger batches cost memory for activations, and gain nothing on a CPU.
_MAX_BATCH = 8


class OnnxEmbedder:
    """Runs `model.onnx_file` in this process, with mean pooling as the model's card says."""

    def __init__(self, model: LocatedModel, *, threads: int) -> None:
        """Raises `ModelDamaged` when a file is not the pinned one, or cannot be run."""
        check_onnx(model)
        if model.is_packed:
            # The graph reads them.
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
            # An onnxruntime without the graph's operators, whose errors have no common class.
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
        for at in range(0, len(order), _MAX_BATCH):
            if is_closed():
                raise ModelClosed(f"{self.card.id} was closed")
            parts.append(self._embed([texts[i] for i in order[at : at + _MAX_BATCH]]))
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
