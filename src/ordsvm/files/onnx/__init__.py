"""Trained models as ONNX graphs: samples in, score, rank, label and probabilities out, in double precision as here."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ordsvm.atomic_files import replacing
from ordsvm.calibration import CalibratedOrdinal
from ordsvm.checks import check_choice
from ordsvm.files.onnx.encoders import of_table
from ordsvm.files.onnx.graph import Graph, label_values
from ordsvm.files.onnx.outputs import outputs_of
from ordsvm.files.onnx.steps import Block, no_operators, of_columns, takes_texts, texts_of, transformed
from ordsvm.tables import TableEncoder, TableModel

__all__ = ["to_onnx"]


def to_onnx(model: BaseEstimator, path: str | os.PathLike[str] | None = None, *, dtype: str = "float64") -> Any:
    """Export a fitted ordinal model, with its preprocessing, as an ONNX model.

    Parameters
    ----------
    model : estimator
        A fitted ordinal machine, such as `SVOR`, `LinearSVOR` or `NPSVOR`, a `RoundedRegressor` around a regressor of
        ordsvm, a `CalibratedOrdinal`, a pipeline that ends in one of these, a `TableModel`, or a search for one.
    path : str or path-like, default=None
        A file to write the ONNX model to as well.
    dtype : {"float64", "float32"}, default="float64"
        The type of the numbers that go in. Inside, numbers are float64 in any case.

    Returns
    -------
    onnx.ModelProto
        The ONNX model.

    Raises
    ------
    TypeError
        Where the model is not an ordinal one, has a callable kernel, or has a step without operators in ONNX, such as
        one that cuts texts into words.

    See Also
    --------
    save : Writes a model file that ordsvm reads again.

    Notes
    -----
    The input `X` is a batch of dense samples (for a precomputed kernel: its rows). Where a `ColumnTransformer` or an
    encoder was fitted to a data frame, and for a `TableModel`, there is an input for every column instead, of shape
    (n_samples, 1) and with its name: numbers with NaN for missing ones, or texts with "" for missing ones. Unknown
    categories have 0 in all features, even where the encoder of scikit-learn raises an error.

    The outputs are `score` (float64; of `NPSVOR` a column for every rank), `rank` (int64, from 0), `label` (int64,
    float64 or string, as in `classes_`) and, of a `CalibratedOrdinal`, `probability`. Ranks follow the rule of the
    model (`rank_rule_`, `predictor`). The metadata have `ordsvm_version`, `model`, and as JSON `labels`, lowest first,
    and `features`. Sparse support vectors become dense ones.

    Steps of scikit-learn: scalers, `Normalizer`, `SimpleImputer`, `OneHotEncoder`, `OrdinalEncoder`, `PCA`,
    `TruncatedSVD`, in a `Pipeline` or a `ColumnTransformer`.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import LinearSVOR, to_onnx
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> proto = to_onnx(make_pipeline(StandardScaler(), LinearSVOR()).fit(X[:50], y[:50]), dtype="float32")
    >>> [output.name for output in proto.graph.output]
    ['score', 'rank', 'label']
    """
    onnx = _onnx()
    check_choice("dtype", dtype, ["float64", "float32"])
    check_is_fitted(model)
    graph = Graph(onnx, dtype)
    samples, machine, calibrated = _taken_apart(graph, model)
    outputs = outputs_of(graph, samples, machine, calibrated)
    about = {
        "ordsvm_version": version("ordsvm"),
        "model": " > ".join(_names(model)),
        "labels": json.dumps(label_values(machine.classes_).tolist(), ensure_ascii=False),
        "features": json.dumps(_feature_names(graph, model), ensure_ascii=False),
    }
    proto = graph.model(outputs, about, version("ordsvm"))
    onnx.checker.check_model(proto)
    if path is not None:
        with replacing(path) as temporary:
            temporary.write_bytes(proto.SerializeToString())
    return proto


def _taken_apart(graph: Graph, model: Any) -> tuple[str, Any, CalibratedOrdinal | None]:
    """The samples as they reach the machine, the machine, and a calibration around it."""
    calibrated: CalibratedOrdinal | None = None
    block: Block | None = None
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, TableModel):
            if model.encoder_ is not None:
                block = Block((of_table(graph, model.encoder_),))
            model = model.machine_
        elif isinstance(model, Pipeline):
            for _, step in model.steps[:-1]:
                block = _first(graph, step) if block is None else transformed(graph, block, step)
            model = model.steps[-1][1]
        elif isinstance(model, CalibratedOrdinal) and calibrated is None:
            calibrated, model = model, model.estimator_
        else:
            break
    if not hasattr(model, "classes_") or not (hasattr(model, "thresholds_") or hasattr(model, "rank_scores")):
        raise TypeError(
            f"{type(model).__name__} is not an ordinal machine: to_onnx takes those of ordsvm, such as SVOR or NPSVOR."
        )
    samples = graph.numbers("X", int(model.n_features_in_)) if block is None else block.matrix
    return samples, model, calibrated


def _first(graph: Graph, step: Any) -> Block | None:
    """What the first step makes of the inputs; None where it leaves them to the next one."""
    if step is None or isinstance(step, str):
        return None
    names = getattr(step, "feature_names_in_", None)
    if isinstance(step, Pipeline):
        block: Block | None = None
        for _, inner in step.steps:
            block = _first(graph, inner) if block is None else transformed(graph, block, inner)
        return block
    if isinstance(step, TableEncoder):
        return Block((of_table(graph, step),))
    if isinstance(step, ColumnTransformer):
        if names is not None:
            return of_columns(graph, step, lambda place: graph.numbers(str(names[place]), 1))
        whole = graph.numbers("X", int(step.n_features_in_))
        return of_columns(graph, step, lambda place: graph.take(whole, [place]))
    if takes_texts(step):
        return transformed(graph, texts_of(graph, names, range(step.n_features_in_)), step)
    if not hasattr(step, "n_features_in_"):
        raise no_operators(step)
    return transformed(graph, Block((graph.numbers("X", int(step.n_features_in_)),)), step)


def _names(model: Any) -> list[str]:
    """Of the estimators inside each other."""
    for name in ("best_estimator_", "machine_", "estimator_"):
        if hasattr(model, name):
            return [type(model).__name__, *_names(getattr(model, name))]
    if isinstance(model, Pipeline):
        return [type(step).__name__ for _, step in model.steps[:-1]] + _names(model.steps[-1][1])
    return [type(model).__name__]


def _feature_names(graph: Graph, model: Any) -> list[str] | None:
    """Of the columns that go in, as far as they are known."""
    if graph.input_names != ["X"]:
        return graph.input_names
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise ImportError("Export to ONNX needs onnx: pip install 'ordsvm[onnx]'.") from None
    return onnx
