"""Cases like this one: the support vectors that pull the score of a sample up, and those that pull it down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ordsvm._typing import Floats, Samples
from ordsvm.checks import check_choice, check_count
from ordsvm.inspection.rows import row_count, rows_of
from ordsvm.inspection.score import score_model
from ordsvm.kernels import Precomputed


@dataclass(frozen=True)
class Case:
    """A support vector beside a sample.

    Parameters
    ----------
    vector : int
        Its number among `support_vectors_`, or `landmarks_` of a Nyström machine.
    sample : int or None
        Its number among the training samples; None where the machine does not keep it.
    weight : float
        Its weight in the score.
    similarity : float
        The kernel between it and the sample.
    contribution : float
        What it adds to the score, weight × similarity.
    """

    vector: int
    sample: int | None
    weight: float
    similarity: float
    contribution: float


@dataclass(frozen=True)
class SimilarCases:
    """Support vectors beside a sample, on both sides.

    Parameters
    ----------
    up : list of Case
        Those that pull the score up, the strongest or the most similar first.
    down : list of Case
        Those that pull it down.
    """

    up: list[Case]
    down: list[Case]


def similar_cases(model: BaseEstimator, x: Samples, *, n: int = 3, by: str = "contribution") -> SimilarCases:
    """Return the support vectors that pull the score of a sample up and down.

    Parameters
    ----------
    model : estimator
        A fitted machine with support vectors or landmarks, or a pipeline, search, calibrated model or `TableModel` that
        ends in one.
    x : array-like, sparse matrix or DataFrame of shape (1, n_columns)
        The sample, as the model takes it.
    n : int, default=3
        How many on each side, at most.
    by : {"contribution", "similarity"}, default="contribution"
        Order by weight × kernel, the share in the score, or by the kernel alone.

    Returns
    -------
    SimilarCases
        Cases on both sides.

    Raises
    ------
    TypeError
        Where the machine keeps no support vectors, as linear machines do not.

    See Also
    --------
    contributions : What every column adds to the score.

    Notes
    -----
    A support vector of positive weight is a training sample that is above a threshold and near or beyond its margin: a
    sample like it gets a higher score. Samples well inside their rank have no weight and are no support vectors.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.inspection import similar_cases
    >>> X, y = load_diabetes_ranks(3)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = SVOR(gamma=0.05).fit(X, y)
    >>> cases = similar_cases(model, X[:1], n=2)
    >>> [case.contribution > 0 for case in cases.up], [case.contribution < 0 for case in cases.down]
    ([True, True], [True, True])
    """
    check_count("n", n, "cases")
    check_choice("by", by, ["contribution", "similarity"])
    score = score_model(model)
    found = score.kernel_sum()
    if found is None:
        name = type(score.machine).__name__
        raise TypeError(f"{name} keeps no support vectors, or no single score: use an ordinal machine with a kernel.")
    features = score.features(rows_of(x, "x"))
    if row_count(features) != 1:
        raise ValueError(f"x has {row_count(features)} rows: give the one to explain.")
    support = getattr(getattr(score.machine, "regressor_", score.machine), "support_", None)
    if isinstance(found.kernel, Precomputed):
        assert support is not None
        similarity = np.asarray(features, dtype=np.float64)[0, support]
    else:
        similarity = np.asarray(found.kernel(features, found.vectors))[0]
    contribution = found.weight * similarity
    order = np.argsort(-(np.abs(contribution) if by == "contribution" else similarity), kind="stable")
    sides = (order[contribution[order] > 0][:n], order[contribution[order] < 0][:n])
    up, down = ([_case(i, support, found.weight, similarity) for i in side.tolist()] for side in sides)
    return SimilarCases(up, down)


def _case(vector: int, support: Any, weight: Floats, similarity: Floats) -> Case:
    sample = None if support is None else int(support[vector])
    one, other = float(weight[vector]), float(similarity[vector])
    return Case(vector, sample, one, other, one * other)
