"""The main module of the reranker process: reads queries with texts, and writes scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.local.worker_main import require_torch, serve


def main() -> None:
    """Serve reranking requests on standard input until it ends."""
    serve(_load, _scores)


def _load(options: dict[str, Any]) -> Any:
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
