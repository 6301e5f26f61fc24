"""Ordinal data from regression data: the target cut into ranks, as the papers do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.datasets import load_diabetes

from ordsvm._typing import Floats, Ints


def equal_frequency_ranks(target: ArrayLike, n_ranks: int) -> Ints:
    """Ranks 0..n_ranks − 1 with as many samples in each as can be; equal targets may fall into neighbouring ranks."""
    position = np.argsort(np.argsort(target, kind="stable"), kind="stable")
    return position * n_ranks // len(position)


def load_diabetes_ranks(n_ranks: int = 5) -> tuple[Floats, Ints]:
    """The diabetes data that scikit-learn ships: 442 patients, 10 measurements, progression after a year in ranks."""
    X, target = load_diabetes(return_X_y=True, scaled=False)
    return X, equal_frequency_ranks(target, n_ranks)
