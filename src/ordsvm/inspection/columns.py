"""What columns do over many samples: the score along one, and what it costs to lose one. Both by scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.inspection import partial_dependence, permutation_importance

from ordsvm._typing import Floats, RandomState, Samples
from ordsvm.checks import check_choice, check_count, shortened
from ordsvm.inspection.rows import dense_rows_of
from ordsvm.inspection.score import score_model
from ordsvm.metrics import PROBABILITY_SCORERS, SCORERS


class ScoreRegressor(RegressorMixin, BaseEstimator):
    """The score of a fitted ordinal model as a regressor, for scikit-learn's tools that need one.

    `PartialDependenceDisplay` and `partial_dependence` refuse classifiers of three classes and more with one score a
    sample. With this around the model they work.

    Parameters
    ----------
    model : estimator
        A fitted machine with one score a sample, or a pipeline, search, calibrated model or `TableModel` that ends in
        one.

    See Also
    --------
    dependence : Partial dependence of the score as numbers.
    sklearn.inspection.PartialDependenceDisplay : Charts of partial dependence.

    Examples
    --------
    >>> from sklearn.inspection import PartialDependenceDisplay
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.inspection import ScoreRegressor
    >>> X, y = load_diabetes_ranks(3)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = SVOR(gamma=0.05).fit(X, y)
    >>> display = PartialDependenceDisplay.from_estimator(ScoreRegressor(model), X, [2], grid_resolution=5)
    >>> display.pd_results[0]["average"].shape
    (1, 5)
    """

    def __init__(self, model: BaseEstimator) -> None:
        self.model = model

    def fit(self, X: Samples | None = None, y: ArrayLike | None = None) -> Self:
        """Do nothing: the model is fitted already.

        Parameters
        ----------
        X : object, default=None
            Ignored.
        y : object, default=None
            Ignored.

        Returns
        -------
        ScoreRegressor
            The regressor.
        """
        score_model(self.model)
        return self

    def predict(self, X: Samples) -> Floats:
        """Compute the score of every sample.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_columns)
            The samples, as the model takes them.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores.
        """
        return score_model(self.model)(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def n_features_in_(self) -> int:
        """Number of columns that the model takes."""
        return int(self.model.n_features_in_)


@dataclass(frozen=True, eq=False)
class Dependence:
    """The mean score along the values of a column, the other columns as they are.

    Parameters
    ----------
    name : str
        The column.
    grid : ndarray of shape (n_values,)
        Its values.
    mean : ndarray of shape (n_values,)
        The mean score where all samples have this value.
    scores : ndarray of shape (n_samples, n_values)
        The scores of the samples.
    """

    name: str
    grid: NDArray[Any]
    mean: Floats
    scores: Floats


def dependence(model: BaseEstimator, X: Samples, column: int | str, *, grid_resolution: int = 20) -> Dependence:
    """Return the partial dependence of the score on a column, by scikit-learn's `partial_dependence`.

    Parameters
    ----------
    model : estimator
        A fitted machine with one score a sample, or a pipeline, search, calibrated model or `TableModel` that ends in
        one.
    X : array-like or DataFrame of shape (n_samples, n_columns)
        Samples, as the model takes them; those without a value in the column are left out.
    column : int or str
        The number or the name of the column. One that holds no numbers gets all of its values.
    grid_resolution : int, default=20
        How many values between the quantiles of 5 and 95 %.

    Returns
    -------
    Dependence
        Values of the column, mean scores and the scores of every sample.

    See Also
    --------
    ScoreRegressor : The score for scikit-learn's `PartialDependenceDisplay`.
    importance : What it costs to lose a column.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.inspection import dependence
    >>> X, y = load_diabetes_ranks(3)
    >>> X = StandardScaler().fit_transform(X)
    >>> body_mass = dependence(SVOR(gamma=0.05).fit(X, y), X, 2)
    >>> bool(body_mass.mean[-1] > body_mass.mean[0])
    True
    """
    check_count("grid_resolution", grid_resolution, "values", least=2)
    rows = dense_rows_of(X)
    names = [str(name) for name in rows.columns] if hasattr(rows, "columns") else None
    categorical = None
    if names is not None:
        place = names.index(str(column)) if not isinstance(column, int) and str(column) in names else column
        if not isinstance(place, int) or not 0 <= place < len(names):
            raise ValueError(f"column={shortened(column)} is none of X: give one of {', '.join(names[:20])}.")
        rows = rows[rows.iloc[:, place].notna()]
        column = place
        categorical = [place] if rows.dtypes.iloc[place].kind not in "iuf" else None
        if categorical is None and rows.dtypes.iloc[place].kind in "iu":
            rows = rows.astype({rows.columns[place]: np.float64})  # the grid may have values between
    elif not isinstance(column, int | np.integer) or not 0 <= column < rows.shape[1]:
        raise ValueError(f"column={shortened(column)} is not valid: give a number below {rows.shape[1]}.")
    regressor = ScoreRegressor(model)
    options = {"grid_resolution": grid_resolution, "categorical_features": categorical, "kind": "both"}
    found = partial_dependence(regressor, rows, [column], **options)
    name = names[column] if names is not None else f"x{column}"
    return Dependence(name, found["grid_values"][0], found["average"][0], found["individual"][0])


@dataclass(frozen=True, eq=False)
class Importance:
    """What it costs to lose a column: how much worse a metric is when its values are permuted.

    Parameters
    ----------
    names : list of str
        The columns.
    values : ndarray of shape (n_columns, n_repeats)
        How much worse the metric is, by column and permutation.
    metric : str
        The metric.
    """

    names: list[str]
    values: Floats
    metric: str

    @property
    def mean(self) -> Floats:
        """The mean over the permutations, by column."""
        return self.values.mean(axis=1)

    def largest(self, n: int = 10) -> list[tuple[str, float, float]]:
        """Return the columns that matter most.

        Parameters
        ----------
        n : int, default=10
            How many, at most.

        Returns
        -------
        list of (str, float, float)
            Names, means and standard deviations over the permutations, the largest first.
        """
        order = np.argsort(-self.mean, kind="stable")[:n]
        return [(self.names[i], float(self.mean[i]), float(self.values[i].std())) for i in order]


def importance(
    model: BaseEstimator,
    X: Samples,
    y: ArrayLike,
    *,
    metric: str = "mae",
    n_repeats: int = 10,
    random_state: RandomState = 0,
) -> Importance:
    """Return how much worse predictions are without a column, by scikit-learn's `permutation_importance`.

    Parameters
    ----------
    model : estimator
        A fitted classifier.
    X : array-like or DataFrame of shape (n_samples, n_columns)
        Samples, best of some that the model was not trained on.
    y : array-like of shape (n_samples,)
        Their labels.
    metric : str, default="mae"
        A metric of `ordsvm.metrics` by the name of its scorer. "mae" counts ranks: how much further off predictions
        are.
    n_repeats : int, default=10
        Permutations of every column.
    random_state : int, RandomState or None, default=0
        Makes the permutations reproducible.

    Returns
    -------
    Importance
        How much worse the metric is, by column.

    See Also
    --------
    dependence : The score along a column.
    sklearn.inspection.permutation_importance : The same with any scorer.

    Notes
    -----
    Of columns that say the same, each alone costs little to lose.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.inspection import importance
    >>> X, y = load_diabetes_ranks(3)
    >>> X = StandardScaler().fit_transform(X)
    >>> found = importance(SVOR(gamma=0.05).fit(X[:300], y[:300]), X[300:], y[300:], n_repeats=5)
    >>> sorted(name for name, *_ in found.largest(2))
    ['x2', 'x8']
    """
    scorers = SCORERS | PROBABILITY_SCORERS
    check_choice("metric", metric, scorers)
    check_count("n_repeats", n_repeats, "permutations")
    rows = dense_rows_of(X)
    found = permutation_importance(
        model, rows, y, scoring=scorers[metric], n_repeats=n_repeats, random_state=random_state
    )
    names = [str(name) for name in rows.columns] if hasattr(rows, "columns") else None
    shown = names or [f"x{number}" for number in range(rows.shape[1])]
    return Importance(shown, np.asarray(found.importances), metric)
