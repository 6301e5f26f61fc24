"""Ordinal data from regression data: the target cut into ranks, as the papers do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.datasets import load_diabetes

from ordsvm._typing import Floats, Ints

__all__ = ["equal_frequency_ranks", "load_diabetes_ranks"]


def equal_frequency_ranks(target: ArrayLike, n_ranks: int) -> Ints:
    """Cut a target into ranks with as equal numbers of samples as possible.

    Equal targets may fall into neighbouring ranks.

    Parameters
    ----------
    target : array-like of shape (n_samples,)
        The target of a regression.
    n_ranks : int
        The number of ranks.

    Returns
    -------
    ndarray of shape (n_samples,)
        Ranks 0, ..., n_ranks − 1 as int64.

    See Also
    --------
    load_diabetes_ranks : Data with a target that was cut so.

    Notes
    -----
    The papers make ordinal data of regression data in this way.

    References
    ----------
    .. [1] W. Chu, S. S. Keerthi, "Support vector ordinal regression", Neural Computation 19, 2007.

    Examples
    --------
    >>> from ordsvm.datasets import equal_frequency_ranks
    >>> equal_frequency_ranks([0.5, 10.0, 2.0, 7.0], n_ranks=2)
    array([0, 1, 0, 1])
    """
    position = np.argsort(np.argsort(target, kind="stable"), kind="stable")
    return position * n_ranks // len(position)


def load_diabetes_ranks(n_ranks: int = 5) -> tuple[Floats, Ints]:
    """Load the diabetes data that scikit-learn ships, with the progression after a year in ranks.

    Parameters
    ----------
    n_ranks : int, default=5
        The number of ranks.

    Returns
    -------
    X : ndarray of shape (442, 10)
        Measurements of the patients, not scaled.
    y : ndarray of shape (442,)
        Ranks 0, ..., n_ranks − 1 of the progression.

    See Also
    --------
    equal_frequency_ranks : Cuts other targets in the same way.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(5)
    >>> X.shape, np.bincount(y)
    ((442, 10), array([89, 88, 89, 88, 88]))
    """
    X, target = load_diabetes(return_X_y=True, scaled=False)
    return X, equal_frequency_ranks(target, n_ranks)
