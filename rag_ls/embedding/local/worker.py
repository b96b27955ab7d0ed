"""Runs models in child processes, and exchanges frames with them.

A child process keeps torch's half a gigabyte, its slow import and its hold on the interpreter lock out of the process
that answers the editor. It runs at low priority, and ends when its standard input ends.
"""

from __future__ import annotations

import importlib.util
import json
import os
import struct
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.local.catalog import LocatedModel, card_of
from rag_ls.errors import RagLsError
from rag_ls.util.guarded_process_main import read_frame, write_frame
from rag_ls.util.processes import command_of
from rag_ls.util.records import asdict

VECTORS = b"v"
ERROR = b"e"
_REQUEST = b"r"
_MODULE = "rag_ls.embedding.local.worker_main"


class EmbeddingWorkerFailed(RagLsError):
    """The worker process could not start, or ended."""


class ModelProcess:
    """A child process that runs a model, started at the first request; one request at a time."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """`options` are those of `worker_main`, with its number of `threads`."""
        self._options = options
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    @property
    def running(self) -> bool:
        """Whether the child is up (or starting)."""
        return self._process is not None and self._process.poll() is None

    @property
    def process_id(self) -> int | None:
        """The child's process id, for measuring it."""
        return self._process.pid if self._process else None

    def ask(self, request: Mapping[str, Any]) -> NDArray[np.float32]:
        """The matrix that the child answers with. Raises `EmbeddingWorkerFailed`."""
        with self._lock:
            if self._closed:
                raise EmbeddingWorkerFailed("the embedding worker was closed")
            process = self._process if self.running else self._start()
            assert process is not None
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                write_frame(process.stdin, _REQUEST, json.dumps(request).encode())
                kind, body = read_frame(process.stdout)
            except (OSError, EOFError, ValueError) as error:
                self.stop()
                raise EmbeddingWorkerFailed(
                    f"the embedding worker ended: {error}; see the log, or `rag-ls doctor`"
                ) from error
        if kind == ERROR:
            raise EmbeddingWorkerFailed(body.decode())
        rows, columns = struct.unpack_from("<II", body)
        return np.frombuffer(body, np.float32, offset=8).reshape(rows, columns)

    def stop_if_idle(self) -> None:
        """End the child, unless it is at work."""
        if self._lock.acquire(blocking=False):
            try:
                self.stop()
            finally:
                self._lock.release()

    def stop(self) -> None:
        """End the child, which frees its memory; the next request starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def close(self) -> None:
        """End the child for good."""
        self._closed = True
        self.stop()

    def _start(self) -> subprocess.Popen[bytes]:
        # If torch multiplies with OpenBLAS (ARM), this process's limit of one thread would hold for it, too.
        threads = {"OPENBLAS_NUM_THREADS": str(self._options["threads"])}
        self._process = subprocess.Popen(
            command_of(_MODULE, json.dumps(self._options, default=str)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                **threads,
                "TOKENIZERS_PARALLELISM": "false",
                "TQDM_DISABLE": "1",
            },
        )
        return self._process


class WorkerEmbedder:
    """An `Embedder` whose model lives in a child process, started at the first call."""

    def __init__(self, model: LocatedModel, *, device: str, batch_size: int, threads: int) -> None:
        self.card = card_of(model)
        options = {"model": asdict(model), "device": device, "batch_size": batch_size, "threads": threads}
        self.process = ModelProcess(options)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.process.ask({"documents": list(texts)}) if texts else np.empty((0, 0), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.asarray(self.process.ask({"query": text})[0], dtype=np.float32)

    def close(self) -> None:
        self.process.close()


class Reranker:
    """A cross-encoder in a child process. It reads each text together with the query, and scores the pair."""

    def __init__(self, folder: Path, *, device: str, threads: int) -> None:
        """`folder` holds a sentence-transformers `CrossEncoder` with safetensors weights."""
        options = {"folder": str(folder), "device": device, "threads": threads}
        self.process = ModelProcess(options)

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """0..1 for each text, shape (len(texts),). Raises `EmbeddingWorkerFailed`."""
        if not texts:
            return np.empty(0, np.float32)
        return self.process.ask({"query": query, "texts": list(texts)})[:, 0]

    def close(self) -> None:
        self.process.close()


def torch_is_installed() -> bool:
    """Whether the extra `torch` is there: torch and sentence-transformers."""
    return all(importlib.util.find_spec(name) is not None for name in ("torch", "sentence_transformers"))
