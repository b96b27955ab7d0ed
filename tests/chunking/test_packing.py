"""Words and numbers come out of their bytes as they went in."""

from __future__ import annotations

import numpy as np

from rag_ls.chunking.uses import pack, unpack


def test_words_and_columns_come_back() -> None:
    columns = [np.array([0, 255]), np.array([1, 256]), np.array([65_536, 2])]
    words, found = unpack(pack(["", "größe", "x"], columns))
    assert words == ["", "größe", "x"]
    assert [column.tolist() for column in found] == [[0, 255], [1, 256], [65_536, 2]]


def test_nothing_comes_back_as_nothing() -> None:
    assert unpack(pack([], [])) == ([], [])
