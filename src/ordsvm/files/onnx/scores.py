"""Scores of machines as nodes of a graph: weights of features, or of the kernel's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ordsvm._typing import Floats
from ordsvm.files.onnx.graph import Graph
from ordsvm.kernels import RBF, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from ordsvm.problem.thresholds import intercept_of


def one_score(graph: Graph, samples: str, model: Any) -> str:
    """Return the score of a threshold machine, as its `decision_function` has it, a vector."""
    return graph.add("Add", _score_on_f(graph, samples, model), graph.constant(np.float64(intercept_of(model)[0])))


def _score_on_f(graph: Graph, samples: str, model: Any) -> str:
    """Return f(x) as a vector."""
    flat = graph.constant(np.array([-1]))
    if not hasattr(model, "regressor_"):
        return graph.add("Reshape", _products(graph, samples, model), flat)
    regressor = model.regressor_
    if not hasattr(regressor, "result_"):
        raise TypeError(
            f"to_onnx can't take apart a {type(regressor).__name__}: round a regressor of ordsvm, such as LinearSVR."
        )
    score = graph.add("Reshape", _products(graph, samples, regressor), flat)
    return graph.add("Add", score, graph.constant(np.float64(regressor.intercept_[0])))


def rank_scores(graph: Graph, samples: str, model: Any) -> str:
    """f_k(x) of NPSVOR, a column for every rank."""
    return graph.add("Add", _products(graph, samples, model), graph.constant(model.intercept_[np.newaxis]))


def _products(graph: Graph, samples: str, model: Any) -> str:
    """Weights times features or kernel values, a column for every vector of weights."""
    kernel, landmarks = getattr(model, "kernel_", Linear()), getattr(model, "landmarks_", None)
    if isinstance(kernel, Linear) and landmarks is None:
        return graph.add("MatMul", samples, graph.constant(_columns(model.coef_)))
    weights = graph.constant(_columns(model.dual_coef_))
    if isinstance(kernel, Precomputed):
        return graph.add("MatMul", graph.add("Gather", samples, graph.constant(model.support_), axis=1), weights)
    vectors = model.support_vectors_ if landmarks is None else landmarks
    vectors = (vectors.toarray() if sp.issparse(vectors) else vectors).astype(np.float64)
    return graph.add("MatMul", _kernel_values(graph, samples, kernel, vectors), weights)


def _columns(weights: Any) -> Floats:
    return np.ascontiguousarray(np.atleast_2d(np.asarray(weights, dtype=np.float64)).T)


def _kernel_values(graph: Graph, samples: str, kernel: Any, vectors: Floats) -> str:
    """k(x, v) for every sample and support vector."""
    if isinstance(kernel, RBF):
        exponent = graph.add(
            "Mul", _squared_distances(graph, samples, vectors), graph.constant(np.float64(-kernel.gamma))
        )
        return graph.add("Exp", exponent)
    if isinstance(kernel, Laplacian):
        exponent = graph.add("Mul", _city_distances(graph, samples, vectors), graph.constant(np.float64(-kernel.gamma)))
        return graph.add("Exp", exponent)
    if isinstance(kernel, Linear):
        return graph.add("MatMul", samples, graph.constant(vectors.T))
    if not isinstance(kernel, Polynomial | Sigmoid):
        raise TypeError(
            f"to_onnx exports the library's own kernels, not {type(kernel).__name__}: train with one of them."
        )
    # gamma goes into the vectors: ONNX Runtime would fuse a factor of its own into the product, in float32
    product = graph.add("MatMul", samples, graph.constant(kernel.gamma * vectors.T))
    inner = graph.add("Add", product, graph.constant(np.float64(kernel.coef0)))
    if isinstance(kernel, Sigmoid):
        return graph.add("Tanh", inner)
    return graph.add("Pow", inner, graph.constant(np.float64(kernel.degree)))


def _squared_distances(graph: Graph, samples: str, vectors: Floats) -> str:
    """‖x‖² + ‖v‖² − 2x·v, about the mean of the support vectors so that little cancels; none below 0."""
    centre = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1])
    vectors = vectors - centre
    samples = graph.add("Sub", samples, graph.constant(centre))
    squares = graph.add("ReduceSum", graph.add("Mul", samples, samples), graph.constant(np.array([1])), keepdims=1)
    sums = graph.add("Add", squares, graph.constant(np.sum(vectors**2, axis=1)[np.newaxis]))
    products = graph.add("MatMul", samples, graph.constant(-2.0 * vectors.T))
    return graph.add("Max", graph.add("Add", sums, products), graph.constant(np.float64(0.0)))


def _city_distances(graph: Graph, samples: str, vectors: Floats) -> str:
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
    count = graph.add("Shape", samples, start=0, end=1)
    shape = graph.add("Concat", count, graph.constant(np.array([len(vectors)])), axis=0)
    zeros = graph.add("ConstantOfShape", shape, value=onnx.numpy_helper.from_array(np.zeros(1)))
    columns = graph.add("Transpose", samples, perm=[1, 0])
    return graph.add("Scan", zeros, columns, graph.constant(vectors.T.copy()), body=body, num_scan_inputs=2)
