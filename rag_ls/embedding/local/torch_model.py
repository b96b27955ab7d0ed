"""A model under sentence-transformers on torch. Importing it costs seconds: see `worker`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.api import normalise
from rag_ls.embedding.local.catalog import LocatedModel, card_of, check_weights
from rag_ls.embedding.local.packed import unpack_model


class TorchEmbedder:
    """Runs the model's safetensors weights in this process."""

    def __init__(self, model: LocatedModel, *, device: str, batch_size: int, threads: int) -> None:
        """Raises `ModelDamaged` when the weights are not the pinned ones."""
        import torch

        torch.set_num_threads(threads)
        chosen = _device(torch, device)
        self._model = loaded(model, chosen)
        if chosen == "cpu" and _has_fast_bfloat16(torch):
            self._model = self._model.bfloat16()
        self._batch_size = batch_size
        self.card = card_of(model)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # encode_document sorts by length, so a batch holds texts of similar size.
        vectors = self._model.encode_document(
            list(texts), batch_size=self._batch_size, normalize_embeddings=True, show_progress_bar=False
        )
        return normalise(np.asarray(vectors, dtype=np.float32).reshape(len(texts), -1))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector = self._model.encode_query(text, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(normalise(np.asarray(vector, dtype=np.float32).reshape(1, -1))[0])

    def close(self) -> None:
        """Do nothing: the model is freed with the object."""


def loaded(model: LocatedModel, device: str, *, attention: str = "sdpa") -> Any:
    """The model as sentence-transformers loads it. Raises `ModelDamaged` when the weights are not the pinned ones."""
    check_weights(model)
    from sentence_transformers import SentenceTransformer

    options = {"use_safetensors": True, "attn_implementation": attention}
    with unpack_model(model.folder) if model.is_packed else nullcontext(model.folder) as folder:
        return SentenceTransformer(str(folder), device=device, local_files_only=True, model_kwargs=options)


def _device(torch: Any, wanted: str) -> str:
    if wanted != "auto":
        return wanted
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _has_fast_bfloat16(torch: Any) -> bool:
    """Whether the CPU multiplies bfloat16 tiles; elsewhere bfloat16 is emulated, and slower than float32."""
    supported = getattr(torch.cpu, "_is_amx_tile_supported", None)
    return bool(supported and supported())
