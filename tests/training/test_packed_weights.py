"""Weights in eight bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.embedding.local.catalog import unpack
from training.graph import BLOCK_COLUMNS
from training.pack import pack


@given(st.integers(1, 5), st.integers(1, 3), st.floats(1e-6, 1e6), st.integers(0, 2**32 - 1))
def test_a_weight_is_kept_within_half_a_step_of_its_block(rows: int, blocks: int, size: float, seed: int) -> None:
    values = (size * np.random.default_rng(seed).standard_normal((rows, blocks * BLOCK_COLUMNS))).astype(np.float32)
    stored = pack({"matrix": values})
    found = unpack(stored)["matrix"]
    steps = np.repeat(stored["matrix.scale"], BLOCK_COLUMNS, axis=1)
    assert (stored["matrix"].dtype, stored["matrix"].shape) == (np.uint8, values.shape)
    assert (np.abs(found - values) <= 0.501 * steps).all()


def test_zeros_stay_zeros() -> None:
    assert not unpack(pack({"matrix": np.zeros((2, BLOCK_COLUMNS), np.float32)}))["matrix"].any()


def test_what_does_not_fill_blocks_is_kept_as_it_is() -> None:
    weights = {"bias": np.arange(3, dtype=np.float32), "narrow": np.eye(5, dtype=np.float32)}
    assert set(pack(weights)) == {"bias", "narrow"}
    for name, values in unpack(pack(weights)).items():
        assert np.array_equal(values, weights[name])
