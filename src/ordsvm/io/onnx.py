"""Threshold models as ONNX graphs: samples in, score, rank and label out, in double precision as here."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Floats
from ordsvm.files import replacing
from ordsvm.kernels import RBF, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from ordsvm.thresholds import RankRule, rank_rule_of

OPSET = 18


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Export a fitted threshold model, with a kernel or linear, as an ONNX model.

    Parameters
    ----------
    model : estimator
        A fitted model with one score and `thresholds_`, such as `SVOR` or `LinearSVOR`, or a `RoundedRegressor` around
        a regressor of ordsvm.
    path : str or path-like, default=None
        A file to write the ONNX model to as well.

    Returns
    -------
    onnx.ModelProto
        The ONNX model.

    Raises
    ------
    TypeError
        Where the model is not a threshold model, or has a callable kernel.

    See Also
    --------
    save : Writes a model file that ordsvm reads again.

    Notes
    -----
    The input `X` is a batch of dense samples in float64 (for a precomputed kernel: its rows); the outputs are `score`
    (float64), `rank` (int64, from 0) and `label` (int64, float64 or string, as in `classes_`). Sparse support vectors
    become dense ones. Ranks follow the rule of the model (`rank_rule_`).

    Examples
    --------
    >>> from ordsvm import LinearSVOR, to_onnx
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> proto = to_onnx(LinearSVOR().fit(X[:50], y[:50]))
    >>> [output.name for output in proto.graph.output]
    ['score', 'rank', 'label']
    """
    onnx = _onnx()
    check_is_fitted(model)
    if not hasattr(model, "thresholds_") or not hasattr(model, "classes_"):
        raise TypeError(
            f"{type(model).__name__} is not a threshold model: to_onnx takes models with one score and thresholds_, "
            "such as SVOR or LinearSVOR."
        )
    graph = _Graph(onnx)
    score = _score(graph, model)
    rank = _rank(graph, score, model.thresholds_, rank_rule_of(model))
    graph.add("Identity", score, output="score")
    graph.add("Identity", rank, output="rank")
    graph.add("Gather", graph.constant(_label_values(model.classes_)), rank, output="label")
    proto = graph.model(int(model.n_features_in_), model.classes_)
    onnx.checker.check_model(proto)
    if path is not None:
        with replacing(path) as temporary:
            temporary.write_bytes(proto.SerializeToString())
    return proto


def _score(graph: _Graph, model: Any) -> str:
    """f(x), a column."""
    if hasattr(model, "regressor_"):
        return _regressor_score(graph, model.regressor_)
    return graph.add("Reshape", _linear_or_kernel(graph, model), graph.constant(np.array([-1])))


def _regressor_score(graph: _Graph, regressor: Any) -> str:
    """What a regressor of ordsvm predicts."""
    if not hasattr(regressor, "result_"):
        raise TypeError(
            f"to_onnx can't take apart a {type(regressor).__name__}: round a regressor of ordsvm, such as LinearSVR."
        )
    score = graph.add("Reshape", _linear_or_kernel(graph, regressor), graph.constant(np.array([-1])))
    return graph.add("Add", score, graph.constant(np.float64(regressor.intercept_[0])))


def _linear_or_kernel(graph: _Graph, model: Any) -> str:
    kernel, landmarks = getattr(model, "kernel_", Linear()), getattr(model, "landmarks_", None)
    if isinstance(kernel, Linear) and landmarks is None:
        return graph.add("MatMul", "X", graph.constant(np.reshape(model.coef_, (-1, 1))))
    weights = graph.constant(np.reshape(model.dual_coef_, (-1, 1)))
    if isinstance(kernel, Precomputed):
        return graph.add("MatMul", graph.add("Gather", "X", graph.constant(model.support_), axis=1), weights)
    vectors = model.support_vectors_ if landmarks is None else landmarks
    vectors = (vectors.toarray() if sp.issparse(vectors) else vectors).astype(np.float64)
    return graph.add("MatMul", _kernel_values(graph, kernel, vectors), weights)


def _kernel_values(graph: _Graph, kernel: Any, vectors: Floats) -> str:
    """k(x, v) for every sample and support vector."""
    if isinstance(kernel, RBF):
        exponent = graph.add("Mul", _squared_distances(graph, vectors), graph.constant(np.float64(-kernel.gamma)))
        return graph.add("Exp", exponent)
    if isinstance(kernel, Laplacian):
        exponent = graph.add("Mul", _city_distances(graph, vectors), graph.constant(np.float64(-kernel.gamma)))
        return graph.add("Exp", exponent)
    if isinstance(kernel, Linear):
        return graph.add("MatMul", "X", graph.constant(vectors.T))
    if not isinstance(kernel, Polynomial | Sigmoid):
        raise TypeError(
            f"to_onnx exports the library's own kernels, not {type(kernel).__name__}: train with one of them."
        )
    # gamma goes into the vectors: ONNX Runtime would fuse a factor of its own into the product, in float32
    product = graph.add("MatMul", "X", graph.constant(kernel.gamma * vectors.T))
    inner = graph.add("Add", product, graph.constant(np.float64(kernel.coef0)))
    if isinstance(kernel, Sigmoid):
        return graph.add("Tanh", inner)
    return graph.add("Pow", inner, graph.constant(np.float64(kernel.degree)))


