"""The ONNX graph of a BERT encoder over packed weights: what runs a question in two milliseconds.

The graph holds no weights: its tensors are places in the file that `rag_ls.embedding.local.catalog` describes. Products with matrices
are onnxruntime's `MatMulNBits`, which multiplies bytes; attention and activation are its own operators, too.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rag_ls.embedding.local.catalog import SCALE, ZERO_BYTE

_OPSET, _IR = 20, 10
# `MatMulNBits` turns what is multiplied into bytes, too, block by block.
_BYTES = 4
BLOCK_COLUMNS = 128
"""Columns that share a scale; `MatMulNBits` wants a power of two."""
_OWN = "com.microsoft"
_TYPES = {"U8": "UINT8", "F32": "FLOAT"}


@dataclass(frozen=True, slots=True)
class Encoder:
    """The numbers of a BERT encoder, as its config.json names them."""

    num_hidden_layers: int
    num_attention_heads: int
    hidden_size: int
    layer_norm_eps: float

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Encoder:
        """Raises `ValueError` for another architecture."""
        if config["model_type"] != "bert" or config["hidden_act"] != "gelu" or config["hidden_size"] % BLOCK_COLUMNS:
            raise ValueError(
                f"a graph can be made of BERT with GELU and states of a multiple of {BLOCK_COLUMNS} numbers, not of "
                f"{config['model_type']} with {config['hidden_act']} and {config['hidden_size']}"
            )
        return cls(**{name: config[name] for name in cls.__slots__})


def graph_of(encoder: Encoder, weights: Path) -> bytes:
    """The graph, from token ids and mask to the last states, as a file beside `weights` holds it."""
    return _Graph(weights).made(encoder)


class _Graph:
    """A graph that is being made."""

    def __init__(self, weights: Path) -> None:
        import onnx

        self._onnx = onnx
        self._file = weights.name
        self._begin, self._header = _header(weights)
        self._nodes: list[Any] = []
        self._tensors: dict[str, Any] = {}

    def made(self, encoder: Encoder) -> bytes:
        states = self._embedded(encoder)
        mask = self._add("Cast", "attention_mask", to=self._onnx.TensorProto.INT32)
        for number in range(encoder.num_hidden_layers):
            states = self._layer(f"encoder.layer.{number}.", states, mask, encoder)
        self._nodes[-1].output[0] = "last_hidden_state"
        helper, types = self._onnx.helper, self._onnx.TensorProto
        inputs = [
            helper.make_tensor_value_info(name, types.INT64, ["texts", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        shape = ["texts", "tokens", encoder.hidden_size]
        outputs = [helper.make_tensor_value_info("last_hidden_state", types.FLOAT, shape)]
        graph = helper.make_graph(self._nodes, "encoder", inputs, outputs, list(self._tensors.values()))
        versions = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_OWN, 1)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=_IR)
        return bytes(model.SerializeToString(deterministic=True))

    def _embedded(self, encoder: Encoder) -> str:
        zero, one = self._constant("zero", np.int64(0)), self._constant("one", np.int64(1))
        length = self._add("Gather", self._add("Shape", "input_ids"), one)
        positions = self._add("Range", zero, length, one)
        kind = self._rows("embeddings.token_type_embeddings.weight", zero)
        place = self._add("Add", self._rows("embeddings.position_embeddings.weight", positions), kind)
        words = self._rows("embeddings.word_embeddings.weight", "input_ids")
        return self._normalised(self._add("Add", words, place), "embeddings.LayerNorm", encoder.layer_norm_eps)

    def _layer(self, name: str, states: str, mask: str, encoder: Encoder) -> str:
        asked = [self._product(states, f"{name}attention.self.{part}") for part in ("query", "key", "value")]
        seen = self._add("MultiHeadAttention", *asked, "", mask, domain=_OWN, num_heads=encoder.num_attention_heads)
        sum_ = self._add("Add", states, self._product(seen, f"{name}attention.output.dense"))
        states = self._normalised(sum_, f"{name}attention.output.LayerNorm", encoder.layer_norm_eps)
        wide = self._add("Gelu", self._product(states, f"{name}intermediate.dense"))
        sum_ = self._add("Add", states, self._product(wide, f"{name}output.dense"))
        return self._normalised(sum_, f"{name}output.LayerNorm", encoder.layer_norm_eps)

    def _product(self, states: str, name: str) -> str:
        rows, columns = self._header[f"{name}.weight"]["shape"]
        matrix, scales = self._stored(f"{name}.weight"), self._stored(f"{name}.weight{SCALE}")
        bias = self._stored(f"{name}.bias")
        options = {"K": columns, "N": rows, "bits": 8, "block_size": BLOCK_COLUMNS, "accuracy_level": _BYTES}
        return self._add("MatMulNBits", states, matrix, scales, "", "", bias, domain=_OWN, **options)

    def _rows(self, name: str, numbers: str) -> str:
        """Rows of a packed matrix: only these are unpacked, so that a vocabulary stays bytes."""
        _, columns = self._header[name]["shape"]
        bytes_ = self._add("Gather", self._stored(name), numbers)
        packed = self._add("Cast", bytes_, to=self._onnx.TensorProto.FLOAT)
        middle, axis = self._constant("middle", np.float32(ZERO_BYTE)), self._constant("axis", np.array([-1]))
        scales = self._add("Unsqueeze", self._add("Gather", self._stored(name + SCALE), numbers), axis)
        values = self._add("Mul", self._add("Sub", packed, middle), scales)
        # The two last axes, blocks and columns of a block, become one.
        keeps = self._add("Shape", numbers)
        shape = self._add("Concat", keeps, self._constant(f"columns of {name}", np.array([columns])), axis=0)
        return self._add("Reshape", values, shape)

    def _normalised(self, states: str, name: str, epsilon: float) -> str:
        gain, bias = self._stored(f"{name}.weight"), self._stored(f"{name}.bias")
        return self._add("LayerNormalization", states, gain, bias, axis=-1, epsilon=epsilon)

    def _add(self, operator: str, *inputs: str, domain: str = "", **options: Any) -> str:
        output = f"{len(self._nodes)} {operator}"
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [output], domain=domain, **options))
        return output

    def _constant(self, name: str, value: Any) -> str:
        self._tensors.setdefault(name, self._onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def _stored(self, name: str) -> str:
        """A tensor whose values are in the file of the weights; a packed matrix has shape (rows, blocks, `BLOCK_COLUMNS`)."""
        if name in self._tensors:
            return name
        entry = self._header[name]
        first, last = entry["data_offsets"]
        tensor = self._onnx.TensorProto(name=name, data_type=getattr(self._onnx.TensorProto, _TYPES[entry["dtype"]]))
        *outer, columns = entry["shape"]
        tensor.dims.extend(
            [*outer, columns // BLOCK_COLUMNS, BLOCK_COLUMNS] if name + SCALE in self._header else entry["shape"]
        )
        tensor.data_location = self._onnx.TensorProto.EXTERNAL
        place = {"location": self._file, "offset": self._begin + first, "length": last - first}
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self._tensors[name] = tensor
        return name


def _header(file: Path) -> tuple[int, dict[str, Any]]:
    """Where the tensors of a safetensors file begin, and its header: name to type, shape and offsets from there."""
    with file.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        return 8 + length, json.loads(stream.read(length))
