"""Quantises the matrix products of an OpenVINO model to eight bits: about twice as fast on processors that multiply bytes.

Each product's weights are scaled by row, its inputs by one range, measured on sample texts when the model is packed.
A few channels of the inputs are many times as large as all others and would take the range: they are divided by a factor
first, and their weights multiplied by it, as in "SmoothQuant" (Xiao et al., 2023), but for these channels alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Channels above this share of all channels are divided. Measured on MiniLM: docs/performance.md.
_ORDINARY_SHARE = 0.9
_LEVELS_OF_INPUTS, _LEVELS_OF_WEIGHTS = 256, 255
_MIN_SCALE = 1e-8

Calibration = Mapping[str, NDArray[np.float32]]
"""The largest value of each channel that matrix products get, by the name of the node that it comes from."""


def quantise(model: Any, calibration: Calibration) -> Any:
    """A copy of a model whose matrix products with constants are quantised to eight bits.

    Raises `KeyError` if the calibration is of another model.
    """
    copy = model.clone()
    for source, products in products_of(copy).items():
        _quantise(products, calibration[source])
    copy.validate_nodes_and_infer_types()
    return copy


def read_calibration(file: Path) -> Calibration:
    """The calibration that `training/calibrate.py` wrote into a file."""
    with np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def products_of(model: Any) -> dict[str, list[Any]]:
    """The products with constants, by the name of the node whose output they multiply."""
    found = defaultdict(list)
    for node in model.get_ordered_ops():
        if node.get_type_name() == "MatMul" and node.input_value(1).get_node().get_type_name() == "Constant":
            found[node.input_value(0).get_node().get_friendly_name()].append(node)
    return found


def _quantise(products: Sequence[Any], largest: NDArray[np.float32]) -> None:
    from openvino import opset13 as operations

    divisors = np.maximum(1.0, largest / np.quantile(largest, _ORDINARY_SHARE)).astype(np.float32)
    high = np.float32((largest / divisors).max())
    low = -high * np.float32(128 / 127)
    source = operations.multiply(products[0].input_value(0), operations.constant((1 / divisors).reshape(1, 1, -1)))
    range_ = [operations.constant(bound) for bound in (low, high, low, high)]
    inputs = operations.fake_quantize(source, *range_, _LEVELS_OF_INPUTS)
    for product in products:
        weights = _weights(product) * divisors
        rows = np.maximum(np.abs(weights).max(1, keepdims=True), _MIN_SCALE)
        bounds = [operations.constant(bound) for bound in (-rows, rows, -rows, rows)]
        by_row = operations.fake_quantize(operations.constant(weights), *bounds, _LEVELS_OF_WEIGHTS)
        product.output(0).replace(operations.matmul(inputs, by_row, False, True).output(0))


def _weights(product: Any) -> NDArray[np.float32]:
    """The constant of a product: shape (outputs, inputs)."""
    weights = product.input_value(1).get_node().get_data().astype(np.float32)
    return np.ascontiguousarray(weights if product.get_attributes()["transpose_b"] else weights.T)
