"""From a block of rows as the user has it to rows that a worker can train on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from ordsvm._typing import Floats, Ints
from ordsvm.distributed.shard import Job, Shard
from ordsvm.estimators.validation import check_magnitude, check_sample_weight, check_targets, weights_or_none
from ordsvm.problem.labels import label_array, ordered_dtype_categories, rank_codes
from ordsvm.rows.memory import RowsInMemory
from ordsvm.solvers.linear.solve import SampleColumns, reach_of, squared_norms
from ordsvm.sparse import check_structure, readable

SHARES = (np.arange(16) + 0.5) / 16  # of the targets of a block, below the quantiles that stand for all of them


@dataclass(frozen=True)
class Partition:
    """Checked rows, labels (or targets) and weights of a block; categories: the order that the labels' dtype gives."""

    X: Any
    y: NDArray[Any]
    weight: Floats | None
    categories: list[Any] | None


@dataclass(frozen=True)
class Summary:
    """The part of a partition that formulation and solver depend on: its size, its labels with their total weights.

    squares     the sum of the squares of all values
    quantiles   of the targets
    """

    n_samples: int
    n_features: int
    n_values: int
    labels: NDArray[Any]
    counts: Ints
    weights: Floats
    squares: float
    quantiles: Floats
    categories: list[Any] | None


@dataclass(frozen=True)
class Coding:
    """What a label means: its row in the table and the weight of its class. Without classes, labels are targets."""

    classes: NDArray[Any] | None
    rows: NDArray[np.int32]
    weights: Floats


@dataclass(frozen=True)
class ShardSize:
    """Sums over the samples of a shard, from which rho is chosen."""

    n_samples: int
    norms: float
    reach: float


def load(number: int, X: Any, y: Any, weight: Any, is_regression: bool, name: str) -> Partition:
    try:
        return _load(X, y, weight, is_regression, name)
    except (ValueError, TypeError) as error:
        raise type(error)(f"Block {number} (the first is 0): {error}") from None


def _load(X: Any, y: Any, weight: Any, is_regression: bool, name: str) -> Partition:
    if y is None:
        X, y, weight = _unpacked(X)
    if hasattr(X, "index") and hasattr(y, "index") and not callable(y.index) and not X.index.equals(y.index):
        raise ValueError("X and y have different indices: take both from one data frame.")
    options = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C", "input_name": "X"}
    check_structure(X)
    X = check_array(X, ensure_min_samples=0, **options)
    categories, n_rows = ordered_dtype_categories(y), X.shape[0]
    y = np.asarray(y) if n_rows == 0 else check_targets(y, name) if is_regression else label_array(y)
    if len(y) != n_rows:
        raise ValueError(f"X has {n_rows} rows and y {len(y)}: give a label for every row.")
    check_magnitude(X)
    return Partition(readable(X), y, _weights(weight, n_rows), categories)


def _unpacked(block: Any) -> tuple[Any, Any, Any]:
    if not isinstance(block, (tuple, list)) or len(block) not in (2, 3):
        raise TypeError("it is not a tuple (X, y) or (X, y, sample_weight): give such tuples, or y as well.")
    return block[0], block[1], block[2] if len(block) == 3 else None


def _weights(weight: Any, n_rows: int) -> Floats | None:
    if weight is None:
        return None
    if n_rows == len(weight) and not np.any(np.asarray(weight)):
        return np.zeros(n_rows)  # a block may be without weight, if not all are
    return check_sample_weight(weight, n_rows)


def summary(partition: Partition, is_regression: bool) -> Summary:
    X, y = partition.X, partition.y
    weight = np.ones(len(y)) if partition.weight is None else partition.weight
    labels, codes = (np.zeros(1), np.zeros(len(y), dtype=np.int64)) if is_regression else _distinct(y)
    return Summary(
        n_samples=X.shape[0],
        n_features=X.shape[1],
        n_values=getattr(X, "nnz", X.size),
        labels=labels,
        counts=np.bincount(codes, minlength=len(labels)),
        weights=np.bincount(codes, weight, len(labels)).astype(np.float64),
        squares=_squares(X),
        quantiles=np.quantile(y, SHARES) if is_regression and len(y) else np.zeros(0),
        categories=partition.categories,
    )


def _squares(X: Any) -> float:
    values = X.data if sp.issparse(X) else X.ravel()
    with np.errstate(over="ignore"):
        return float(np.vdot(values, values))


def _distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """The different labels, and the number of each sample's label among them; objects need not have an order."""
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)
    number = {label: place for place, label in enumerate(dict.fromkeys(labels.tolist()))}
    different = np.empty(len(number), dtype=object)
    different[:] = list(number)
    return different, np.array([number[label] for label in labels.tolist()], dtype=np.int64)


def assemble(job: Job, coding: Coding, *partitions: Partition) -> Shard:
    """The rows of some partitions, for the worker where they lie: nothing is copied."""
    rows = [partition.X for partition in partitions]
    if coding.classes is None:
        codes = np.zeros(sum(X.shape[0] for X in rows), dtype=np.int64)
        targets = np.concatenate([partition.y for partition in partitions]).astype(np.float64, copy=False)
    else:
        codes = np.concatenate([rank_codes(partition.y, coding.classes) for partition in partitions])
        targets = None
    return Shard(
        rows,
        SampleColumns(
            labels=coding.rows[codes],
            norms=np.concatenate([squared_norms(RowsInMemory(X), 1) for X in rows]),
            n_features=job.n_features,
            weight=weights_or_none(_joined_weights(partitions) * coding.weights[codes]),
            targets=targets,
        ),
    )


def _joined_weights(partitions: Sequence[Partition]) -> Floats:
    given = ((len(part.y), part.weight) for part in partitions)
    return np.concatenate([np.ones(n_rows) if weight is None else weight for n_rows, weight in given])


def size(shard: Shard, job: Job) -> ShardSize:
    samples = shard.samples
    norms = float(np.sum(samples.norms, dtype=np.float64))
    return ShardSize(shard.n_samples, norms, reach_of(job.table, samples.labels, samples.weight))


def zeros(shard: Shard, job: Job) -> NDArray[np.float32]:
    """Where training begins."""
    return np.zeros((shard.n_samples, job.table.n_columns), dtype=np.float32)
