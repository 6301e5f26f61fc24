"""What every column adds to the score of a sample: contributions that add up to score − baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from ordsvm._typing import Floats, Ints, RandomState, Samples
from ordsvm.checks import check_count, shortened
from ordsvm.estimators.validation import check_seed
from ordsvm.inspection.rows import row_count, rows_of, taken
from ordsvm.inspection.score import KernelSum, Score, score_model
from ordsvm.inspection.shapley import (
    ENUMERATED,
    Values,
    coalition_values,
    enumerated_values,
    is_product,
    mixed_rows,
    product_values,
    sampled_values,
)
from ordsvm.kernels import Precomputed

MOST_GROUPS = 500  # that orders are sampled of
ADDITIVE = 1e-5  # by which a formula may differ from the score, as a share of the scores, before it is given up


@dataclass(frozen=True, eq=False)
class Contributions:
    """What every feature or column adds to the score of samples.

    Parameters
    ----------
    names : list of str
        The features of a linear machine; of others the columns, or the groups of them.
    values : ndarray of shape (n_samples, n_names)
        Contributions: those of a sample add up to its score minus the baseline.
    errors : ndarray of shape (n_samples, n_names)
        Half-widths of 95 % intervals; 0 where the contributions are exact.
    baseline : float
        The mean score of the background.
    score : ndarray of shape (n_samples,)
        The scores.
    method : {"linear", "product", "enumeration", "sampling"}
        How they were computed; all but sampling are exact.
    """

    names: list[str]
    values: Floats
    errors: Floats
    baseline: float
    score: Floats
    method: str

    def largest(self, row: int = 0, n: int = 10) -> list[tuple[str, float, float]]:
        """Return the largest contributions to the score of a sample.

        Parameters
        ----------
        row : int, default=0
            The number of the sample.
        n : int, default=10
            How many, at most; those that are 0 are left out.

        Returns
        -------
        list of (str, float, float)
            Names, contributions and half-widths of their intervals, the largest by absolute value first.
        """
        order = np.argsort(-np.abs(self.values[row]), kind="stable")[:n]
        return [
            (self.names[i], float(self.values[row, i]), float(self.errors[row, i]))
            for i in order
            if self.values[row, i] != 0
        ]


class _Game(NamedTuple):
    """Rows whose columns are players' or parts of them: samples, background, and the score of such rows."""

    samples: Any
    background: Any
    names: list[str]
    groups: list[Ints]
    score: Callable[[Any], Floats]
    of_features: bool


class _Draws(NamedTuple):
    """How many pairs of orders are sampled, and by which random numbers."""

    n_pairs: int
    random: np.random.RandomState


