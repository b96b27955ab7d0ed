"""Embeds questions."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding import HostedModel
from rag_ls.errors import RagLsError

_log = logging.getLogger(__name__)


def embed_text(
    model: HostedModel | None,
    text: str,
    embed: Callable[[HostedModel, str], NDArray[np.float32]] = HostedModel.embed_query,
) -> NDArray[np.float32] | None:
    """The text's vector; None without a model, without text, or if embedding fails."""
    if model is None or not text.strip():
        return None
    try:
        return embed(model, text)
    except RagLsError as error:
        _log.warning("%s", error)
        return None


def begin_embedding(model: HostedModel | None, text: str) -> Callable[[], NDArray[np.float32] | None] | None:
    """As `embed_text`, but in the background: the function that it gives waits for the vector."""
    if model is None or not text.strip():
        return None
    wait = model.begin_query(text)
    return lambda: embed_text(model, text, lambda *_: wait())
