"""Reads the ONNX graph of a packed model for OpenVINO, which needs no torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def from_graph(openvino: Any, file: Path) -> Any:
    """The model of an ONNX file with inputs (ids, mask), its weights unpacked and its states averaged over the mask."""
    from openvino.passes import ConstantFolding, Manager

    model = openvino.Core().read_model(file.resolve())
    # Unpacks the weights: the operations that compute them from the packed ones are constant.
    passes = Manager()
    passes.register_pass(ConstantFolding())
    passes.run_passes(model)
    return _add_pooling(openvino, model)


def _add_pooling(openvino: Any, model: Any) -> Any:
    """The model with the mean of its states, shape (texts, dimensions), as sentence-transformers pools them."""
    from openvino import opset13 as operations

    ids, mask = (each.get_node() for each in model.inputs)
    states = model.outputs[0].get_node().input_value(0)
    axis = operations.constant([1])
    weights = operations.unsqueeze(operations.convert(mask, "f32"), operations.constant(2))
    total = operations.reduce_sum(operations.multiply(states, weights), axis, False)
    return openvino.Model([operations.divide(total, operations.reduce_sum(weights, axis, False))], [ids, mask])
