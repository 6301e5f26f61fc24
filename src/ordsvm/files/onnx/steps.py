"""Preprocessing as nodes of a graph: steps of scikit-learn, and the encoder of a table.

A block is what a step takes and gives: a matrix of numbers, or columns of texts. Missing numbers are NaN; ONNX has no
missing texts, and an empty one stands for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from ordsvm.files.onnx.encoders import one_hot, ordinal
from ordsvm.files.onnx.graph import Graph


@dataclass(frozen=True)
class Block:
    """A matrix of numbers; or columns of texts, with what stands in place of an empty one, if anything does."""

    columns: tuple[str, ...]
    is_text: bool = False
    filled: tuple[str | None, ...] = ()

    @property
    def matrix(self) -> str:
        return self.columns[0]


def transformed(graph: Graph, block: Block, step: Any) -> Block:
    """What a fitted step makes of a block."""
    if isinstance(step, str) or (isinstance(step, FunctionTransformer) and step.func is None):
        return block  # "passthrough"
    if isinstance(step, Pipeline):
        for _, inner in step.steps:
            block = transformed(graph, block, inner)
        return block
    if isinstance(step, ColumnTransformer):
        return of_columns(graph, step, lambda place: graph.take(block.matrix, [place]))
    if isinstance(step, OneHotEncoder | OrdinalEncoder):
        encode = one_hot if isinstance(step, OneHotEncoder) else ordinal
        columns = (
            block.columns if block.is_text else tuple(graph.take(block.matrix, [j]) for j in range(step.n_features_in_))
        )
        return Block((encode(graph, columns, block.is_text, block.filled, step),))
    if isinstance(step, SimpleImputer) and block.is_text:
        return _filled_texts(block, step)
    make = _NUMBERS.get(type(step))
    if make is None or block.is_text:
        raise no_operators(step)
    return Block((make(graph, block.matrix, step),))


def no_operators(step: Any) -> TypeError:
    """For a step that ONNX has no operators for."""
    name = type(step).__name__
    return TypeError(f"to_onnx has no operators for {name}: transform with it first, and export the steps after it.")


def takes_texts(step: Any) -> bool:
    """Whether a fitted step was fitted to texts."""
    if isinstance(step, Pipeline):
        return takes_texts(step.steps[0][1])
    if isinstance(step, OneHotEncoder | OrdinalEncoder):
        kinds = {_is_text(values) for values in step.categories_}
        if len(kinds) > 1:
            raise TypeError(f"to_onnx can't give texts and numbers to one {type(step).__name__}: make two of it.")
        return kinds.pop()
    return isinstance(step, SimpleImputer) and _is_text(step.statistics_)


def _is_text(values: Any) -> bool:
    return any(isinstance(value, str) for value in np.asarray(values).tolist())


def of_columns(graph: Graph, step: ColumnTransformer, numbers: Callable[[int], str]) -> Block:
    """Blocks of a column transformer side by side; its inputs are columns of a matrix, or have names of their own."""
    names = getattr(step, "feature_names_in_", None)
    blocks = []
    for name, transformer, _ in step.transformers_:
        places = step._transformer_to_input_indices[name]
        if (isinstance(transformer, str) and transformer == "drop") or not len(places):
            continue
        if takes_texts(transformer):
            block = texts_of(graph, names, places)
        else:
            block = Block((graph.join([numbers(place) for place in places]),))
        weight = (step.transformer_weights or {}).get(name, 1.0)
        made = transformed(graph, block, transformer)
        if made.is_text:
            raise TypeError(f"The columns of {name!r} are texts after it: encode them.")
        blocks.append(made.matrix if weight == 1.0 else _times(graph, made.matrix, weight))
    return Block((graph.join(blocks),))


def texts_of(graph: Graph, names: Any, places: Any) -> Block:
    """Inputs of texts, by the names of the columns."""
    if names is None:
        raise TypeError("to_onnx needs names of columns that hold texts: fit the pipeline to a data frame.")
    return Block(tuple(graph.texts(str(names[place])) for place in places), True, (None,) * len(places))


def _filled_texts(block: Block, step: SimpleImputer) -> Block:
    if step.add_indicator:
        raise TypeError("to_onnx has no indicator of missing texts: use add_indicator=False.")
    return replace(block, filled=tuple(str(value) for value in step.statistics_.tolist()))


# Steps of numbers


def _row(graph: Graph, values: Any) -> str:
    return graph.constant(np.asarray(values, dtype=np.float64)[np.newaxis])


def _times(graph: Graph, x: str, factor: float) -> str:
    return graph.add("Mul", x, graph.constant(np.float64(factor)))


def _standard(graph: Graph, x: str, step: StandardScaler) -> str:
    x = graph.add("Sub", x, _row(graph, step.mean_)) if step.with_mean else x
    return graph.add("Div", x, _row(graph, step.scale_)) if step.with_std else x


def _min_max(graph: Graph, x: str, step: MinMaxScaler) -> str:
    x = graph.add("Add", graph.add("Mul", x, _row(graph, step.scale_)), _row(graph, step.min_))
    if not step.clip:
        return x
    low, high = (graph.constant(np.float64(end)) for end in step.feature_range)
    return graph.add("Min", graph.add("Max", x, low), high)


def _max_abs(graph: Graph, x: str, step: MaxAbsScaler) -> str:
    if getattr(step, "clip", False):
        raise TypeError("to_onnx takes MaxAbsScaler with clip=False.")
    return graph.add("Div", x, _row(graph, step.scale_))


def _robust(graph: Graph, x: str, step: RobustScaler) -> str:
    x = graph.add("Sub", x, _row(graph, step.center_)) if step.with_centering else x
    return graph.add("Div", x, _row(graph, step.scale_)) if step.with_scaling else x


def _normalized(graph: Graph, x: str, step: Normalizer) -> str:
    axis = graph.constant(np.array([1]))
    if step.norm == "l2":
        length = graph.add("Sqrt", graph.add("ReduceSum", graph.add("Mul", x, x), axis, keepdims=1))
    else:
        length = graph.add("ReduceSum" if step.norm == "l1" else "ReduceMax", graph.add("Abs", x), axis, keepdims=1)
    is_zero = graph.add("Equal", length, graph.constant(np.float64(0.0)))
    return graph.add("Div", x, graph.add("Where", is_zero, graph.constant(np.float64(1.0)), length))


def _imputed(graph: Graph, x: str, step: SimpleImputer) -> str:
    if not (isinstance(step.missing_values, float) and np.isnan(step.missing_values)):
        raise TypeError("to_onnx takes SimpleImputer with missing_values=nan.")
    statistics = np.asarray(step.statistics_, dtype=np.float64)
    missing = graph.add("IsNaN", x)
    filled = graph.add("Where", missing, _row(graph, np.nan_to_num(statistics)), x)
    kept = np.flatnonzero(~np.isnan(statistics))
    if len(kept) < len(statistics) and not step.keep_empty_features:
        filled = graph.take(filled, kept)
    if step.indicator_ is None:
        return filled
    return graph.join([filled, graph.as_numbers(graph.take(missing, step.indicator_.features_))])


def _principal(graph: Graph, x: str, step: PCA) -> str:
    directions = step.components_.T / (np.sqrt(step.explained_variance_) if step.whiten else 1.0)
    return graph.add(
        "MatMul", graph.add("Sub", x, _row(graph, step.mean_)), graph.constant(np.asarray(directions, np.float64))
    )


def _truncated(graph: Graph, x: str, step: TruncatedSVD) -> str:
    return graph.add("MatMul", x, graph.constant(np.asarray(step.components_.T, dtype=np.float64, order="C")))


_NUMBERS: dict[type, Callable[[Graph, str, Any], str]] = {
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    RobustScaler: _robust,
    Normalizer: _normalized,
    SimpleImputer: _imputed,
    PCA: _principal,
    TruncatedSVD: _truncated,
}
