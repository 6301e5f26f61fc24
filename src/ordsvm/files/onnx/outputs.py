"""From scores to ranks, labels and probabilities, as nodes of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordsvm._typing import Floats
from ordsvm.calibration import CalibratedOrdinal
from ordsvm.calibration.maps import IsotonicThresholds, OrderedLogistic
from ordsvm.files.onnx.graph import Graph, label_values
from ordsvm.files.onnx.scores import one_score, rank_scores
from ordsvm.problem.thresholds import RankRule, rank_rule_of

Outputs = list[tuple[str, Any, list[Any]]]


def outputs_of(graph: Graph, samples: str, machine: Any, calibrated: CalibratedOrdinal | None) -> Outputs:
    """Score, rank and label of a machine; with a calibration around it, its rank and label, and probabilities."""
    types, classes = graph.onnx.TensorProto, machine.classes_
    several = hasattr(machine, "rank_scores")
    score = (rank_scores if several else one_score)(graph, samples, machine)
    shape: list[Any] = ["samples", len(classes)] if several else ["samples"]
    found: Outputs = [("score", types.DOUBLE, shape), ("rank", types.INT64, ["samples"])]
    graph.add("Identity", score, output="score")
    if calibrated is None:
        ranks = _by_predictor(graph, score, machine.predictor) if several else _rank(graph, score, machine)
    else:
        cumulative = _cumulative(graph, _counted_from_middle(graph, score, machine), calibrated.map_)
        ranks = _count(graph, graph.add("Less", cumulative, graph.constant(np.float64(0.5))))
        before = graph.add("Pad", cumulative, graph.constant(np.array([0, 1, 0, -1])), graph.constant(np.float64(0.0)))
        graph.add("Sub", cumulative, before, output="probability")
    graph.add("Identity", ranks, output="rank")
    labels = label_values(classes)
    graph.add("Gather", graph.constant(labels), ranks, output="label")
    kind = {"i": types.INT64, "f": types.DOUBLE}.get(labels.dtype.kind, types.STRING)
    found.append(("label", kind, ["samples"]))
    if calibrated is not None:
        found.append(("probability", types.DOUBLE, ["samples", len(classes)]))
    return found


def _rank(graph: Graph, score: str, machine: Any) -> str:
    """As `ranks_of` has it. "first": a threshold at infinity stands for the last rank."""
    rule: RankRule = rank_rule_of(machine)
    thresholds: Floats = machine.thresholds_
    column = graph.add("Unsqueeze", score, graph.constant(np.array([1])))
    if rule == "count":
        return _count(graph, graph.add("Greater", column, graph.constant(thresholds[np.newaxis])))
    below = graph.add("Less", column, graph.constant(np.append(thresholds, np.inf)[np.newaxis]))
    return graph.add("ArgMax", graph.add("Cast", below, to=graph.onnx.TensorProto.FLOAT), axis=1, keepdims=0)


def _by_predictor(graph: Graph, scores: str, predictor: str) -> str:
    """As `ordered_ranks` and `nearest_ranks` have it."""
    if predictor == "nearest":
        return graph.add("ArgMin", graph.add("Abs", scores), axis=1, keepdims=0)
    ends, axis = np.array([np.iinfo(np.int64).max]), graph.constant(np.array([1]))
    lower = graph.add("Slice", scores, graph.constant(np.array([0])), graph.constant(np.array([-1])), axis)
    upper = graph.add("Slice", scores, graph.constant(np.array([1])), graph.constant(ends), axis)
    return _count(graph, graph.add("Greater", graph.add("Add", lower, upper), graph.constant(np.float64(0.0))))


def _count(graph: Graph, answers: str) -> str:
    """How many are true, row by row."""
    whole = graph.add("Cast", answers, to=graph.onnx.TensorProto.INT64)
    return graph.add("ReduceSum", whole, graph.constant(np.array([1])), keepdims=0)


def _counted_from_middle(graph: Graph, score: str, machine: Any) -> str:
    """As `rank_score` has it, a column."""
    if hasattr(machine, "rank_scores"):
        return graph.add("ReduceMean", score, graph.constant(np.array([1])), keepdims=1)
    column = graph.add("Unsqueeze", score, graph.constant(np.array([1])))
    return graph.add("Sub", column, graph.constant(np.float64(np.median(machine.thresholds_))))


def _cumulative(graph: Graph, score: str, probabilities: Any) -> str:
    """P(rank ≤ k), a column for every rank."""
    one = graph.constant(np.float64(1.0))
    if isinstance(probabilities, OrderedLogistic):
        steep = graph.add("Mul", score, graph.constant(np.float64(-probabilities.slope)))
        theta = probabilities.theta + probabilities.slope * probabilities.centre
        minus = graph.add("Neg", graph.add("Add", steep, graph.constant(theta[np.newaxis])))
        below = [graph.add("Div", one, graph.add("Add", graph.add("Exp", minus), one))]
    else:
        assert isinstance(probabilities, IsotonicThresholds)
        below = []
        for at, above in zip(probabilities.at, probabilities.above, strict=True):
            known = graph.add("Sub", one, _interpolated(graph, score, at, above))
            below.append(graph.add("Max", known, below[-1]) if below else known)
    last = graph.add("Add", graph.add("Mul", score, graph.constant(np.float64(0.0))), one)
    return graph.join([*below, last])


def _interpolated(graph: Graph, score: str, at: Floats, value: Floats) -> str:
    """Interpolate between the points of an isotonic regression: the first value, and what is passed of every rise."""
    first = graph.constant(value[:1, np.newaxis])
    if len(at) == 1:
        return graph.add("Add", graph.add("Mul", score, graph.constant(np.float64(0.0))), first)
    width = np.diff(at)[np.newaxis]
    way = graph.add("Sub", score, graph.constant(at[np.newaxis, :-1]))
    way = graph.add("Min", graph.add("Max", way, graph.constant(np.float64(0.0))), graph.constant(width))
    slope = np.diff(value) / width[0]
    return graph.add("Add", graph.add("MatMul", way, graph.constant(slope[:, np.newaxis])), first)
