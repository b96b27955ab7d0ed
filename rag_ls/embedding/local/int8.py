"""Quantises the matrix products of an OpenVINO model to eight bits: about twice as fast on processors that multiply bytes.

Each product's weights are scaled by row, its inputs by one range, measured on sample texts. A few channels of the inputs
are many times as large as all others and would take the range: they are divided by a factor first, and their weights
multiplied by it, as in "SmoothQuant" (Xiao et al., 2023), but for these channels alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Channels above this share of all channels are divided. Measured on MiniLM: docs/performance.md.
_ORDINARY = 0.9
_LEVELS_OF_INPUTS, _LEVELS_OF_WEIGHTS = 256, 255
_LEAST = 1e-8

Samples = Sequence[Sequence[NDArray[np.int64]]]
"""Inputs of the model: token ids and mask, each of shape (texts, tokens)."""


def quantised(openvino: Any, model: Any, samples: Samples) -> Any:
    """A copy of a model whose matrix products with constants are quantised to eight bits."""
    largest = _largest(openvino, model.clone(), samples)
    copy = model.clone()
    for source, products in _products(copy).items():
        _quantise(products, largest[source])
    copy.validate_nodes_and_infer_types()
    return copy


def _products(model: Any) -> dict[str, list[Any]]:
    """The products with constants, by the name of the node whose output they multiply."""
    found = defaultdict(list)
    for node in model.get_ordered_ops():
        if node.get_type_name() == "MatMul" and node.input_value(1).get_node().get_type_name() in (
            "Constant",
            "Convert",
        ):
            found[node.input_value(0).get_node().get_friendly_name()].append(node)
    return found


def _largest(openvino: Any, model: Any, samples: Samples) -> dict[str, NDArray[np.float32]]:
    """The largest value of each channel that the products get for the samples."""
    sources = {name: products[0].input_value(0) for name, products in _products(model).items()}
    own = len(model.outputs)
    model.add_outputs(list(sources.values()))
    compiled = openvino.Core().compile_model(model, "CPU")
    largest: dict[str, NDArray[np.float32]] = {}
    for sample in samples:
        answer = compiled(list(sample))
        for name, output in zip(sources, compiled.outputs[own:], strict=True):
            values = np.abs(answer[output]).reshape(-1, answer[output].shape[-1]).max(0)
            largest[name] = np.maximum(largest.get(name, _LEAST), values).astype(np.float32)
    return largest


def _quantise(products: Sequence[Any], largest: NDArray[np.float32]) -> None:
    from openvino import opset13 as operations

    divisors = np.maximum(1.0, largest / np.quantile(largest, _ORDINARY)).astype(np.float32)
    high = np.float32((largest / divisors).max())
    low = -high * np.float32(128 / 127)
    source = operations.multiply(products[0].input_value(0), operations.constant((1 / divisors).reshape(1, 1, -1)))
    range_ = [operations.constant(bound) for bound in (low, high, low, high)]
    inputs = operations.fake_quantize(source, *range_, _LEVELS_OF_INPUTS)
    for product in products:
        weights = _weights(product) * divisors
        rows = np.maximum(np.abs(weights).max(1, keepdims=True), _LEAST)
        bounds = [operations.constant(bound) for bound in (-rows, rows, -rows, rows)]
        by_row = operations.fake_quantize(operations.constant(weights), *bounds, _LEVELS_OF_WEIGHTS)
        product.output(0).replace(operations.matmul(inputs, by_row, False, True).output(0))


def _weights(product: Any) -> NDArray[np.float32]:
    """The constant of a product: shape (outputs, inputs)."""
    node = product.input_value(1).get_node()
    if node.get_type_name() == "Convert":
        node = node.input_value(0).get_node()
    weights = node.get_data().astype(np.float32)
    return np.ascontiguousarray(weights if product.get_attributes()["transpose_b"] else weights.T)