def _squared_distances(graph: _Graph, vectors: Floats) -> str:
    """‖x‖² + ‖v‖² − 2x·v, about the mean of the support vectors so that little cancels; none below 0."""
    centre = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1])
    vectors = vectors - centre
    samples = graph.add("Sub", "X", graph.constant(centre))
    squares = graph.add("ReduceSum", graph.add("Mul", samples, samples), graph.constant(np.array([1])), keepdims=1)
    sums = graph.add("Add", squares, graph.constant(np.sum(vectors**2, axis=1)[np.newaxis]))
    products = graph.add("MatMul", samples, graph.constant(-2.0 * vectors.T))
    return graph.add("Max", graph.add("Add", sums, products), graph.constant(np.float64(0.0)))


def _city_distances(graph: _Graph, vectors: Floats) -> str:
    """Σ_j |x_j − v_j|, a feature at a time: all at once would take features times the memory."""
    helper, onnx = graph.onnx.helper, graph.onnx
    double = onnx.TensorProto.DOUBLE
    body = helper.make_graph(
        [
            helper.make_node("Unsqueeze", ["sample_feature", "one"], ["column"]),
            helper.make_node("Sub", ["column", "vector_feature"], ["difference"]),
            helper.make_node("Abs", ["difference"], ["distance"]),
            helper.make_node("Add", ["so_far", "distance"], ["sum"]),
        ],
        "add_a_feature",
        [
            helper.make_tensor_value_info("so_far", double, None),
            helper.make_tensor_value_info("sample_feature", double, None),
            helper.make_tensor_value_info("vector_feature", double, None),
        ],
        [helper.make_tensor_value_info("sum", double, None)],
        initializer=[onnx.numpy_helper.from_array(np.array([1]), "one")],
    )
    count = graph.add("Shape", "X", start=0, end=1)
    shape = graph.add("Concat", count, graph.constant(np.array([len(vectors)])), axis=0)
    zeros = graph.add("ConstantOfShape", shape, value=onnx.numpy_helper.from_array(np.zeros(1)))
    columns = graph.add("Transpose", "X", perm=[1, 0])
    return graph.add("Scan", zeros, columns, graph.constant(vectors.T.copy()), body=body, num_scan_inputs=2)


def _rank(graph: _Graph, score: str, thresholds: Floats, rule: RankRule) -> str:
    """As `ranks_of` has it. "first": a threshold at infinity stands for the last rank."""
    types, axis = graph.onnx.TensorProto, graph.constant(np.array([1]))
    column = graph.add("Unsqueeze", score, axis)
    if rule == "count":
        above = graph.add("Greater", column, graph.constant(thresholds[np.newaxis]))
        return graph.add("ReduceSum", graph.add("Cast", above, to=types.INT64), axis, keepdims=0)
    below = graph.add("Less", column, graph.constant(np.append(thresholds, np.inf)[np.newaxis]))
    return graph.add("ArgMax", graph.add("Cast", below, to=types.FLOAT), axis=1, keepdims=0)


def _label_values(classes: NDArray[Any]) -> NDArray[Any]:
    if classes.dtype.kind in "biu":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    return np.array([str(label) for label in classes.tolist()], dtype=object)


class _Graph:
    """Nodes and constants of a graph in the making; every node has one output, named by its number."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: Any) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(self.onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def model(self, n_features: int, classes: NDArray[Any]) -> Any:
        helper, types = self.onnx.helper, self.onnx.TensorProto
        kind = {"i": types.INT64, "f": types.DOUBLE}.get(_label_values(classes).dtype.kind, types.STRING)
        outputs = (("score", types.DOUBLE), ("rank", types.INT64), ("label", kind))
        graph = helper.make_graph(
            self._nodes,
            "ordsvm",
            [helper.make_tensor_value_info("X", types.DOUBLE, ["samples", n_features])],
            [helper.make_tensor_value_info(name, element, ["samples"]) for name, element in outputs],
            initializer=self._constants,
        )
        opset = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opset, producer_name="ordsvm", ir_version=8)


def _onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise ImportError("Export to ONNX needs onnx: pip install 'ordsvm[onnx]'.") from None
    return onnx
