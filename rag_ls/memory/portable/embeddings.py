"""Encodes and decodes a memory's vectors in a record: a base64 text of little-endian float16 numbers for each part."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_ls.storage import Vectors

_HALF = np.dtype("<f2")
# Rounding to float16 moves the length of a unit vector by less than this.
_MAX_LENGTH_ERROR = 0.02


def encode(vectors: NDArray[np.float16]) -> list[str]:
    """Vectors of shape (parts, dimensions) as texts, one for each part."""
    return [base64.b64encode(part.astype(_HALF).tobytes()).decode() for part in vectors]


def decode(value: object, problems: list[str]) -> dict[str, Vectors]:
    """The vectors by model, each of shape (parts, dimensions). Adds errors to `problems`."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        problems.append("embeddings is not an object of lists by model")
        return {}
    vectors = {}
    for model, parts in value.items():
        try:
            vectors[model] = _vectors(model, parts)
        except ValueError as error:
            problems.append(f"the embeddings of {str(model)[:60]!r} {error}")
    return vectors


def _vectors(model: object, parts: object) -> Vectors:
    if not isinstance(model, str) or not model or not model.isprintable():
        raise ValueError("are under a name that is no model's")
    if not isinstance(parts, Sequence) or isinstance(parts, str) or not parts:
        raise ValueError("are not a list with a base64 text for each part")
    vectors = [_vector(part) for part in parts]
    if len({vector.size for vector in vectors}) > 1:
        raise ValueError("have different dimensions")
    stacked = np.stack(vectors)
    lengths = np.linalg.norm(stacked, axis=1)
    if not np.all(np.isfinite(lengths)):
        raise ValueError("are not finite")
    if np.any(np.abs(lengths - 1) > _MAX_LENGTH_ERROR):
        raise ValueError("are not of length one")
    return stacked


def _vector(part: object) -> NDArray[np.float32]:
    try:
        data = base64.b64decode(part, validate=True) if isinstance(part, str) else b""
    except (binascii.Error, ValueError):
        data = b""
    if not data or len(data) % _HALF.itemsize:
        raise ValueError("do not decode: each part is the base64 of little-endian float16 numbers")
    return np.frombuffer(data, _HALF).astype(np.float32)