def contributions(
    model: BaseEstimator,
    X: Samples,
    background: Samples,
    *,
    groups: Mapping[str, Sequence[int | str]] | None = None,
    n_permutations: int = 100,
    random_state: RandomState = 0,
) -> Contributions:
    """Return what every column adds to the score of samples, against a background.

    Parameters
    ----------
    model : estimator
        A fitted machine with one score a sample (that of `NPSVOR` is the mean of the scores of all ranks), or a
        pipeline, search, calibrated model or `TableModel` that ends in one.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_columns)
        The samples to explain, as the model takes them.
    background : array-like, sparse matrix or DataFrame of shape (n_background, n_columns)
        The samples to compare with, such as a hundred of the training data: a column that is left out takes its values
        from them.
    groups : dict of str to list, default=None
        Columns that count as one, by name or number, under a name of their own; columns that are in no group are one
        each. For linear machines the columns are the features of the machine. None: every column by itself.
    n_permutations : int, default=100
        Orders of the columns that are drawn, where values are sampled: an even number of at least 10.
    random_state : int, RandomState or None, default=0
        Makes the draw reproducible.

    Returns
    -------
    Contributions
        Contributions, their errors and the baseline.

    Raises
    ------
    TypeError
        Where the model has no single score a sample.
    ValueError
        Where groups name columns that there are not, or too many columns would have to be sampled.

    See Also
    --------
    weights : The weights of a linear machine.
    explain : Contributions and similar cases of one sample.
    ContributionsDisplay : A chart of the contributions to one score.

    Notes
    -----
    Linear machines: weight × (value − mean of the background), exact, by feature (word). Other machines: Shapley values
    [1]_ of columns, with values of the columns that are left out from the background. They are exact for the Gaussian
    and the Laplacian kernel, by Owen's integral [2]_, also behind transformers that treat columns one by one, and up to
    10 groups by enumeration; otherwise orders of the columns are sampled in pairs, an order and its reverse, and
    `errors` are the half-widths of 95 % intervals. The sum is right in all cases.

    References
    ----------
    .. [1] S. Lundberg, S.-I. Lee, "A unified approach to interpreting model predictions", NeurIPS 2017.
    .. [2] G. Owen, "Multilinear extensions of games", Management Science 18, 1972.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.inspection import contributions
    >>> X, y = load_diabetes_ranks(3)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = SVOR(gamma=0.05).fit(X, y)
    >>> found = contributions(model, X[:2], background=X[::10])
    >>> found.method, found.values.shape
    ('product', (2, 10))
    >>> bool(abs(found.values.sum(axis=1) - (found.score - found.baseline)).max() < 1e-9)
    True
    """
    check_count("n_permutations", n_permutations, "orders", least=10)
    random = check_seed(random_state)
    score = score_model(model)
    X, background = rows_of(X, "X"), rows_of(background, "background")
    if not row_count(background):
        raise ValueError("background has no rows: give some samples to compare with.")
    scores, of_background = score(X), score(background)
    baseline = float(of_background.mean())
    found = _linear(score, X, background, groups, scores - baseline)
    if found is None:
        game = _game(score, X, background, groups)
        kernel_sum = score.kernel_sum() if game.of_features else None
        found = _shapley(game, kernel_sum, scores - baseline, _Draws((n_permutations + 1) // 2, random))
    names, values, errors, method = found
    return Contributions(names, values, errors, baseline, scores, method)


def _linear(score: Score, X: Any, background: Any, groups: Any, total: Floats) -> Any:
    """weight × (value − mean), where that is the score."""
    weight = score.weights()
    if weight is None:
        return None
    features, others = _plain(score.features(X)), _plain(score.features(background))
    mean = np.asarray(others.mean(axis=0, dtype=np.float64)).ravel()
    dense = features.toarray() if sp.issparse(features) else features
    values = weight * (dense.astype(np.float64) - mean)
    if not _adds_up(values, total):
        return None
    names, members = _grouped(score.names, groups)
    if groups is not None:
        values = np.column_stack([values[:, group].sum(axis=1) for group in members])
    return names, values, np.zeros_like(values), "linear"


def _shapley(game: _Game, kernel_sum: KernelSum | None, total: Floats, draws: _Draws) -> Any:
    if kernel_sum is not None and is_product(kernel_sum.kernel):
        phi = product_values(game.samples, game.background, game.groups, kernel_sum)
        if _adds_up(phi, total):
            return game.names, phi, np.zeros_like(phi), "product"
    n_groups = len(game.groups)
    if n_groups > MOST_GROUPS:
        raise ValueError(
            f"There are {n_groups} columns, too many to sample orders of: give groups, or use a linear machine or a "
            "Gaussian kernel."
        )
    values: list[Values] = []
    for row in range(row_count(game.samples)):
        v = coalition_values(game.score, taken(game.samples, [row]), game.background, game.groups)
        exact = n_groups <= ENUMERATED
        values.append(enumerated_values(v, n_groups) if exact else sampled_values(v, n_groups, *draws))
    phi, error = (np.array([each[part] for each in values]).reshape(len(values), n_groups) for part in (0, 1))
    return game.names, phi, error, "enumeration" if n_groups <= ENUMERATED else "sampling"


def _game(score: Score, X: Any, background: Any, groups: Any) -> _Game:
    """In features where every column makes its own, which is faster; otherwise in the columns of X."""
    if isinstance(getattr(score.machine, "kernel_", None), Precomputed):
        raise TypeError("A precomputed kernel has no columns to explain: train with a kernel of the features.")
    if len(X.shape) == 1:
        raise TypeError(
            "Texts are explained by word for linear machines only: use one, or give the features of a text."
        )
    if score.columns is not None:
        names, members = _grouped(list(score.columns), groups)
        starts = list(score.columns.values())
        parts = [np.concatenate([starts[column] for column in group]) for group in members]
        return _Game(score.features(X), score.features(background), names, parts, score.of_features, True)
    columnwise = score.is_direct or _is_columnwise(score, X, background)
    names, members = _grouped(_column_names(X, score.names if columnwise else []), groups)
    if columnwise:
        features = _plain(score.features(X)), _plain(score.features(background))
        return _Game(*features, names, members, score.of_features, True)
    return _Game(X, background, names, members, score, False)


def _is_columnwise(score: Score, X: Any, background: Any) -> bool:
    """Whether another value in a column changes the feature of the same number alone, tried for every column."""
    n_columns = X.shape[1]
    if sp.issparse(X) or not row_count(X) or n_columns != score.machine.n_features_in_:
        return False
    sample, other = taken(X, [0]), _unlike(taken(X, [0]), X, background)
    one_each = np.eye(n_columns, dtype=bool)
    found = _plain(score.features(mixed_rows(sample, other, one_each)))
    expected = np.where(one_each, _plain(score.features(sample)), _plain(score.features(other)))
    floor = 1e-12 * np.abs(expected).max(axis=0, initial=0.0)  # of every feature by its own scale
    return not sp.issparse(found) and np.allclose(found, expected, rtol=1e-12, atol=floor)


def _unlike(sample: Any, X: Any, background: Any) -> Any:
    """A row that differs from the sample in every column that is not the same in all rows."""
    unlike, is_same = sample, np.ones(sample.shape[1], dtype=bool)
    for rows in (background, X):
        for number in range(row_count(rows)):
            other = taken(rows, [number])
            new = is_same & (np.asarray(other, dtype=object) != np.asarray(sample, dtype=object)).ravel()
            if new.any():
                unlike, is_same = mixed_rows(other, unlike, new[np.newaxis]), is_same & ~new
            if not is_same.any():
                return unlike
    return unlike


def _single(n_columns: int) -> Ints:
    return np.arange(n_columns)[:, np.newaxis]


def _plain(features: Any) -> Any:
    return features if sp.issparse(features) else np.asarray(features)


def _column_names(X: Any, names: Sequence[str]) -> Sequence[str]:
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    return names if len(names) == X.shape[1] else [f"x{number}" for number in range(X.shape[1])]


def _grouped(names: Sequence[str], groups: Any) -> tuple[list[str], list[Ints]]:
    """Names of the groups, and the numbers of the columns in each."""
    if groups is None:
        return list(names), list(_single(len(names)))
    if not isinstance(groups, Mapping):
        raise TypeError(f"groups={shortened(groups)} is not valid: give a dict of names to lists of columns.")
    place = {name: number for number, name in enumerate(names)}
    found: dict[str, Ints] = {}
    for name, members in groups.items():
        numbers = [place.get(member, member) if isinstance(member, str) else member for member in members]
        wrong = [n for n in numbers if isinstance(n, str | bool) or not 0 <= int(n) < len(names)]
        if wrong or not numbers:
            raise ValueError(f"groups: {name!r} names the column {shortened(wrong or members)}, which there is not.")
        found[str(name)] = np.array(numbers, dtype=np.int64)
    used = np.concatenate([np.empty(0, dtype=np.int64), *found.values()])
    if len(np.unique(used)) < len(used):
        raise ValueError("groups: a column is in two groups, or twice in one: give every column once.")
    rest = {names[number]: np.array([number]) for number in np.setdiff1d(np.arange(len(names)), used).tolist()}
    return [*found, *rest], [*found.values(), *rest.values()]


def _adds_up(values: Floats, total: Floats) -> bool:
    scale = np.abs(values).sum(axis=1) + np.abs(total)
    return bool(np.all(np.abs(values.sum(axis=1) - total) <= ADDITIVE * scale))
