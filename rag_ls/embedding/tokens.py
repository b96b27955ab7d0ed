"""Where the tokens of the embedding model lie in a text."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def token_offsets(tokenizer_file: Path, text: str) -> NDArray[np.int64]:
    """The byte offset in UTF-8 at which each token of `text` starts, ascending."""
    encoding = _tokenizer(tokenizer_file).encode(text, add_special_tokens=False)
    characters = np.fromiter((start for start, _ in encoding.offsets), np.int64, len(encoding.offsets))
    if text.isascii():
        return characters
    widths = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (widths >= 0x80).astype(np.int64) + (widths >= 0x800) + (widths >= 0x10000)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return np.asarray(starts[characters], dtype=np.int64)


@lru_cache(maxsize=4)
def _tokenizer(file: Path) -> Any:
    # `tokenizers` alone loads in tens of milliseconds; it does not bring transformers or torch.
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
