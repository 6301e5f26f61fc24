"""One prediction explained: label, score and thresholds, contributions, and similar cases on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ordsvm._typing import Floats, RandomState, Samples
from ordsvm.inspection.cases import SimilarCases, similar_cases
from ordsvm.inspection.contributions import Contributions, contributions
from ordsvm.inspection.rows import row_count, rows_of
from ordsvm.inspection.score import score_model


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a sample got its label.

    Parameters
    ----------
    prediction : object
        The predicted label.
    score : float
        The score.
    thresholds : ndarray of shape (n_classes - 1,) or None
        The scores at which the predicted label changes: the machine's thresholds, or of a calibrated model those at
        which the middle of its distribution changes, infinite for a rank that no score is predicted as. None where
        there are none.
    contributions : Contributions
        What every column, or feature of a linear machine, adds to the score.
    cases : SimilarCases or None
        Support vectors that pull the score up and down; None where the machine keeps none.
    """

    prediction: Any
    score: float
    thresholds: Floats | None
    contributions: Contributions
    cases: SimilarCases | None


def explain(
    model: BaseEstimator, x: Samples, background: Samples, *, n_cases: int = 3, random_state: RandomState = 0
) -> Explanation:
    """Explain the prediction of one sample.

    Parameters
    ----------
    model : estimator
        A fitted classifier with one score a sample, or a pipeline, search, calibrated model or `TableModel` that ends
        in one.
    x : array-like, sparse matrix or DataFrame of shape (1, n_columns)
        The sample, as the model takes it.
    background : array-like, sparse matrix or DataFrame of shape (n_background, n_columns)
        Samples to compare with.
    n_cases : int, default=3
        Similar cases on each side, at most.
    random_state : int, RandomState or None, default=0
        Makes contributions that have to be sampled reproducible.

    Returns
    -------
    Explanation
        Label, score, thresholds, contributions and cases.

    See Also
    --------
    contributions : The contributions alone, of many samples.
    similar_cases : The cases alone.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.inspection import explain
    >>> X, y = load_diabetes_ranks(3)
    >>> X = StandardScaler().fit_transform(X)
    >>> why = explain(SVOR(gamma=0.05).fit(X, y), X[3:4], X[::10])
    >>> why.prediction, why.contributions.largest(n=1)[0][0]
    (1, 'x3')
    """
    rows = rows_of(x, "x")
    if row_count(rows) != 1:
        raise ValueError(f"x has {row_count(rows)} rows: give the one to explain, such as X[:1].")
    score = score_model(model)
    found = contributions(model, rows, background, random_state=random_state)
    cases = None if score.kernel_sum() is None else similar_cases(model, rows, n=n_cases)
    prediction = np.asarray(model.predict(rows)).tolist()[0]
    return Explanation(prediction, float(found.score[0]), score.cuts, found, cases)
