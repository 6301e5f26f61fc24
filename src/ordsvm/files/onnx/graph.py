"""An ONNX graph in the making: inputs, nodes and constants."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

OPSET, ML_OPSET = 18, 3


class Graph:
    """Nodes and constants; every node has one output, named by its number. Numbers are float64 inside."""

    def __init__(self, onnx: Any, number: str) -> None:
        self.onnx = onnx
        self.number = {"float64": onnx.TensorProto.DOUBLE, "float32": onnx.TensorProto.FLOAT}[number]
        self._inputs: dict[str, tuple[Any, int]] = {}
        self._read: dict[str, str] = {}
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def numbers(self, name: str, width: int) -> str:
        """An input of numbers, a matrix with `width` columns."""
        return self._input(name, self.number, width)

    def texts(self, name: str) -> str:
        """An input of texts, one column."""
        return self._input(name, self.onnx.TensorProto.STRING, 1)

    def _input(self, name: str, kind: Any, width: int) -> str:
        if self._inputs.setdefault(name, (kind, width)) != (kind, width):
            raise TypeError(f"to_onnx can't give column {name!r} to steps of numbers and of texts: make two of it.")
        if kind != self.onnx.TensorProto.FLOAT:
            return name
        if name not in self._read:
            self._read[name] = self.add("Cast", name, to=self.onnx.TensorProto.DOUBLE)
        return self._read[name]

    @property
    def input_names(self) -> list[str]:
        return list(self._inputs)

    def constant(self, value: Any) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(self.onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, operator: str, *inputs: str, output: str | None = None, domain: str = "", **attributes: Any) -> str:
        name = output or f"{operator}_{len(self._nodes)}"
        node = self.onnx.helper.make_node(operator, list(inputs), [name], domain=domain, **attributes)
        self._nodes.append(node)
        return name

    def join(self, blocks: list[str]) -> str:
        """Matrices side by side."""
        return blocks[0] if len(blocks) == 1 else self.add("Concat", *blocks, axis=1)

    def take(self, matrix: str, columns: Any) -> str:
        return self.add("Gather", matrix, self.constant(np.asarray(columns, dtype=np.int64)), axis=1)

    def codes(self, texts: str, known: dict[str, int]) -> str:
        """A number for every text, −1 for unknown ones."""
        keys, values = list(known), list(known.values())
        names: dict[str, Any] = {"keys_strings": keys, "values_int64s": values, "default_int64": -1}
        return self.add("LabelEncoder", texts, domain="ai.onnx.ml", **names)

    def as_numbers(self, values: str) -> str:
        return self.add("Cast", values, to=self.onnx.TensorProto.DOUBLE)

    def model(self, outputs: list[tuple[str, Any, list[Any]]], about: dict[str, str], version: str) -> Any:
        """The model with these outputs (name, type, shape)."""
        helper = self.onnx.helper
        inputs = [helper.make_tensor_value_info(n, kind, ["samples", w]) for n, (kind, w) in self._inputs.items()]
        found = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in outputs]
        graph = helper.make_graph(self._nodes, "ordsvm", inputs, found, initializer=self._constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        names = {"producer_name": "ordsvm", "producer_version": version}
        proto = helper.make_model(graph, opset_imports=opsets, ir_version=8, **names)
        helper.set_model_props(proto, about)
        return proto


def label_values(classes: NDArray[Any]) -> NDArray[Any]:
    """Labels as ONNX has them: int64, float64 or texts."""
    if classes.dtype.kind in "biu":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    return np.array([str(label) for label in classes.tolist()], dtype=object)
