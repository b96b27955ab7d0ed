"""Matrix products in eight bits: nearly the same results, though some channels are far larger than the others."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from rag_ls.embedding.local.bulk_models import quantise

_CHANNELS = 32


@pytest.mark.skipif(importlib.util.find_spec("openvino") is None, reason="OpenVINO has no build for this machine")
def test_a_product_keeps_its_results_though_one_channel_is_a_hundred_times_the_others() -> None:
    import openvino
    from openvino import opset13 as operations

    chance = np.random.default_rng(1)
    weights = chance.normal(size=(16, _CHANNELS)).astype(np.float32)
    texts = chance.normal(size=(2, 5, _CHANNELS)).astype(np.float32)
    texts[..., 3] *= 100
    given = operations.parameter([-1, -1, _CHANNELS], np.float32)
    product = operations.matmul(given, operations.constant(weights), False, True)
    model = openvino.Model([product], [given])
    core = openvino.Core()
    exact = core.compile_model(model, "CPU")([texts])[0]
    calibration = {given.get_friendly_name(): np.abs(texts).max(axis=(0, 1))}
    eight_bits = core.compile_model(quantise(model, calibration), "CPU")([texts])[0]
    assert np.abs(eight_bits - exact).mean() < 0.02 * np.abs(exact).mean()
    assert not np.array_equal(eight_bits, exact)
