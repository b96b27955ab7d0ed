"""Reads the ONNX graph of a packed model for OpenVINO, which needs no torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

# What stands between packed weights and their product.
_UNPACKS = frozenset(("Convert", "ConvertLike", "Multiply", "Reshape", "Subtract", "Transpose"))


def from_graph(openvino: Any, file: Path) -> Any:
    """The model of an ONNX file with inputs (ids, mask), its weights unpacked and its states averaged over the mask."""
    model = openvino.Core().read_model(file)
    for node in model.get_ordered_ops():
        if node.get_type_name() == "MatMul" and _is_constant(node.input_value(1).get_node()):
            _unpack(openvino, node)
    return _pooled(openvino, model)


def _is_constant(node: Any) -> bool:
    if node.get_type_name() == "Constant":
        return True
    sources = (node.input_value(at).get_node() for at in range(node.get_input_size()))
    return node.get_type_name() in _UNPACKS and all(map(_is_constant, sources))


def _unpack(openvino: Any, product: Any) -> None:
    """Replace what computes the weights of a product by their values."""
    from openvino import opset13 as operations

    packed = product.input_value(1).get_node()
    computed = openvino.Core().compile_model(openvino.Model([operations.result(packed)], []), "CPU")([])
    values = np.array(computed[0], np.float32)
    product.input(1).replace_source_output(operations.constant(values).output(0))


def _pooled(openvino: Any, model: Any) -> Any:
    """The model with the mean of its states, shape (texts, dimensions), as sentence-transformers pools them."""
    from openvino import opset13 as operations

    ids, mask = (each.get_node() for each in model.inputs)
    states = model.outputs[0].get_node().input_value(0)
    axis = operations.constant([1])
    weights = operations.unsqueeze(operations.convert(mask, "f32"), operations.constant(2))
    total = operations.reduce_sum(operations.multiply(states, weights), axis, False)
    return openvino.Model([operations.divide(total, operations.reduce_sum(weights, axis, False))], [ids, mask])
