"""Scores by rank: what the machine sees of each rank, and where it cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Floats, Ints, Samples
from ordsvm.plotting.display import Display, machine_of, rank_colours
from ordsvm.problem.labels import label_array, rank_codes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class ScoresDisplay(Display):
    """Scores by true rank, with the thresholds that cut them.

    Parameters
    ----------
    score : ndarray of shape (n_samples,)
        The score of every sample.
    codes : ndarray of shape (n_samples,)
        Their true ranks, 0 for the lowest.
    thresholds : ndarray of shape (n_classes - 1,)
        The thresholds of the model.
    classes : ndarray of shape (n_classes,)
        The labels, lowest first.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    OrdinalConfusionDisplay : True and predicted ranks.

    Examples
    --------
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> from ordsvm.plotting import ScoresDisplay
    >>> X, y = load_diabetes_ranks(3)
    >>> display = ScoresDisplay.from_estimator(SVOR(C=10).fit(X[:50], y[:50]), X[:50], y[:50])
    >>> display.thresholds.shape
    (2,)
    """

    score: Floats
    codes: Ints
    thresholds: Floats
    classes: NDArray[Any]

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, X: Samples, y: ArrayLike, *, ax: Axes | None = None) -> Self:
        """Draw the scores that a fitted threshold model gives to X, by the labels y.

        Parameters
        ----------
        estimator : estimator
            A fitted threshold model, or a pipeline or search that ends in one.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their true labels.
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.

        Returns
        -------
        ScoresDisplay
            The display.
        """
        check_is_fitted(estimator)
        machine = machine_of(estimator)
        if not hasattr(machine, "thresholds_"):
            raise TypeError(
                f"ScoresDisplay draws a score and thresholds, which {type(machine).__name__} lacks: use a threshold "
                "model such as SVOR."
            )
        codes = rank_codes(label_array(y), estimator.classes_)
        score = estimator.decision_function(X)
        check_consistent_length(score, codes)
        return cls(score, codes, machine.thresholds_, estimator.classes_).plot(ax)

    def plot(self, ax: Axes | None = None, *, seed: int = 0) -> Self:
        """Draw a row of points and a box, which holds the middle half, for every true rank.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None: those of a new figure.
        seed : int, default=0
            Seed of the heights of the points, which are spread at random over their row.

        Returns
        -------
        ScoresDisplay
            The display.
        """
        axes = self._axes(ax)
        height = np.random.default_rng(seed).uniform(-0.32, 0.32, len(self.codes))
        size = float(np.clip(4000 / len(self.codes), 2, 18))
        for rank, colour in enumerate(rank_colours(len(self.classes))):
            own = self.codes == rank
            opacity = float(np.clip(250 / max(own.sum(), 1), 0.1, 0.6))  # where many points cover each other
            axes.scatter(self.score[own], rank + height[own], s=size, color=colour, alpha=opacity, linewidths=0)
            if own.any():
                box = axes.boxplot(self.score[own], positions=[rank], widths=0.72, orientation="horizontal", sym="")
                for line in (line for lines in box.values() for line in lines):
                    line.set_color("0.25")
        for threshold in self.thresholds:
            axes.axvline(threshold, color="#d55e00", linewidth=1.2, linestyle="--")
        axes.set_yticks(range(len(self.classes)), [str(label) for label in self.classes])
        axes.set(xlabel="score (dashed: thresholds)", ylabel="true rank")
        return self
