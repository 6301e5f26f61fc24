"""The weights of a linear machine by the names of its features: words, columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from ordsvm._typing import Floats
from ordsvm.inspection.score import score_model


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the features of a linear machine, by name.

    Parameters
    ----------
    names : list of str
        The features.
    values : ndarray of shape (n_features,)
        Their weights: a positive one raises the score, and with it the rank.
    """

    names: list[str]
    values: Floats

    def rising(self, n: int = 10) -> list[tuple[str, float]]:
        """Return the features that raise the rank most.

        Parameters
        ----------
        n : int, default=10
            How many, at most.

        Returns
        -------
        list of (str, float)
            Names and weights, the largest first.
        """
        order = np.argsort(-self.values, kind="stable")[:n]
        return [(self.names[i], float(self.values[i])) for i in order if self.values[i] > 0]

    def falling(self, n: int = 10) -> list[tuple[str, float]]:
        """Return the features that lower the rank most.

        Parameters
        ----------
        n : int, default=10
            How many, at most.

        Returns
        -------
        list of (str, float)
            Names and weights, the most negative first.
        """
        order = np.argsort(self.values, kind="stable")[:n]
        return [(self.names[i], float(self.values[i])) for i in order if self.values[i] < 0]


def weights(model: BaseEstimator) -> Weights:
    """Return the weights of a linear machine by the names of its features.

    Parameters
    ----------
    model : estimator
        A fitted linear machine or machine with a linear kernel; or a pipeline, search, calibrated model or `TableModel`
        that ends in one.

    Returns
    -------
    Weights
        Names and weights. Of `LinearNPSVOR` and `NPSVOR`, the means of the weights of all ranks.

    Raises
    ------
    TypeError
        Where the machine has no weights of features.

    See Also
    --------
    contributions : What every feature adds to the score of a sample.
    WeightsDisplay : A chart of the weights.

    Notes
    -----
    Weights can be compared where features have the same scale. Names come from the last transformer before the machine
    or from the data frame that it was trained on; without either, features are called x0, x1, …

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from ordsvm import LinearSVOR
    >>> from ordsvm.inspection import weights
    >>> reviews = ["dirty room", "dirty and loud", "clean room", "clean and quiet"]
    >>> model = make_pipeline(TfidfVectorizer(), LinearSVOR(C=10)).fit(reviews, [1, 1, 2, 2])
    >>> found = weights(model)
    >>> found.rising(1)[0][0], found.falling(1)[0][0]
    ('clean', 'dirty')
    """
    score = score_model(model)
    values = score.weights()
    if values is None:
        raise TypeError(
            f"{type(score.machine).__name__} has no weights of features: use contributions, importance or dependence, "
            "which explain every machine."
        )
    return Weights(list(score.names), values)
