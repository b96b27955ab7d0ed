"""The quick model for all tests of a run: loaded once, and each text is embedded once, by whichever process first has it."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.api import ModelCard
from rag_ls.embedding.local.catalog import LocatedModel
from rag_ls.embedding.local.stack import OnnxEmbedder


class RememberedModels:
    """Quick models with a folder of their vectors, which processes share. Loading one takes as long as a whole test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._models: dict[tuple[LocatedModel, int], RememberedVectors] = {}
        self._lock = threading.Lock()

    def load(self, model: LocatedModel, *, threads: int) -> RememberedVectors:
        """As `OnnxEmbedder`, which holds nothing of the engine that uses it."""
        with self._lock:
            if (model, threads) not in self._models:
                self._models[model, threads] = RememberedVectors(OnnxEmbedder(model, threads=threads), self._folder)
            return self._models[model, threads]


class RememberedVectors:
    """An `OnnxEmbedder` that embeds no text that it, or another process with the same folder, has embedded."""

    def __init__(self, model: OnnxEmbedder, folder: Path) -> None:
        self._model = model
        self._folder = folder

    @property
    def card(self) -> ModelCard:
        """That of the model."""
        return self._model.card

    def embed_documents(
        self, texts: Sequence[str], *, is_closed: Callable[[], bool] = lambda: False
    ) -> NDArray[np.float32]:
        """As `OnnxEmbedder`."""
        files = [self._file(text) for text in texts]
        missing = [at for at, file in enumerate(files) if not file.exists()]
        if missing or not files or is_closed():
            made = self._model.embed_documents([texts[at] for at in missing] or texts, is_closed=is_closed)
            for at, vector in zip(missing, made, strict=False):
                _write(files[at], vector)
        return np.stack([_read(file) for file in files]) if files else made

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """As `OnnxEmbedder`."""
        file = self._file(text)
        if not file.exists():
            _write(file, self._model.embed_query(text))
        return _read(file)

    def close(self) -> None:
        """Others use it."""

    def _file(self, text: str) -> Path:
        key = f"{self._model.card.id}\0{text}".encode("utf-8", "surrogatepass")
        return self._folder / hashlib.sha256(key).hexdigest()


def _read(file: Path) -> NDArray[np.float32]:
    return np.frombuffer(file.read_bytes(), np.float32).copy()


def _write(file: Path, vector: NDArray[np.float32]) -> None:
    # Renamed when it is whole: another process may read it, and this one may be killed.
    part = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}")
    part.write_bytes(vector.tobytes())
    part.replace(file)
