"""The main module of the processes that embed and rerank: reads requests and writes vectors or scores, as frames."""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.local.catalog import LocatedModel
from rag_ls.embedding.local.worker import ERROR, VECTORS, torch_is_installed
from rag_ls.errors import ModelDamaged, ModelMissing
from rag_ls.util.guarded_process_main import read_frame, write_frame
from rag_ls.util.installation import extra_command

_LOW_PRIORITY = 10
_MAX_REASON_CHARACTERS = 300


def main() -> None:
    """Answer each request on standard input with the model's matrix, until it ends. The first request loads the model."""
    options = json.loads(sys.argv[1])
    load, answer = (_load_reranker, _scores) if "folder" in options else (_load_embedder, _vectors)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = _claim_standard_streams()
    if hasattr(os, "nice"):
        os.nice(_LOW_PRIORITY)
    model: Any = None
    while True:
        try:
            _, body = read_frame(requests)
        except EOFError:
            return
        try:
            model = model or load(options)
            matrix = answer(model, json.loads(body))
            write_frame(answers, VECTORS, struct.pack("<II", *matrix.shape) + matrix.tobytes())
        except BrokenPipeError:
            return
        except Exception as error:
            write_frame(answers, ERROR, f"{type(error).__name__}: {error}".encode())


def _vectors(embedder: Any, request: dict[str, Any]) -> NDArray[np.float32]:
    documents = request.get("documents")
    vectors = (
        embedder.embed_documents(documents) if documents is not None else embedder.embed_query(request["query"])[None]
    )
    return np.asarray(vectors, np.float32)


def _claim_standard_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Reserve the pipes for frames; output that libraries print goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sys.stdin.buffer, answers


def _load_embedder(options: dict[str, Any]) -> Any:
    from rag_ls.embedding.local.bulk_models import OpenVinoEmbedder, can_compile

    model = LocatedModel.of_fields(options.pop("model"))
    if model.is_packed and can_compile(options["device"]):
        try:
            return OpenVinoEmbedder(model, threads=options["threads"])
        except ModelDamaged:
            raise
        except Exception as error:
            # OpenVINO does not support this CPU or model; torch does.
            print(
                f"OpenVINO cannot run {model.name}, torch does: {str(error)[:_MAX_REASON_CHARACTERS]}", file=sys.stderr
            )
    require_torch(model.name)
    from rag_ls.embedding.local.bulk_models import TorchEmbedder

    return TorchEmbedder(model, **options)


def require_torch(model: str) -> None:
    """Raise `ModelMissing`, which says how to get it, if torch or sentence-transformers is not installed."""
    if not torch_is_installed():
        raise ModelMissing(f"{model} needs torch here: `{extra_command('torch')}`")


def _load_reranker(options: dict[str, Any]) -> Any:
    require_torch("search.reranker_model")
    import torch
    from sentence_transformers import CrossEncoder

    torch.set_num_threads(options["threads"])
    device = None if options["device"] == "auto" else options["device"]
    return CrossEncoder(
        options["folder"],
        device=device,
        local_files_only=True,
        model_kwargs={"use_safetensors": True},
        activation_fn=torch.nn.Sigmoid(),
    )


def _scores(model: Any, request: dict[str, Any]) -> NDArray[np.float32]:
    pairs = [(request["query"], text) for text in request["texts"]]
    return np.asarray(model.predict(pairs, show_progress_bar=False), np.float32).reshape(-1, 1)


if __name__ == "__main__":
    main()
